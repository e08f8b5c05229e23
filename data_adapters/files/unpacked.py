"""Reading compressed files without trusting their size."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, cast

from models.records.errors import RawDataError

MOST_BYTES = 1 << 28
"""Largest size of an unpacked file: 256 MiB, ten times the largest published one."""

OPENERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
"""By the first bytes of a file, what unpacks it."""


def read_unpacked(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz.

    Raises RawDataError if the file cannot be read, is damaged, or unpacks to more than MOST_BYTES.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = Path(folder, "a.gz").write_bytes(gzip.compress(b"42"))
    ...     read_unpacked(Path(folder, "a.gz"))
    b'42'
    """
    try:
        if path.suffix != ".gz":
            return path.read_bytes()
        with gzip.open(path) as file:
            return _limited(path, cast(IO[bytes], file))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RawDataError(f"{path.name}: the gzip file is damaged or cut off ({error}).") from error
    except OSError as error:
        raise RawDataError(f"{path} cannot be read: {error.strerror or error}.") from error


def read_unpacked_any(path: Path) -> bytes:
    """The bytes of a file, unpacked if its first bytes are those of gzip, bzip2 or xz.

    Raises what the unpacking raises for a damaged file, and RawDataError if it unpacks to more than MOST_BYTES.
    """
    content = path.read_bytes()
    for start, opener in OPENERS.items():
        if content.startswith(start):
            with opener(io.BytesIO(content)) as file:
                return _limited(path, file)
    return content


def refuse_large_zip(path: Path) -> None:
    """Raise RawDataError if a zip file unpacks to more than MOST_BYTES, BadZipFile if it is damaged."""
    with zipfile.ZipFile(path) as opened:
        size = sum(member.file_size for member in opened.infolist())
    if size > MOST_BYTES:
        raise _too_large(path)


def _limited(path: Path, file: IO[bytes]) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise _too_large(path)
    return content


def _too_large(path: Path) -> RawDataError:
    return RawDataError(f"{path.name}: unpacks to more than {MOST_BYTES:,} bytes, the most that is read.")
