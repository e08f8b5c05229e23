"""A data card: what a pairwise table is, whose, and how its values lie. No text and no id of a table is ever in it."""

from __future__ import annotations

from pydantic import Field

from models.records.base import Record
from models.records.features import Feature, FeatureKind
from models.records.manifest import Manifest

SHOWN_LEVELS = 3


class Spread(Record):
    """How the values of a numeric feature lie, missing ones left out."""

    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    bins: tuple[int, ...] = Field(description="rows in each of equally wide bins from the minimum to the maximum")


class LevelCount(Record):
    """How many rows have a level; those of a multi_hot feature may have several."""

    label: str
    rows: int


class FeatureCard(Record):
    """One feature over the rows of its part. spread: of a numeric feature with a value; levels: of any other kind."""

    part: str = Field(description="items, users, contexts or comparisons")
    feature: Feature
    rows: int
    missing: int
    spread: Spread | None = None
    levels: tuple[LevelCount, ...] = Field(default=(), description="in the order of the feature's levels")

    @property
    def present(self) -> int:
        """Rows with a value."""
        return self.rows - self.missing

    @property
    def counts(self) -> tuple[int, ...]:
        """What a picture of the values shows a bar of: rows in each bin, or with each level as `ranked` has them."""
        return self.spread.bins if self.spread else tuple(level.rows for level in self.ranked)

    @property
    def ranked(self) -> tuple[LevelCount, ...]:
        """The levels in their order, where they have one or are but two, else the most frequent first."""
        if self.feature.kind in {FeatureKind.CATEGORICAL, FeatureKind.MULTI_HOT}:
            return tuple(sorted(self.levels, key=lambda level: -level.rows))
        return self.levels


class SideBias(Record):
    """How often the item on the left was preferred, with the 95% interval of that share (Wilson)."""

    comparisons: int
    left_wins: int
    share: float
    low: float
    high: float


class DataCard(Record):
    """What a reader has to know of a pairwise table before believing anything learned from it.

    side_bias: None where no item was presented on a side, or there is no comparison.
    """

    manifest: Manifest
    features: tuple[FeatureCard, ...]
    side_bias: SideBias | None = None


def counted(n: int, many: str) -> str:
    """`1 user`, `5,000 users`. many: the plural, which ends in s."""
    return f"{n:,} {many.removesuffix('s') if n == 1 else many}"


def state_in_words(manifest: Manifest) -> str:
    """Whose the data is: simulated, another than the published, or that."""
    if manifest.simulated:
        return "SIMULATED: made by this project, not by people"
    return "UNPINNED: a raw file is not the published one" if manifest.unpinned else "as published, by sha256"


def rows_in_words(manifest: Manifest) -> str:
    """The rows of each part."""
    return ", ".join(counted(rows, part) for part, rows in manifest.rows.items())


def read_in_words(manifest: Manifest) -> str:
    """The rows of each raw file."""
    return ", ".join(f"{counted(rows, 'rows')} of {file}" for file, rows in manifest.rows_read.items())


def dropped_in_words(manifest: Manifest) -> tuple[str, ...]:
    """How many rows are not in the table, a reason each."""
    dropped = (f"{counted(drop.rows, drop.table)}: {drop.reason}" for drop in manifest.dropped if drop.rows)
    return tuple(dropped) or ("none",)


def missing_in_words(feature: FeatureCard) -> str:
    """The share of the rows that have no value; a dash if all have one."""
    if not feature.missing:
        return "–"
    share = feature.missing / feature.rows
    return f"{share:.1%}" if share >= 0.001 else "<0.1%"


def values_in_words(feature: FeatureCard) -> str:
    """Range, median and (in brackets) middle half of the numbers, or the first levels with their share of the rows."""
    if feature.spread is not None:
        return _spread_in_words(feature.spread, feature.feature.unit)
    if not feature.present:
        return "no value"
    levels = feature.ranked
    named = levels if len(levels) <= SHOWN_LEVELS + 1 else levels[:SHOWN_LEVELS]
    words = [f"{level.label} {_percent(level.rows, feature.present)}" for level in named]
    if len(named) < len(levels):
        words.append(f"{len(levels) - len(named)} more")
    return ", ".join(words)


def _percent(rows: int, of: int) -> str:
    """Whole percents; what is not nothing is never 0%, and what is not all never 100%."""
    percent = round(100 * rows / of)
    if percent == 0 and rows:
        return "<1%"
    return ">99%" if percent == 100 and rows < of else f"{percent}%"


def _spread_in_words(spread: Spread, unit: str | None) -> str:
    lowest, lower, median, upper, highest = map(
        _number, (spread.minimum, spread.lower_quartile, spread.median, spread.upper_quartile, spread.maximum)
    )
    of_unit = f" {unit}" if unit else ""
    if spread.minimum == spread.maximum:
        return f"always {lowest}{of_unit}"
    return f"{lowest} … {highest}{of_unit}, median {median} ({lower} … {upper})"


def _number(value: float) -> str:
    """Three digits or whole, and a true minus; commas not before five digits, so that years stay years."""
    text = f"{value:.0f}" if abs(value) >= 1_000 or value == round(value) else f"{value:.3g}"
    return (f"{value:,.0f}" if abs(value) >= 10_000 else text).replace("-", "−")
