"""Folders that appear whole or not at all: written aside in the same parent, then put in place in one step."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from data_adapters.files.private import private_files
from models.records.errors import OutputError
from models.records.plain_text import escaped
from models.records.whole_file import hold_beside

RELATIVE_TO_HERE = -100
EXCHANGE = 2
"""Linux's AT_FDCWD and RENAME_EXCHANGE."""


@contextmanager
def whole_folder(
    final: Path, *, marker: str, ours: Container[str], elsewhere: str = "--out", private: bool = False
) -> Iterator[Path]:
    """Give an empty folder to write into; it becomes `final` when the block ends well.

    An existing `final` is replaced only then, and only if it is empty or holds the file `marker`, which shows that
    prefstudy wrote it, and no file that is not among `ours`. Raises OutputError if `final` is something else or the
    place cannot be written to. elsewhere: the option that the error names for choosing another place. private: only
    the owner can read what is written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole_folder(Path(folder) / "table", marker="manifest.json", ours=["manifest.json"]) as aside:
    ...         written = (aside / "manifest.json").write_text("{}")
    ...     [file.name for file in (Path(folder) / "table").iterdir()]
    ['manifest.json']
    """
    held = None
    try:
        refuse_foreign(final, marker, ours, elsewhere)
        final.parent.mkdir(parents=True, exist_ok=True)
        held = hold_beside(final)
        aside = held.aside
        with private_files() if private else nullcontext():
            aside.mkdir()
            yield aside
        held.end(lambda: _put_in_place(aside, final))
    except OSError as error:
        raise OutputError(
            f"Cannot write {final}: {error.strerror or error}. What was there before is untouched. "
            f"Name a folder you can write to with {elsewhere}, or free some space."
        ) from error
    finally:
        if held is not None:
            held.end()


def refuse_foreign(final: Path, marker: str, ours: Container[str], elsewhere: str = "--out") -> None:
    """Raise OutputError if `final` is something that `whole_folder` would not replace."""
    if final.is_dir() and (final / marker).exists():
        foreign = sorted(found.name for found in final.iterdir() if found.name not in ours)
        if foreign:
            raise OutputError(
                f"{final} also has {escaped(foreign[0])}, which prefstudy did not write and which would be lost. "
                f"Move it away, or name another folder with {elsewhere}."
            )
        return
    if final.exists() and not (final.is_dir() and not any(final.iterdir())):
        raise OutputError(
            f"{final} is there already and was not written by prefstudy (no {marker} in it). "
            f"Move it away, or name another folder with {elsewhere}."
        )


def _put_in_place(aside: Path, final: Path) -> None:
    """Rename `aside` to `final`. A folder that is there takes the name of `aside`."""
    if not final.exists():
        aside.rename(final)
    elif not _exchange(aside, final):
        old = aside.with_name(f"{aside.name}.old")
        final.rename(old)
        try:
            aside.rename(final)
        except OSError:
            old.rename(final)
            raise
        old.rename(aside)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, so that `other` is never missing. False where the system cannot do that."""
    if sys.platform != "linux":
        return False
    with suppress(AttributeError):
        exchange = ctypes.CDLL(None).renameat2
        names = (RELATIVE_TO_HERE, bytes(one.absolute()), RELATIVE_TO_HERE, bytes(other.absolute()))
        return bool(exchange(*names, EXCHANGE) == 0)
    return False
