"""A data card: what a pairwise table is, whose, and how its values lie. No text and no id of a table is ever in it."""

from __future__ import annotations

from pydantic import Field

from models.records import Feature, Manifest, Record


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
