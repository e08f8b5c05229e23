"""A study's config from a TOML file, `--set key=value` and the command's own options; the later ones win."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from models.errors import UsageError
from models.explanation import explain
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
        lines = ["The study cannot be run with these settings.", *explain(kind, error.errors())]
        raise UsageError("\n".join(lines)) from error


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
