"""Errors a user can act on. Their text says what was found, where, and what to do; the command line prints it bare."""


class PrefstudyError(Exception):
    """Base of the errors that are the input's fault and not the program's (exit code 1)."""


class UsageError(PrefstudyError):
    """What was asked for cannot be meant: an unknown study, a bad option or config (exit code 2)."""


class RawDataError(PrefstudyError):
    """A raw file is missing, altered, truncated or malformed."""


class MissingDataError(RawDataError):
    """Raw files are not at hand."""


class TableError(PrefstudyError):
    """A pairwise table breaks its own schema or its files disagree."""


class OutputError(PrefstudyError):
    """A result could not be written where it was asked for."""


class ServerError(PrefstudyError):
    """A server that was named does not answer."""
