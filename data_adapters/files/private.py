"""Files that only their owner can read, from their first byte, whatever the umask."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOR_OWNER = 0o077
"""The umask under which files get the permissions 0600, and folders 0700."""

_changing = threading.Lock()
_usual: list[int] = []
"""The umask before the first of the blocks that now run; one more entry for each of the others."""


@contextmanager
def private_files() -> Iterator[None]:
    """Make files and folders for their owner alone while the block runs, in all threads of this process.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, private_files():
    ...     written = Path(folder, "note.txt").write_text("private")
    ...     oct(Path(folder, "note.txt").stat().st_mode & 0o777)
    '0o600'
    """
    with _changing:
        before = os.umask(FOR_OWNER)
        _usual.append(_usual[0] if _usual else before)
    try:
        yield
    finally:
        with _changing:
            before = _usual.pop()
            if not _usual:
                os.umask(before)


def open_up(folder: Path) -> None:
    """Give a folder and all in it the permissions they would have had outside of `private_files`. Raises OSError."""
    usual = _usual_umask()
    for path in [*folder.rglob("*"), folder]:
        if not path.is_symlink():
            path.chmod((0o777 if path.is_dir() else 0o666) & ~usual)


def readable_by_others(path: Path) -> bool:
    """Whether other users of the machine can read a file: by its permissions and those of all folders above it.

    Raises OSError.
    """
    if not path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        return False
    return all(folder.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH) for folder in path.resolve().parents)


def _usual_umask() -> int:
    with _changing:
        if _usual:
            return _usual[0]
        usual = os.umask(FOR_OWNER)
        os.umask(usual)
        return usual
