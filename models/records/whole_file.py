"""Files that appear whole or not at all: written aside in the same folder, then renamed.

The only input or output in this room. Every room above writes such files, and this is the one room they all may import.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


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
    aside = final.with_name(f".{final.name}.{uuid4().hex}")
    os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield aside
        _flush(aside)
        aside.replace(final)
    finally:
        aside.unlink(missing_ok=True)


def _flush(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
