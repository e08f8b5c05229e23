"""What an adapter says about its data set before any code runs: files, licence, features, published counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import Field

from models.records import Feature, FeatureKind, Licence, Record

if TYPE_CHECKING:
    from data_adapters.source.raw_folder import RawFolder
    from data_adapters.source.reading import Reading


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


class Rule(Record):
    """One question of a planted preference; items that answer it with yes are preferred.

    The question is `feature < cut` or `feature >= cut`; without a cut, the lower or the higher value is preferred.
    """

    feature: str
    prefers: Literal["low", "high"]
    cut: float | None = None


Hidden = dict[str, int | str]
"""What a simulator knows of one item and no raw file says."""


class Preference(Record):
    """What a simulator planted, for recovery tests and for the reader of a simulated report.

    types: each taste type's rules, the earlier deciding before the later.
    type_of: the taste type of each user, or of each context where the data has no users.
    noise: the share of comparisons (or of neighbours in a ranking, or of labels) that were turned against the rules.
    hidden: where the rules ask about what stands only between the lines of a text, the answers for each item.
    """

    words: str
    types: dict[str, tuple[Rule, ...]]
    type_of: dict[str, str]
    noise: float
    hidden: dict[str, Hidden] = Field(default_factory=dict)


class Simulate(Protocol):
    """How an adapter simulates its raw files."""

    def __call__(self, folder: Path, *, seed: int, users: int | None) -> Preference:
        """Write the raw files in upstream's format into an empty folder; `users` None: as many as were published."""


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """A data set and the code that reads and simulates its raw files. `version` changes whenever a table would.

    variants: by name, adapters that make something else of the same raw files, into tables of another name.
    mapped: the adapter of the same data set in raw files that the mapping file at a path describes; None where they can
    be laid out in one way only. Raises UsageError for a mapping that cannot be meant.
    """

    dataset: Dataset
    version: str
    read: Callable[[RawFolder], tuple[Reading, ...]]
    simulate: Simulate
    variants: Mapping[str, Adapter] = field(default_factory=dict)
    mapped: Callable[[Path], Adapter] | None = None


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
