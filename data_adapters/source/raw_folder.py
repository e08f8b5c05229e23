"""The raw files of a data set as they were found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models.records.manifest import RawFileRecord


@dataclass(frozen=True, kw_only=True)
class RawFolder:
    """A folder in which every raw file of one of the declared forms lies, and what each of them is."""

    path: Path
    files: tuple[RawFileRecord, ...]
    simulated: bool

    @property
    def unpinned(self) -> bool:
        """Whether some file is not the declared one; simulated files are checked against their own record."""
        return not self.simulated and not all(file.pinned for file in self.files)

    def has(self, name: str) -> bool:
        """Whether a raw file is among those of the form found."""
        return any(file.name == name for file in self.files)

    def file(self, name: str) -> Path:
        """The path of a raw file."""
        return self.path / name
