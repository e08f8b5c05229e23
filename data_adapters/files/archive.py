"""Unpacking zip archives without trusting them."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from models.records.errors import RawDataError


def unpack(archive: Path, names: Sequence[str], folder: Path, *, max_bytes: int) -> None:
    """Unpack the members called `names`, from any folder of the archive, directly into `folder`.

    Nothing else is unpacked, so that no member decides where it is written. Raises RawDataError if the archive is
    damaged, a member is missing or there twice, or they unpack to more than `max_bytes`.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = {name: _member(opened, archive, name) for name in names}
            size = sum(member.file_size for member in members.values())  # zipfile reads no more than this
            if size > max_bytes:
                raise RawDataError(
                    f"{archive}: unpacks to {size:,} bytes, more than the {max_bytes:,} expected at most."
                )
            for name, member in members.items():
                with opened.open(member) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except (zipfile.BadZipFile, EOFError) as error:
        raise RawDataError(f"{archive} is not a complete zip archive: {error}. Fetch it again with --force.") from error


def _member(opened: zipfile.ZipFile, archive: Path, name: str) -> zipfile.ZipInfo:
    found = [member for member in opened.infolist() if PurePosixPath(member.filename).name == name]
    if len(found) != 1:
        raise RawDataError(f"{archive}: expected one {name} in it, found {len(found)}.")
    return found[0]
