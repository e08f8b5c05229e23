"""The description of a data set: files, licence, features, published counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from models.records.features import Feature, FeatureKind
from models.records.manifest import Licence


@dataclass(frozen=True, kw_only=True)
class RawFile:
    """One file the adapter reads. `sha256` and `bytes` are the published file's, None where no copy is known.

    `url` is where the file itself can be downloaded; None where it comes in the data set's archive or by hand.
    `own`: it is the user's own file, never published, so that there is no sha256 it should have.
    """

    name: str
    sha256: str | None = None
    bytes: int | None = None
    url: str | None = None
    own: bool = False


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A zip archive that holds the raw files. `max_bytes` limits what it may unpack to."""

    url: str
    sha256: str
    max_bytes: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Rows a publication reports for one pairwise table; None where the table has no such part.

    Of items and comparisons None where no publication counts them: every table has them.
    """

    items: int | None = None
    comparisons: int | None = None
    users: int | None = None
    contexts: int | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """The description of a data set.

    side: 'presented' where the data shows which item stood left, 'random' where the side is drawn from a hash.
    items, users, contexts, comparisons: the features of each part; those of comparisons are flags or per-side values.
    item_texts: further string columns of the items, name to description; `label` is the one people are shown.
    published: the counts of each pairwise table the data set yields, by the table's name.
    other_forms: further sets of files that hold the same data as `raw`, upstream's own; the first whole one is read.
    fetch_by_hand: the steps a person has to take where no program can fetch the files.
    """

    name: str
    title: str
    citation: str
    licence: Licence
    raw: tuple[RawFile, ...]
    side: Literal["presented", "random"]
    items: tuple[Feature, ...]
    published: Mapping[str, Counts]
    users: tuple[Feature, ...] | None = None
    contexts: tuple[Feature, ...] | None = None
    comparisons: tuple[Feature, ...] = ()
    item_texts: Mapping[str, str] = field(default_factory=dict)
    archive: Archive | None = None
    other_forms: tuple[tuple[RawFile, ...], ...] = ()
    fetch_by_hand: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[tuple[RawFile, ...], ...]:
        """The sets of files the data comes in, upstream's own first."""
        return (self.raw, *self.other_forms)

    def url_of(self, file: RawFile) -> str | None:
        """Where a raw file comes from: its own address, else the archive's."""
        return file.url or (self.archive.url if self.archive else None)


def numeric(
    name: str, description: str, *, unit: str | None = None, minimum: float | None = None, maximum: float | None = None
) -> Feature:
    """A number; `minimum` and `maximum` are what the source allows."""
    return Feature(
        name=name, kind=FeatureKind.NUMERIC, description=description, unit=unit, minimum=minimum, maximum=maximum
    )


def binary(name: str, description: str, *, false: str, true: str) -> Feature:
    """A yes-no value with the labels of both answers."""
    return Feature(name=name, kind=FeatureKind.BINARY, description=description, levels=(false, true))


def categorical(name: str, description: str, levels: tuple[str, ...]) -> Feature:
    """One of some labels."""
    return Feature(name=name, kind=FeatureKind.CATEGORICAL, description=description, levels=levels)


def ordinal(name: str, description: str, levels: tuple[str, ...]) -> Feature:
    """One of some labels that go from low to high."""
    return Feature(name=name, kind=FeatureKind.ORDINAL, description=description, levels=levels)


def multi_hot(name: str, description: str, levels: tuple[str, ...]) -> Feature:
    """Any number of some labels."""
    return Feature(name=name, kind=FeatureKind.MULTI_HOT, description=description, levels=levels)
