"""Configs of studies from a TOML file, `--set key=value` and the command's own options; the later ones win."""

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
    return _config(kind, _settings(file, assignments), options, subject="The study")


def read_configs(
    kinds: Mapping[str, type[StudyConfig]],
    *,
    file: Path | None,
    assignments: Sequence[str],
    options: Mapping[str, Any],
) -> dict[str, StudyConfig]:
    """Put the configs of several studies together: the options are for all, each setting is its study's.

    A file has a table a study, and an assignment is STUDY.KEY=VALUE. Raises UsageError as `read_config` does.
    """
    settings = _settings(file, assignments)
    for name, of_study in settings.items():
        if name not in kinds or not isinstance(of_study, dict):
            raise UsageError(
                f"{name}: there is no such study. With all, a setting is named after its study: sushi.users=100, or in "
                f"a file users = 100 under [sushi].\nStudies: {', '.join(kinds)}"
            )
        if "out" in of_study:
            raise UsageError(f"{name}.out: with all, every study writes to one folder: --out DIR")
    return {
        name: _config(kind, settings.get(name, {}), options, subject=f"The study {name}")
        for name, kind in kinds.items()
    }


def _settings(file: Path | None, assignments: Sequence[str]) -> dict[str, Any]:
    settings = _read_toml(file) if file is not None else {}
    for assignment in assignments:
        _assign(settings, assignment)
    return settings


def _config(
    kind: type[StudyConfig], settings: Mapping[str, Any], options: Mapping[str, Any], *, subject: str
) -> StudyConfig:
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return kind.model_validate({**settings, **given})
    except ValidationError as error:
        lines = [f"{subject} cannot be run with these settings.", *explain(kind, error.errors())]
        raise UsageError("\n".join(lines)) from error


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
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
