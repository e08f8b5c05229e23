"""What a pairwise table was made from: raw files, licence, and what was left out."""

from __future__ import annotations

from pydantic import Field

from models.records.base import Record


class Licence(Record):
    """Under which terms the raw data may be used."""

    name: str
    terms: str = Field(description="the terms in a sentence or two, as shown before a download and in the report")
    url: str | None = None
    needs_agreement: bool = False


class RawFileRecord(Record):
    """One raw file as it was read."""

    name: str
    url: str | None
    sha256: str
    bytes: int
    pinned: bool = Field(description="whether the sha256 is the declared one")


class DroppedRows(Record):
    """Rows of the raw data that are not in the table, and why."""

    table: str
    reason: str
    rows: int


class Manifest(Record):
    """What a pairwise table was made from and what was left out (DESIGN: the data)."""

    name: str
    title: str
    citation: str
    licence: Licence
    adapter_version: str
    simulated: bool
    unpinned: bool
    side: str = Field(description="'presented' where the data shows who stood left, else 'random'")
    raw_files: tuple[RawFileRecord, ...]
    rows_read: dict[str, int] = Field(description="rows in each raw table, header lines not counted")
    rows: dict[str, int] = Field(description="rows in each table written")
    dropped: tuple[DroppedRows, ...] = ()
    quirks: tuple[str, ...] = Field(default=(), description="known oddities of the source that were met and dealt with")
    table_sha256: dict[str, str] = Field(default_factory=dict, description="sha256 of each Parquet file")
