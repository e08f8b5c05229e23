"""Reads the config of a study from a TOML file, `--set key=value` and options; later sources override earlier ones."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from models.records.errors import UsageError
from models.records.settings_errors import explain
from tasks.runs.study import RunConfig, StudyConfig

OF_DATA = set(StudyConfig.model_fields) - set(RunConfig.model_fields)
"""Options about data. With all, a study that reads none does without them."""
SHOWN = 10
"""Number of characters shown of a value that is too long to print."""


def read_config(
    kind: type[RunConfig], *, file: Path | None, assignments: Sequence[str], options: Mapping[str, Any]
) -> RunConfig:
    """Build the config of one study. An option of None was not given.

    Raises UsageError that lists every unknown or invalid setting with its description.
    """
    return _config(kind, _settings(file, assignments), options, subject="The study")


def read_configs(
    kinds: Mapping[str, type[RunConfig]],
    *,
    file: Path | None,
    assignments: Sequence[str],
    options: Mapping[str, Any],
) -> dict[str, RunConfig]:
    """Build the configs of several studies. Options apply to all of them, each setting to the study it names.

    A file has one table for each study; an assignment reads STUDY.KEY=VALUE. Raises UsageError like `read_config`.
    """
    settings = _settings(file, assignments)
    for name, of_study in settings.items():
        if name not in kinds or not isinstance(of_study, dict):
            raise UsageError(
                f"{name}: there is no such study. With all, a setting starts with the name of its study: "
                f"sushi.users=100, or in a file users = 100 under [sushi].\nStudies: {', '.join(kinds)}"
            )
        if "out" in of_study:
            raise UsageError(f"{name}.out: with all, every study writes to one folder: --out DIR")
    return {
        name: _config(kind, settings.get(name, {}), _own(kind, options), subject=f"The study {name}")
        for name, kind in kinds.items()
    }


def _own(kind: type[RunConfig], options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in OF_DATA or name in kind.model_fields}


def refuse_both(raw: Path | None, *, simulated: bool) -> None:
    """Raise UsageError if both --raw and --simulated are given."""
    if raw is not None and simulated:
        raise UsageError(f"--raw {raw}, --simulated: use raw files or simulate them, not both.")


def _settings(file: Path | None, assignments: Sequence[str]) -> dict[str, Any]:
    settings = read_toml(file) if file is not None else {}
    for assignment in assignments:
        _assign(settings, assignment)
    return settings


def _config(
    kind: type[RunConfig], settings: Mapping[str, Any], options: Mapping[str, Any], *, subject: str
) -> RunConfig:
    given = {name: value for name, value in options.items() if value is not None}
    try:
        config = kind.model_validate({**settings, **given})
        problems = list(booleans_for_numbers(settings, config.model_dump()))
    except ValidationError as error:
        problems = error.errors()
    if problems:
        raise UsageError("\n".join([f"{subject} cannot be run with these settings.", *explain(kind, problems)]))
    return config


def booleans_for_numbers(given: Any, read: Any, location: tuple[str | int, ...] = ()) -> Iterator[ErrorDetails]:
    """Errors for settings given as true or false where a number is expected; pydantic would take them for 1 and 0."""
    if isinstance(given, Mapping):
        for name, value in given.items():
            yield from booleans_for_numbers(value, read[name], (*location, name))
    elif isinstance(given, list):
        for at, (value, value_read) in enumerate(zip(given, read, strict=False)):
            yield from booleans_for_numbers(value, value_read, (*location, at))
    elif isinstance(given, bool) and not isinstance(read, bool):
        yield {"type": "number", "loc": location, "msg": "Input should be a number", "input": str(given).lower()}


def read_toml(file: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises UsageError for a file that cannot be read."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{file}: the config cannot be read ({(error.strerror or str(error)).lower()}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{file}: this is not a TOML file ({error}).") from error


def _assign(settings: dict[str, Any], assignment: str) -> None:
    """Apply one `a.b=value`. The value is read as TOML, or as a plain string if it is not TOML."""
    path, equals, text = assignment.partition("=")
    *parents, key = path.strip().split(".")
    if not equals or not key or not all(parents):
        raise UsageError(f"--set {assignment}: expected key=value, for example --set test_share=0.3")
    for parent in parents:
        settings = settings.setdefault(parent, {})
        if not isinstance(settings, dict):
            raise UsageError(f"--set {assignment}: {parent} is a single value and has no parts.")
    if len(text.splitlines()) > 1:
        raise UsageError(f"--set {path}: expected a value on one line; for more, use a file: --config FILE.toml")
    try:
        settings[key] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        settings[key] = text
    except RecursionError as error:
        raise UsageError(f"--set {path}: {text[:SHOWN]}... is nested too deeply to be a value.") from error
