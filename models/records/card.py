"""Data card: origin, licence, size and value distributions of a pairwise table, without any text or id of its rows."""

from __future__ import annotations

from pydantic import Field

from models.records.base import Record
from models.records.features import Feature, FeatureKind
from models.records.manifest import Manifest

SHOWN_LEVELS = 3


class Spread(Record):
    """Distribution of the values of a numeric feature; missing values are left out."""

    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    bins: tuple[int, ...] = Field(description="rows in each equally wide bin from the minimum to the maximum")


class LevelCount(Record):
    """Number of rows with a level; a row of a multi_hot feature may have several levels."""

    label: str
    rows: int


class FeatureCard(Record):
    """One feature over the rows of its part of the table.

    spread: set for a numeric feature with at least one value; levels: set for the other kinds.
    """

    part: str = Field(description="items, users, contexts or comparisons")
    feature: Feature
    rows: int
    missing: int
    spread: Spread | None = None
    levels: tuple[LevelCount, ...] = Field(default=(), description="in the order of the feature's levels")

    @property
    def present(self) -> int:
        """Number of rows with a value."""
        return self.rows - self.missing

    @property
    def counts(self) -> tuple[int, ...]:
        """Heights of the bars in a picture of the values: rows in each bin, or with each of the `ranked` levels."""
        return self.spread.bins if self.spread else tuple(level.rows for level in self.ranked)

    @property
    def ranked(self) -> tuple[LevelCount, ...]:
        """Levels of ordinal and binary features in their own order, those of other features by falling frequency."""
        if self.feature.kind in {FeatureKind.CATEGORICAL, FeatureKind.MULTI_HOT}:
            return tuple(sorted(self.levels, key=lambda level: -level.rows))
        return self.levels


class SideBias(Record):
    """Share of comparisons that the left item won, with its 95% interval (Wilson)."""

    comparisons: int
    left_wins: int
    share: float
    low: float
    high: float


DATA_CARDS = "data_cards"
"""The file of all data cards of a run, without suffix."""


class DataCard(Record):
    """What a reader must know about a pairwise table before trusting anything learned from it.

    side_bias: None where the data has no presented side, or no comparison.
    """

    manifest: Manifest
    features: tuple[FeatureCard, ...]
    side_bias: SideBias | None = None


def counted(n: int, many: str) -> str:
    """Number and noun; many: the plural, ending in s.

    >>> counted(1, "users"), counted(5000, "users")
    ('1 user', '5,000 users')
    """
    return f"{n:,} {many.removesuffix('s') if n == 1 else many}"


def state_in_words(manifest: Manifest) -> str:
    """Whether the data is simulated, unpinned (a raw file is not the published one), own, or as published."""
    if manifest.simulated:
        return "SIMULATED: made by this project, not by people"
    if manifest.unpinned:
        return "UNPINNED: a raw file is not the published one"
    return "own data: no published file to compare with" if manifest.own else "as published, by sha256"


def rows_in_words(manifest: Manifest) -> str:
    """Number of rows of each part of the table."""
    return ", ".join(counted(rows, part) for part, rows in manifest.rows.items())


def read_in_words(manifest: Manifest) -> str:
    """Number of rows read from each raw file."""
    return ", ".join(f"{counted(rows, 'rows')} of {file}" for file, rows in manifest.rows_read.items())


def dropped_in_words(manifest: Manifest) -> tuple[str, ...]:
    """Number of dropped rows for each reason."""
    dropped = (f"{counted(drop.rows, drop.table)}: {drop.reason}" for drop in manifest.dropped if drop.rows)
    return tuple(dropped) or ("none",)


def missing_in_words(feature: FeatureCard) -> str:
    """Share of the rows without a value; a dash if there are none."""
    if not feature.missing:
        return "–"
    share = feature.missing / feature.rows
    return f"{share:.1%}" if share >= 0.001 else "<0.1%"


def values_in_words(feature: FeatureCard) -> str:
    """Range, median and (in brackets) quartiles of the numbers, or the first levels with their shares of the rows."""
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
    """Whole percent; only a share of none is shown as 0%, and only a share of all as 100%."""
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
    """Three significant digits or a whole number, with a true minus sign; years get no comma."""
    text = f"{value:.0f}" if abs(value) >= 1_000 or value == round(value) else f"{value:.3g}"
    return (f"{value:,.0f}" if abs(value) >= 10_000 else text).replace("-", "−")
