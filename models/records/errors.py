"""Errors that a user can act on. The message says what was found, where, and what to do."""

from __future__ import annotations

from typing import ClassVar


class PrefstudyError(Exception):
    """Base of the errors that the input causes, not the program (exit code 1).

    quotes_data: whether the message may contain a value, name or id from the data. Such a message is shown to the user
    and kept nowhere.
    """

    quotes_data: ClassVar[bool] = True


class UsageError(PrefstudyError):
    """Invalid command, option or setting, such as an unknown study (exit code 2)."""


class RawDataError(PrefstudyError):
    """A raw file is missing, altered, truncated or malformed."""


class MissingDataError(RawDataError):
    """Raw files were not found."""

    quotes_data = False


class TableError(PrefstudyError):
    """A pairwise table breaks its own schema, or its files disagree."""


class OutputError(PrefstudyError):
    """A file or folder cannot be written."""

    quotes_data = False


class ServerError(PrefstudyError):
    """A server does not answer at the address that was set."""

    quotes_data = False
