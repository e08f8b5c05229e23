"""All faults of a file in one error, up to a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from models.records.errors import RawDataError

T = TypeVar("T")

MOST_ROWS = 5
"""Further rows of one column that an error lists."""
MOST_FAULTS = 20
"""Faults that an error lists, one a line."""


def first_of(first: str, others: Sequence[str]) -> str:
    """What was found first, with the number of other places and the first of them.

    >>> first_of("'b'", ["line 7 'c'"])
    "'b' (and 1 more: line 7 'c')"
    """
    if not others:
        return first
    more = ", ".join(others[:MOST_ROWS]) + (", ..." if len(others) > MOST_ROWS else "")
    return f"{first} (and {len(others):,} more: {more})"


class Faults:
    """The errors of several independent checks, raised as one.

    >>> faults = Faults()
    >>> faults.attempt(int, "7")
    7
    >>> faults.raise_any()
    """

    def __init__(self) -> None:
        """Start without faults."""
        self._found: list[str] = []

    def attempt(self, read: Callable[..., T], *arguments: object) -> T | None:
        """What `read` returns, or None if it raises RawDataError, which is kept."""
        try:
            return read(*arguments)
        except RawDataError as error:
            self._found += str(error).split("\n")
            return None

    def raise_any(self) -> None:
        """Raise RawDataError with the faults found so far, one a line; return if there are none."""
        if not self._found:
            return
        found = list(dict.fromkeys(self._found))
        more = [f"{len(found) - MOST_FAULTS} more faults are not shown."] if len(found) > MOST_FAULTS else []
        raise RawDataError("\n".join([*found[:MOST_FAULTS], *more]))


def read_all(reads: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """What each of several independent reads returns, by name. Raises RawDataError with the faults of all that fail.

    >>> read_all({"seven": lambda: int("7"), "ten": lambda: int("10")})
    {'seven': 7, 'ten': 10}
    """
    faults = Faults()
    found = {name: faults.attempt(read) for name, read in reads.items()}
    faults.raise_any()
    return found
