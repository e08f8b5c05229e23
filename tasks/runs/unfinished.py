"""Records of runs that failed or were stopped: `<out>/<study>/failed/<run-id>.json`."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path

from models.records.errors import PrefstudyError
from models.records.run_record import UnfinishedRun
from models.records.whole_file import whole_file

FAILED = "failed"
STARTED = "started.json"
"""In the partial folder of a run: its record while it runs."""
LONGEST_REASON = 300


def keep_started(partial: Path, record: UnfinishedRun) -> None:
    """Write the record of a run that starts, so that the next run can say what was killed. Raises OSError."""
    with whole_file(partial / STARTED) as aside:
        aside.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")


def keep_failure(parent: Path, record: UnfinishedRun, error: BaseException) -> None:
    """Keep the record of a run that ended with an error."""
    outcome = "failed" if isinstance(error, Exception) else "stopped"
    ended = {"outcome": outcome, "ended": datetime.now(UTC), "reason": reason(error)}
    _keep(parent, record.model_copy(update=ended))


def keep_stopped(parent: Path, record: UnfinishedRun) -> None:
    """Keep the record of a run whose process is about to end, because of Ctrl-C or another signal."""
    ended = {"outcome": "stopped", "ended": datetime.now(UTC), "reason": "a signal ended the process"}
    _keep(parent, record.model_copy(update=ended))


def keep_killed(parent: Path, partial: Path) -> None:
    """Keep the record of a run that was killed, from its partial folder; do nothing if it holds none."""
    try:
        record = UnfinishedRun.model_validate_json((partial / STARTED).read_bytes())
    except (OSError, ValueError):
        return
    killed = {"outcome": "killed", "reason": "the process ended before it could clean up"}
    _keep(parent, record.model_copy(update=killed))


def reason(error: BaseException) -> str:
    """The class of an error, and the first line of its message if that cannot quote the data.

    >>> from models.records.errors import OutputError
    >>> reason(KeyError("a patient's name"))
    'KeyError'
    >>> reason(OutputError("The disk is full."))
    'OutputError: The disk is full.'
    """
    name = type(error).__name__
    if not isinstance(error, PrefstudyError) or error.quotes_data:
        return name
    return f"{name}: {str(error).partition(chr(10))[0]}"[:LONGEST_REASON]


def _keep(parent: Path, record: UnfinishedRun) -> None:
    """Write the record. A failure to write it is ignored: the run's own error matters more."""
    with contextlib.suppress(OSError):
        (parent / FAILED).mkdir(exist_ok=True)
        with whole_file(parent / FAILED / f"{record.run_id}.json") as aside:
            aside.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
