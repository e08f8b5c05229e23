"""A study's config from a TOML file, `--set key=value` and the command's own options; the later ones win."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from models.errors import UsageError
from tasks.study import StudyConfig


def read_config(
    kind: type[StudyConfig], *, file: Path | None, assignments: Sequence[str], options: Mapping[str, Any]
) -> StudyConfig:
    """Put a config together. Options that are None were not given.

    Raises UsageError naming every setting that is unknown or impossible, with its description.
    """
    settings = _read_toml(file) if file is not None else {}
    for assignment in assignments:
        _assign(settings, assignment)
    settings |= {name: value for name, value in options.items() if value is not None}
    try:
        return kind.model_validate(settings)
    except ValidationError as error:
        raise UsageError(_explain(kind, error.errors())) from error


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{file}: the config cannot be read ({(error.strerror or str(error)).lower()}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: this is not a TOML file ({error}).") from error


def _assign(settings: dict[str, Any], assignment: str) -> None:
    """Carry out one `a.b=value`. A value is read as TOML, and as a plain string where it is none."""
    path, equals, text = assignment.partition("=")
    *parents, key = path.strip().split(".")
    if not equals or not key or not all(parents):
        raise UsageError(f"--set {assignment}: expected key=value, for example --set test_share=0.3")
    for parent in parents:
        settings = settings.setdefault(parent, {})
        if not isinstance(settings, dict):
            raise UsageError(f"--set {assignment}: {parent} is a single value and has no parts.")
    try:
        settings[key] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        settings[key] = text


def _explain(kind: type[BaseModel], errors: Iterable[ErrorDetails]) -> str:
    lines = ["The study cannot be run with these settings."]
    for error in errors:
        name = ".".join(str(part) for part in error["loc"])
        if error["type"] == "extra_forbidden":
            known = _fields_beside(kind, error["loc"])
            close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            lines += [f"  {name}: there is no such setting.{hint}", f"    There are: {', '.join(known)}"]
        else:
            lines.append(f"  {name} = {error['input']}: {error['msg'][:1].lower()}{error['msg'][1:]}")
            field = _field(kind, error["loc"])
            if field is not None and field.description:
                lines.append(
                    f"    {name}: {field.description} (default: {field.get_default(call_default_factory=True)})"
                )
    return "\n".join(lines)


def _field(kind: type[BaseModel], location: Sequence[int | str]) -> FieldInfo | None:
    """The field a location leads to, or the last one on the way that has a name."""
    found: FieldInfo | None = None
    for part in location:
        if not (isinstance(part, str) and part in kind.model_fields):
            break
        found = kind.model_fields[part]
        if not (isinstance(found.annotation, type) and issubclass(found.annotation, BaseModel)):
            break
        kind = found.annotation
    return found


def _fields_beside(kind: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """The settings that exist where an unknown one was given."""
    parent = _field(kind, location[:-1])
    owner = parent.annotation if parent is not None else kind
    return list(owner.model_fields) if isinstance(owner, type) and issubclass(owner, BaseModel) else []
