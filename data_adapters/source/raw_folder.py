"""The raw files of a data set that were found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models.records.manifest import RawFileRecord


@dataclass(frozen=True, kw_only=True)
class RawFolder:
    """A folder with every raw file of one declared form, and a record of each file.

    unpinned: whether a file is not the published one. The user's own file was never published, and makes no folder so.
    """

    path: Path
    files: tuple[RawFileRecord, ...]
    simulated: bool
    unpinned: bool = False

    def has(self, name: str) -> bool:
        """Whether the form that was found has a raw file of this name."""
        return any(file.name == name for file in self.files)

    def file(self, name: str) -> Path:
        """The path of a raw file."""
        return self.path / name
