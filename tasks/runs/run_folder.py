"""The folder of one run: written aside, renamed at the end, so that it appears whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from models.records.errors import OutputError
from models.records.run_record import AnswerTime, StepTime
from tasks.runs.progress import step
from tasks.runs.study import StudyConfig

PARTIAL = ".partial-"
LOCK = "lock"
BYTES_NEEDED = 64 * 2**20
"""What a run may write before it ends: simulated raw files, the table, results and report."""


@dataclass(frozen=True)
class RunFolder:
    """A run in the making. Everything is written under `partial`; `path` is where it will lie in the end."""

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
        """Where the tables of results go."""
        return self.partial / "results"

    @property
    def work(self) -> Path:
        """Where intermediate files go; it is gone when the run is published."""
        return self.partial / "work"

    def step(self, name: str, *, total: int | None = None) -> AbstractContextManager[None]:
        """Announce a step of the run and keep the time it takes for `run.json`."""
        return step(name, total=total, into=self.seconds)


@contextmanager
def run_folder(study: str, config: StudyConfig) -> Iterator[RunFolder]:
    """Open `<out>/<study>/<run-id>/`; it appears when the block ends, and not at all if the block raises.

    The run-id sorts by start (UTC) and ends in the digest of the config. What killed runs left behind is removed.
    Raises OutputError, before any work is done, if the folder cannot be written or its disk is nearly full,
    and again if the disk fills up on the way.
    """
    started = datetime.now(UTC)
    parent = config.out / study
    check_output(parent)
    _remove_leftovers(parent)
    partial, lock = _reserve(parent, f"{started:%Y%m%dT%H%M%SZ}-{config.digest()}")
    try:
        run_id = partial.name.removeprefix(PARTIAL)
        run = RunFolder(study, run_id, started, config, path=parent / run_id, partial=partial)
        run.results.mkdir()
        run.work.mkdir()
        yield run
        shutil.rmtree(run.work)
        (partial / LOCK).unlink()
        partial.rename(run.path)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EROFS}:
            raise
        raise OutputError(_cannot_write(parent, error)) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(lock)


def check_output(parent: Path) -> None:
    """Make sure that a run can be written in `parent`: make the folder, try a file, look at the free space.

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
    """Make the partial folder of a run-id nobody has, and hold its lock for as long as this process lives."""
    number = 1
    while True:
        name = run_id if number == 1 else f"{run_id}-{number}"
        partial = parent / f"{PARTIAL}{name}"
        if not (parent / name).exists():
            try:
                partial.mkdir()
                break
            except FileExistsError:
                pass
        number += 1
    lock = os.open(partial / LOCK, os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return partial, lock


def _remove_leftovers(parent: Path) -> None:
    """Remove partial folders whose run is dead: the kernel let go of their lock. Those of live runs stay."""
    for partial in parent.glob(f"{PARTIAL}*"):
        try:
            lock = os.open(partial / LOCK, os.O_RDWR)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
