"""Features as a table declares them, and the columns of the matrix that a model sees."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from numpy.typing import NDArray
from pydantic import Field, model_validator

from models.records.arrays import FloatArray, IntArray
from models.records.base import Record

LABEL = "label"
"""The text column of the items that people are shown."""


class FeatureKind(StrEnum):
    """Scale of a feature's values."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    MULTI_HOT = "multi_hot"


class Feature(Record):
    """One typed feature of an item, a user, a context or a comparison.

    `levels` are labels: for a binary feature (label of false, label of true), for an ordinal one from low to high,
    for a categorical or multi_hot one in the order of their codes. A numeric feature has none.
    Raises pydantic's ValidationError where levels repeat or do not fit the kind.

    >>> spice = Feature(name="spice", kind="ordinal", description="heat of the dish", levels=("mild", "hot"))
    >>> spice.kind
    <FeatureKind.ORDINAL: 'ordinal'>
    """

    name: str
    kind: FeatureKind
    description: str
    levels: tuple[str, ...] | None = None
    unit: str | None = None
    minimum: float | None = Field(default=None, description="smallest value the source allows, numeric features only")
    maximum: float | None = Field(default=None, description="largest value the source allows, numeric features only")

    @model_validator(mode="after")
    def _levels_fit_the_kind(self) -> Feature:
        if self.kind is FeatureKind.NUMERIC:
            if self.levels is not None:
                raise ValueError(f"feature {self.name}: a numeric feature has no levels")
        elif not self.levels:
            raise ValueError(f"feature {self.name}: a {self.kind} feature needs levels")
        elif self.kind is FeatureKind.BINARY and len(self.levels) != 2:
            raise ValueError(f"feature {self.name}: a binary feature has two levels, not {len(self.levels)}")
        if self.levels is not None and len(set(self.levels)) != len(self.levels):
            raise ValueError(f"feature {self.name}: levels repeat")
        return self


class Column(Record):
    """One column of an encoded item matrix, as a model sees it.

    numeric: the value; ordinal: the position of its level; binary: 0 or 1; categorical: the level's code.
    Missing is NaN. A multi_hot feature becomes one binary column per level, named `feature=level`, all with the same
    `feature`.

    >>> Column(name="diet=vegan", feature="diet", kind="binary").feature
    'diet'
    """

    name: str
    feature: str
    kind: FeatureKind
    levels: tuple[str, ...] | None = None
    unit: str | None = None


@dataclass(frozen=True, eq=False)
class Encoded:
    """A pairwise table as arrays: m items of d columns, n comparisons.

    items: (m, d) float64, missing is NaN; item_ids: (m,) their ids.
    comparisons: (n, 2) rows of `items`, winner first.
    users: (n,) rows of `user_ids`, the respondent of each comparison; None where the data has no users.
    """

    items: FloatArray
    columns: tuple[Column, ...]
    item_ids: NDArray[Any]
    comparisons: IntArray
    users: IntArray | None
    user_ids: NDArray[Any] | None
