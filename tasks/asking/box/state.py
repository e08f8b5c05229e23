"""The answers of a session on disk: written whole, for their owner alone, after every answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from models.records.base import Record
from models.records.errors import OutputError, UsageError
from models.records.settings_errors import explain
from models.records.whole_file import hold, whole_file
from tasks.asking.box.session import Asked, BoxSession
from tasks.asking.box.settings import BoxSettings

FILE = "answers.json"


class SavedAnswers(Record):
    """The content of `answers.json`."""

    format: Literal["prefstudy box 1"] = "prefstudy box 1"
    settings: BoxSettings
    asked: tuple[Asked, ...] = ()


@contextmanager
def session_in(folder: Path, settings: BoxSettings) -> Iterator[tuple[BoxSession, bool]]:
    """The session kept in a folder, which is made if need be, and whether it has answers of earlier.

    Raises UsageError where the folder holds answers to other settings, is in use, or is damaged; OutputError where it
    cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = hold(folder / FILE.replace(".json", ".session"))
    except OSError as error:
        raise OutputError(f"{folder}: the answers cannot be kept there ({_why(error)}).") from error
    if held is None:
        raise UsageError(f"{folder}: another session is asking with these answers. Use another folder: --state DIR")
    try:
        asked = read_answers(folder / FILE, settings)
        yield BoxSession(settings, asked), bool(asked)
    finally:
        held.end()


def save(folder: Path, session: BoxSession) -> None:
    """Replace the answers in a folder by those of a session. Raises OutputError where they cannot be written."""
    saved = SavedAnswers(settings=session.settings, asked=tuple(session.asked))
    try:
        with whole_file(folder / FILE, mode=0o600) as aside:
            aside.write_text(saved.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{folder / FILE}: the answers cannot be written ({_why(error)}).") from error


def read_answers(file: Path, settings: BoxSettings) -> tuple[Asked, ...]:
    """The answers in a file, none if it does not exist.

    Raises UsageError for a damaged file, and for answers to other settings.
    """
    try:
        saved = SavedAnswers.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UsageError(f"{file}: the answers cannot be read ({_why(error)}).") from error
    except ValidationError as error:
        problems = "\n".join(explain(SavedAnswers, error.errors()[:5]))
        raise UsageError(
            f"{file}: these answers are damaged.\n{problems}\nMove the file away, or use another folder: --state DIR"
        ) from error
    other = [name for name in BoxSettings.model_fields if getattr(saved.settings, name) != getattr(settings, name)]
    if other:
        raise UsageError(
            f"{file}: these answers belong to other settings; different: {', '.join(other)}.\n"
            "Restore the config, or start anew in another folder: --state DIR"
        )
    steps = [feature.n_steps for feature in settings.features]
    for number, one in enumerate(saved.asked, start=1):
        for levels in (one.first, one.second):
            if len(levels) != len(steps) or any(level > most for level, most in zip(levels, steps, strict=True)):
                raise UsageError(f"{file}: question {number} is about a setting outside the ranges of the features.")
    return saved.asked


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
