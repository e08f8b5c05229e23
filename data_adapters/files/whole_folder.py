"""Folders that appear whole or not at all: written aside in the same parent, then renamed."""

from __future__ import annotations

import shutil
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from models.records.errors import OutputError
from models.records.plain_text import escaped


@contextmanager
def whole_folder(final: Path, *, marker: str, ours: Container[str], elsewhere: str = "--out") -> Iterator[Path]:
    """Give an empty folder to write into and rename it to `final` when the block ends well.

    An existing `final` is replaced only then, and only if it is empty or holds the file `marker`, which shows that
    prefstudy wrote it, and no file that is not among `ours`. Raises OutputError if `final` is something else or the
    place cannot be written to. elsewhere: the option that the error names for choosing another place.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole_folder(Path(folder) / "table", marker="manifest.json", ours=["manifest.json"]) as aside:
    ...         written = (aside / "manifest.json").write_text("{}")
    ...     [file.name for file in (Path(folder) / "table").iterdir()]
    ['manifest.json']
    """
    aside = final.parent / f".{final.name}.{uuid4().hex}"
    try:
        _refuse_foreign(final, marker, ours, elsewhere)
        aside.mkdir(parents=True)
        yield aside
        _put_in_place(aside, final)
    except OSError as error:
        raise OutputError(
            f"Cannot write {final}: {error.strerror or error}. What was there before is untouched. "
            f"Name a folder you can write to with {elsewhere}, or free some space."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _refuse_foreign(final: Path, marker: str, ours: Container[str], elsewhere: str) -> None:
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
    if not final.exists():
        aside.rename(final)
        return
    old = final.parent / f".{final.name}.{uuid4().hex}"
    final.rename(old)
    try:
        aside.rename(final)
    except OSError:
        old.rename(final)
        raise
    shutil.rmtree(old, ignore_errors=True)
