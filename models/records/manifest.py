"""Manifest of a pairwise table: raw files, licence, and dropped rows."""

from __future__ import annotations

from pydantic import Field

from models.records.base import Record


class Licence(Record):
    """Licence of the raw data."""

    name: str
    terms: str = Field(description="the terms in a sentence or two, as shown before a download and in the report")
    url: str | None = None
    needs_agreement: bool = False


class RawFileRecord(Record):
    """One raw file, as read."""

    name: str
    url: str | None
    sha256: str
    bytes: int
    pinned: bool = Field(description="whether the sha256 is the declared one")


class DroppedRows(Record):
    """Number of rows of the raw data left out of the table, and the reason."""

    table: str
    reason: str
    rows: int


class Manifest(Record):
    """Origin of a pairwise table and what was left out of it (DESIGN: the data)."""

    name: str
    title: str
    citation: str
    licence: Licence
    adapter_version: str
    simulated: bool
    unpinned: bool
    side: str = Field(description="'presented' if the data shows which item stood left, otherwise 'random'")
    raw_files: tuple[RawFileRecord, ...]
    rows_read: dict[str, int] = Field(description="rows in each raw table, header lines not counted")
    rows: dict[str, int] = Field(description="rows in each table written")
    dropped: tuple[DroppedRows, ...] = ()
    quirks: tuple[str, ...] = Field(default=(), description="known oddities of the source that were found and handled")
    table_sha256: dict[str, str] = Field(default_factory=dict, description="sha256 of each Parquet file")

    @property
    def own(self) -> bool:
        """Whether a raw file is the user's own, which has no published sha256, and none is another than declared."""
        return not (self.simulated or self.unpinned or all(file.pinned for file in self.raw_files))
