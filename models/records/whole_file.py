"""Files that appear whole or not at all, and the locks of everything that is written aside.

What is written lies aside, in the folder of its final name, until it is whole. Its lock is a file beside it, made first
and removed last. So the next writer can tell what a killed process left from what another process is still writing.

The only input or output in this room. Every room above writes such files, and this is the one room they all may import.
"""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

LOCK = ".lock"
HEX = "[0-9a-f]" * 32
GONE = ".gone"

_ending = threading.RLock()
_open: dict[Path, Hold] = {}


class Hold:
    """The lock of what this process writes aside. on_stop: called first if the process is stopped meanwhile."""

    def __init__(self, aside: Path, descriptor: int, *, locked: bool, on_stop: Callable[[], None]) -> None:
        self.aside = aside
        self.locked = locked
        self.on_stop = on_stop
        self._descriptor = descriptor
        _open[aside] = self

    @property
    def ended(self) -> bool:
        """Whether the lock was given back."""
        return _open.get(self.aside) is not self

    def end(self, finish: Callable[[], object] | None = None, *, keep: bool = False) -> None:
        """Call `finish`, remove what is still aside, and give the lock back; do nothing if that was done before.

        `finish` puts what was written in its place. A process that is stopped waits for it, or does not begin it.
        keep: what is aside stays.
        """
        with _ending:
            if self.ended:
                return
            try:
                if finish is not None:
                    finish()
            finally:
                if not keep:
                    _remove(self.aside)
                if self.locked or not keep:
                    _lock_of(self.aside).unlink(missing_ok=True)
                del _open[self.aside]
                os.close(self._descriptor)


def hold(aside: Path, *, on_stop: Callable[[], None] = lambda: None) -> Hold | None:
    """Take the lock of what is about to be written at `aside`; None if another writer holds it. Raises OSError."""
    lock = _lock_of(aside)
    with _ending:  # a process that is being stopped begins nothing new
        if aside in _open:
            return None
        while True:
            descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
            locked = True
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return None
            except OSError:  # a file system without locks
                locked = False
            if _is_at(descriptor, lock):  # its last owner may have removed it after it was opened here
                return Hold(aside, descriptor, locked=locked, on_stop=on_stop)
            os.close(descriptor)


def clear(folder: Path, pattern: str, before: Callable[[Path], None] = lambda _: None) -> None:
    """Remove what killed processes left aside in `folder` under names that match `pattern`.

    before: called with the path of each before it is removed. What another process is writing stays.
    """
    for name in sorted({path.name.removesuffix(LOCK) for path in folder.glob(pattern)}):
        with suppress(OSError):  # another user's, or a disk that is full: it stays
            held = hold(folder / name)
            if held is not None and held.locked:
                before(held.aside)
            if held is not None:
                held.end(keep=not held.locked)  # without locks nobody can tell whether it is still being written


def abandon(seconds: float) -> None:
    """Remove everything that this process is writing aside. Only for a process that ends right after.

    What is being put in its place at this moment may take `seconds` to get there. Nothing else will.
    """
    if not _ending.acquire(timeout=seconds):
        return
    for held in list(_open.values()):
        with suppress(Exception):
            held.on_stop()
        with suppress(OSError):
            held.end()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A process that is stopped stops before the block or after it."""
    with _ending:
        yield


@contextmanager
def whole_file(path: Path, *, mode: int = 0o666) -> Iterator[Path]:
    """Give an empty file to write to; it replaces `path` when the block ends, and is removed if the block raises.

    The file lies in the folder of `path` and is flushed to disk before it is renamed. If `path` is a symbolic link, the
    link stays and the file it points to is replaced. mode: permissions of the file, reduced by the umask.

    Raises OSError if the file cannot be written; `path` is then as it was before.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "answer.txt")) as aside:
    ...         written = aside.write_text("42")
    ...     Path(folder, "answer.txt").read_text()
    '42'
    """
    final = Path(os.path.realpath(path))
    held = hold_beside(final)
    try:
        os.close(os.open(held.aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield held.aside
        _flush(held.aside)
        held.end(lambda: held.aside.replace(final))
    finally:
        held.end()


def hold_beside(final: Path) -> Hold:
    """Take the lock of a new name beside `final`, and remove what killed writers of `final` left. Raises OSError."""
    clear(final.parent, f".{glob.escape(final.name)}.{HEX}*")
    held = hold(final.with_name(f".{final.name}.{uuid4().hex}"))
    if held is None:
        raise FileExistsError(f"{final}: a name that was drawn at random is taken")
    return held


def _lock_of(aside: Path) -> Path:
    return aside.with_name(aside.name + LOCK)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _remove(aside: Path) -> None:
    """Remove a file or a folder. A folder gets another name first, so that a thread that still writes finds nothing."""
    if not aside.is_dir():
        aside.unlink(missing_ok=True)
        return
    gone = aside.with_name(aside.name + GONE)
    with suppress(OSError):
        aside.rename(gone)
    for folder in (gone, aside):
        shutil.rmtree(folder, ignore_errors=True)


def _flush(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
