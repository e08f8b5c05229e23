"""Reading a mapping file (TOML), with an error in words for every invalid key."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from data_adapters.choice.mapping import ChoiceMapping
from data_adapters.source.spelling import quoted
from models.records.errors import UsageError
from models.records.plain_text import escaped, unprintable
from models.records.settings_errors import dotted, explain

SHIPPED = Path(__file__).parent / "mappings"


@dataclass(frozen=True)
class MappingFile:
    """A mapping with the name of its file and the sha256 of its bytes."""

    name: str
    sha256: str
    mapping: ChoiceMapping


def read_mapping(path: Path) -> MappingFile:
    """Read a mapping file. Raises UsageError naming every unknown or invalid key, with its description.

    >>> read_mapping(SHIPPED / "conjoint.toml").mapping.attributes[0].name
    'rent'
    """
    try:
        content = path.read_bytes()
        settings = tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: the mapping cannot be read ({(error.strerror or str(error)).lower()}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: this is not a TOML file ({error}).") from error
    _refuse_unprintable(path, (), settings)
    try:
        mapping = ChoiceMapping.model_validate(settings)
    except ValidationError as error:
        lines = [f"{path}: this mapping is not valid.", *explain(ChoiceMapping, error.errors())]
        raise UsageError("\n".join(lines)) from error
    return MappingFile(path.name, hashlib.sha256(content).hexdigest(), mapping)


def _refuse_unprintable(path: Path, key: tuple[int | str, ...], found: Any) -> None:
    """Raise UsageError for a key or a text with control characters; line breaks and tabs are none here."""
    if isinstance(found, dict):
        for name, value in found.items():
            _refuse_unprintable(path, key, name)
            _refuse_unprintable(path, (*key, name), value)
    elif isinstance(found, list):
        for position, value in enumerate(found):
            _refuse_unprintable(path, (*key, position), value)
    elif isinstance(found, str):
        bad = unprintable(found, allowed="\n\t")
        if bad is not None:
            where = escaped(dotted(key, whole="the whole"))
            raise UsageError(f"{path}: {where}: the text {quoted(found)} has the character {escaped(bad)}.")


def shipped_mapping(name: str) -> MappingFile:
    """One of the mappings in `mappings/`, by its name without .toml.

    >>> [attribute.name for attribute in shipped_mapping("conjoint").mapping.attributes][:2]
    ['rent', 'size']
    """
    return read_mapping(SHIPPED / f"{name}.toml")
