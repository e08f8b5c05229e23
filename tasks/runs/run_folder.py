"""The folder of one run: written aside and renamed at the end, so that it appears whole or not at all."""

from __future__ import annotations

import errno
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from data_adapters.files.private import open_up, private_files
from models.records.errors import OutputError
from models.records.run_record import AnswerTime, CourseTime, StepTime, UnfinishedRun
from models.records.whole_file import Hold, clear, hold
from tasks.runs.progress import step
from tasks.runs.study import RunConfig
from tasks.runs.unfinished import FAILED, STARTED, keep_failure, keep_killed, keep_started, keep_stopped

PARTIAL = ".partial-"
RUN_ID = "[0-9]*T[0-9]*Z-"
"""How the name of every run begins, as a pattern of file names."""
BYTES_NEEDED = 64 * 2**20
"""Space a run may need before it ends: simulated raw files, the table, results and report."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of a running study. Everything is written to `partial`, which becomes `path` at the end."""

    study: str
    run_id: str
    started: datetime
    config: RunConfig
    path: Path
    partial: Path
    record: UnfinishedRun
    held: Hold
    seconds: list[StepTime] = field(default_factory=list)
    answers: list[AnswerTime] = field(default_factory=list)
    courses: list[CourseTime] = field(default_factory=list)

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return self.partial / "results"

    @property
    def work(self) -> Path:
        """Folder of intermediate files; removed when the run is published."""
        return self.partial / "work"

    def step(self, name: str, *, total: int | None = None) -> AbstractContextManager[None]:
        """Log a step of the run, and keep its time for `run.json`."""
        return step(name, total=total, into=self.seconds)


_WAITING: list[RunFolder] = []
"""Runs that are reserved and whose flow has not begun."""


@contextmanager
def reserved(study: str, config: RunConfig) -> Iterator[None]:
    """Reserve the folder of a run that starts in the block, so that there is a record if Prefect does not start.

    Raises OutputError if the folder cannot be written or its disk is nearly full.
    """
    run = _reserve(study, config)
    _WAITING.append(run)
    try:
        with _until_its_end(run):
            yield
    finally:
        if run in _WAITING:
            _WAITING.remove(run)


@contextmanager
def run_folder(study: str, config: RunConfig) -> Iterator[RunFolder]:
    """Open `<out>/<study>/<run-id>/`; it appears when the block ends, and not at all if the block raises.

    The run-id sorts by start (UTC) and ends in the digest of the config. A run that fails or is stopped leaves a record
    in `failed/`. The record of a killed run is written when the next run starts and removes the partial folder. Until
    the folder appears, only the owner can read what is in it.
    Raises OutputError before any work is done if the folder cannot be written or its disk is nearly full, and later if
    the disk fills up.
    """
    run = next((run for run in _WAITING if (run.study, run.config) == (study, config)), None)
    if run is None:
        run = _reserve(study, config)
    else:
        _WAITING.remove(run)
    with _until_its_end(run), _output_errors(run.path.parent):
        with private_files():
            run.results.mkdir()
            run.work.mkdir()
            yield run
            shutil.rmtree(run.work)
            (run.partial / STARTED).unlink()
            open_up(run.partial)
        run.held.end(partial(run.partial.rename, run.path))


@contextmanager
def _until_its_end(run: RunFolder) -> Iterator[None]:
    """Keep a record if the block raises, and remove the partial folder if it is still there when the block ends."""
    try:
        yield
    except BaseException as error:
        if not run.held.ended:
            keep_failure(run.path.parent, run.record, error)
        raise
    finally:
        run.held.end()


@contextmanager
def _output_errors(parent: Path) -> Iterator[None]:
    """Raise OutputError for a disk or quota that is full, or a disk that has become read-only."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EROFS}:
            raise
        raise OutputError(_cannot_write(parent, error)) from error


def check_output(parent: Path) -> None:
    """Check that a run can be written to `parent`: make the folder, try a file, look at the free space.

    Raises OutputError.
    """
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=parent):
            pass
        free = shutil.disk_usage(parent).free
    except OSError as error:
        raise OutputError(_cannot_write(parent, error)) from error
    if free < BYTES_NEEDED:
        raise OutputError(_nearly_full(parent, free))


def _reserve(study: str, config: RunConfig) -> RunFolder:
    """Make the partial folder of a run-id that is free, with the record of the run, and hold its lock."""
    started = datetime.now(UTC)
    parent = config.out / study
    check_output(parent)
    with _output_errors(parent):
        clear(parent, f"{PARTIAL}{RUN_ID}*", before=partial(keep_killed, parent))
        record = UnfinishedRun(study=study, run_id="", started=started, config=config.model_dump(mode="json"))
        first = f"{started:%Y%m%dT%H%M%SZ}-{config.digest()}"
        for run_id in itertools.chain([first], (f"{first}-{number}" for number in itertools.count(2))):
            named = record.model_copy(update={"run_id": run_id})
            held = hold(parent / f"{PARTIAL}{run_id}", on_stop=partial(keep_stopped, parent, named))
            if held is None:
                continue
            run = RunFolder(study, run_id, started, config, parent / run_id, held.aside, named, held)
            if _begins(run):
                return run
        raise AssertionError("there is always another run-id")


def _begins(run: RunFolder) -> bool:
    """Make the partial folder of a run, unless its run-id was used before."""
    failed = run.path.parent / FAILED / f"{run.run_id}.json"
    # Looked for under the lock: nobody else can finish or fail under this id from here on.
    if run.partial.exists() or run.path.exists() or failed.exists():
        run.held.end(keep=True)
        return False
    try:
        with private_files():
            run.partial.mkdir()
            keep_started(run.partial, run.record)
    except BaseException:
        run.held.end()
        raise
    return True


def _cannot_write(folder: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    return (
        f"{folder}: the run cannot be written there ({reason[:1].lower()}{reason[1:]}).\n"
        "Choose a folder you may write in, on a disk with space: --out DIR"
    )


def _nearly_full(folder: Path, free: int) -> str:
    needed = f"{BYTES_NEEDED / 2**20:.0f} MiB"
    return (
        f"{folder}: a run needs {needed} of space, and {free / 2**20:.0f} MiB are free on this disk.\n"
        "Free some space, or choose a folder on another disk: --out DIR"
    )
