"""The folder of one run: written aside and renamed at the end, so that it appears whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from models.records.errors import OutputError
from models.records.run_record import AnswerTime, StepTime, UnfinishedRun
from tasks.runs.progress import step
from tasks.runs.study import StudyConfig
from tasks.runs.unfinished import FAILED, STARTED, keep_failure, keep_killed, keep_started

PARTIAL = ".partial-"
LOCK = "lock"
BYTES_NEEDED = 64 * 2**20
"""Space a run may need before it ends: simulated raw files, the table, results and report."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of a running study. Everything is written to `partial`, which becomes `path` at the end."""

    study: str
    run_id: str
    started: datetime
    config: StudyConfig
    path: Path
    partial: Path
    seconds: list[StepTime] = field(default_factory=list)
    answers: list[AnswerTime] = field(default_factory=list)

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


@contextmanager
def run_folder(study: str, config: StudyConfig) -> Iterator[RunFolder]:
    """Open `<out>/<study>/<run-id>/`; it appears when the block ends, and not at all if the block raises.

    The run-id sorts by start (UTC) and ends in the digest of the config. A run that fails or is stopped leaves a record
    in `failed/`. The record of a killed run is written when the next run starts and removes the partial folder.
    Raises OutputError before any work is done if the folder cannot be written or its disk is nearly full, and later if
    the disk fills up.
    """
    started = datetime.now(UTC)
    parent = config.out / study
    check_output(parent)
    _remove_leftovers(parent)
    with _output_errors(parent):
        partial, lock = _reserve(parent, f"{started:%Y%m%dT%H%M%SZ}-{config.digest()}")
    run_id = partial.name.removeprefix(PARTIAL)
    record = UnfinishedRun(study=study, run_id=run_id, started=started, config=config.model_dump(mode="json"))
    run = RunFolder(study, run_id, started, config, path=parent / run_id, partial=partial)
    with keep_failure(parent, record), _output_errors(parent):
        try:
            keep_started(partial, record)
            run.results.mkdir()
            run.work.mkdir()
            yield run
            shutil.rmtree(run.work)
            for name in (LOCK, STARTED):
                (partial / name).unlink()
            partial.rename(run.path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            os.close(lock)


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


def _reserve(parent: Path, run_id: str) -> tuple[Path, int]:
    """Make the partial folder of a run-id that is free, and hold its lock for as long as this process lives."""
    for number in itertools.count(1):
        name = run_id if number == 1 else f"{run_id}-{number}"
        partial = parent / f"{PARTIAL}{name}"
        try:
            partial.mkdir()
        except FileExistsError:
            continue
        # Looked for after the reservation: nobody else can finish or fail under this id from here on.
        if not (parent / name).exists() and not (parent / FAILED / f"{name}.json").exists():
            break
        partial.rmdir()
    lock = os.open(partial / LOCK, os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return partial, lock


def _remove_leftovers(parent: Path) -> None:
    """Remove partial folders of killed runs and keep their records. A live run holds its lock, and its folder stays."""
    for partial in parent.glob(f"{PARTIAL}*"):
        try:
            lock = os.open(partial / LOCK, os.O_RDWR)
        except (FileNotFoundError, NotADirectoryError):
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            keep_killed(parent, partial)
            shutil.rmtree(partial, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(lock)


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
