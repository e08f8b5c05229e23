"""The description of a data set: files, licence, features, published counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from models.records.features import LABEL, Feature, FeatureKind
from models.records.manifest import Licence
from models.records.plain_text import is_file_name


@dataclass(frozen=True, kw_only=True)
class RawFile:
    """One file the adapter reads.

    sha256, bytes: those of the published file; None if no copy of it is known.
    url: where the file itself can be downloaded; None if it comes in the data set's archive or by hand.
    own: whether it is the user's own file, which was never published and needs no sha256.
    Raises ValueError if the name is not the plain name of a file in the folder of raw files.
    """

    name: str
    sha256: str | None = None
    bytes: int | None = None
    url: str | None = None
    own: bool = False

    def __post_init__(self) -> None:
        """Refuse a path for a name."""
        if not is_file_name(self.name):
            raise ValueError(f"{self.name!r}: expected the plain name of a raw file, without a folder")


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A zip archive of the raw files. `max_bytes` limits the size of the unpacked files."""

    url: str
    sha256: str
    max_bytes: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Rows a publication reports for one pairwise table.

    items, comparisons: None if no publication counts them. users, contexts: None also if the table has no such part.
    """

    items: int | None = None
    comparisons: int | None = None
    users: int | None = None
    contexts: int | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """The description of a data set.

    side: 'presented' if the data shows which item stood left, 'random' if the side is drawn from a hash.
    items, users, contexts, comparisons: the features of each part; those of comparisons are flags or per-side values.
    item_texts: further string columns of the items, name to description; people are shown the column `label`.
    published: the published counts of each pairwise table, by the table's name. Without any, the data set has one
    table, named after the data set.
    other_forms: further sets of files with the same data as upstream's own, `raw`; the first complete set is read.
    fetch_by_hand: the steps for a person where no program can fetch the files.
    """

    name: str
    title: str
    citation: str
    licence: Licence
    raw: tuple[RawFile, ...]
    side: Literal["presented", "random"]
    items: tuple[Feature, ...]
    published: Mapping[str, Counts] = field(default_factory=dict)
    users: tuple[Feature, ...] | None = None
    contexts: tuple[Feature, ...] | None = None
    comparisons: tuple[Feature, ...] = ()
    item_texts: Mapping[str, str] = field(default_factory=dict)
    archive: Archive | None = None
    other_forms: tuple[tuple[RawFile, ...], ...] = ()
    fetch_by_hand: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the pairwise tables."""
        return tuple(self.published) or (self.name,)

    @property
    def private(self) -> bool:
        """Whether the items have texts beside their labels, such as patients' messages."""
        return bool(self.item_texts.keys() - {LABEL})

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
    """A numeric feature; `minimum` and `maximum` are the limits that the source gives.

    >>> numeric("height", "height of the player", unit="cm", minimum=0).unit
    'cm'
    """
    return Feature(
        name=name, kind=FeatureKind.NUMERIC, description=description, unit=unit, minimum=minimum, maximum=maximum
    )


def binary(name: str, description: str, *, false: str, true: str) -> Feature:
    """A yes-no feature with the labels of both answers.

    >>> binary("moved", "whether the person moved", false="stayed", true="moved").levels
    ('stayed', 'moved')
    """
    return Feature(name=name, kind=FeatureKind.BINARY, description=description, levels=(false, true))


def categorical(name: str, description: str, levels: tuple[str, ...]) -> Feature:
    """A feature with one of several labels.

    >>> categorical("surface", "surface of the court", ("clay", "grass")).kind
    <FeatureKind.CATEGORICAL: 'categorical'>
    """
    return Feature(name=name, kind=FeatureKind.CATEGORICAL, description=description, levels=levels)


def ordinal(name: str, description: str, levels: tuple[str, ...]) -> Feature:
    """A feature with one of several labels, in order from low to high.

    >>> ordinal("heat", "heat of the dish", ("mild", "hot")).levels
    ('mild', 'hot')
    """
    return Feature(name=name, kind=FeatureKind.ORDINAL, description=description, levels=levels)


def multi_hot(name: str, description: str, levels: tuple[str, ...]) -> Feature:
    """A feature with any number of several labels.

    >>> multi_hot("types", "types of the Pokemon", ("fire", "water")).kind
    <FeatureKind.MULTI_HOT: 'multi_hot'>
    """
    return Feature(name=name, kind=FeatureKind.MULTI_HOT, description=description, levels=levels)
