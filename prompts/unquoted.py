"""Errors that leave the conversation quote nothing that a patient or a model wrote."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from models.records.errors import PrefstudyError

ROOT = Path(__file__).parents[1]
PLACES = 3


class UnexpectedError(PrefstudyError):
    """An error of the program, by its class and place: its own message could quote a patient."""

    quotes_data = False


@contextmanager
def unquoted() -> Iterator[None]:
    """Let errors with a message of our own through, without the errors behind them; replace all others.

    Prefect keeps the message and the traceback of an error in its database, with those of the errors it came from.

    >>> try:
    ...     with unquoted():
    ...         {}["I have chest pain."]
    ... except UnexpectedError as error:
    ...     print(str(error)[:69], error.__suppress_context__)
    KeyError, whose message is withheld because it could quote a patient. True
    """
    try:
        yield
    except PrefstudyError as error:
        error.__cause__ = error.__context__ = None
        error.__suppress_context__ = True
        raise
    except Exception as error:
        raise UnexpectedError(
            f"{type(error).__name__}, whose message is withheld because it could quote a patient. Please report it "
            f"with its place: {_place(error)}"
        ) from None


def _place(error: Exception) -> str:
    """The last lines of this project that the error went through, the innermost first."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(ROOT)]
    return " < ".join(
        f"{Path(frame.filename).relative_to(ROOT)}:{frame.lineno}" for frame in reversed(frames[-PLACES:])
    )
