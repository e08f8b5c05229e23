"""Reading a mapping file (TOML), with an error in words for every invalid key."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from data_adapters.choice.mapping import ChoiceMapping
from models.records.errors import UsageError
from models.records.settings_errors import explain

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
    try:
        mapping = ChoiceMapping.model_validate(settings)
    except ValidationError as error:
        lines = [f"{path}: this mapping is not valid.", *explain(ChoiceMapping, error.errors())]
        raise UsageError("\n".join(lines)) from error
    return MappingFile(path.name, hashlib.sha256(content).hexdigest(), mapping)


def shipped_mapping(name: str) -> MappingFile:
    """One of the mappings in `mappings/`, by its name without .toml.

    >>> [attribute.name for attribute in shipped_mapping("conjoint").mapping.attributes][:2]
    ['rent', 'size']
    """
    return read_mapping(SHIPPED / f"{name}.toml")
