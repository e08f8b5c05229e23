"""SHA-256 of files."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, as 64 hexadecimal digits.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = Path(folder, "answer.txt").write_text("42")
    ...     sha256_of(Path(folder, "answer.txt"))[:12]
    '73475cb40a56'
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
