"""Records that several rooms share: what a feature is, what a table holds, what a run found. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Record(BaseModel):
    """Base of the records: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --------------------------------------------------------------------------------------------- features


class FeatureKind(StrEnum):
    """How the values of a feature are to be read."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    MULTI_HOT = "multi_hot"


class Feature(Record):
    """One typed feature of an item, a user, a context or a comparison.

    `levels` are labels: for a binary feature (label of false, label of true), for an ordinal one from low to high,
    for a categorical or multi_hot one in the order of their codes. A numeric feature has none.
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
    Missing is NaN. A multi_hot feature becomes one binary column a level, named `feature=level`, all with the same
    `feature`.
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


# ------------------------------------------------------------------------------------------ data sets


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


# --------------------------------------------------------------------------------------------- results


class MetricRow(Record):
    """One number a study found, beside the published one where there is one."""

    study: str
    model: str
    variant: str
    metric: str
    split: str
    at: int | None = Field(default=None, description="query number, where the metric has one")
    value: float | None
    sd: float | None = None
    n: int | None = None
    published: float | None = None
    published_source: str | None = None


class StepTime(Record):
    """How long one step of a run took."""

    step: str
    seconds: float


class AnswerTime(Record):
    """How long answers of a language model took: mean and standard deviation over those to one template."""

    template: str
    answers: int
    seconds: float
    sd: float | None = None


class RunRecord(Record):
    """Everything needed to run a study again, and to judge it: `run.json`."""

    study: str
    run_id: str
    started: datetime
    config: dict[str, Any]
    seed: int
    data: tuple[Manifest, ...]
    git_commit: str | None
    git_dirty: bool | None
    packages: dict[str, str]
    python: str
    machine: dict[str, Any]
    seconds: tuple[StepTime, ...] = ()
    answers: tuple[AnswerTime, ...] = Field(default=(), description="only of studies that ask a language model")

    @property
    def simulated(self) -> bool:
        """Whether any of the data was simulated."""
        return any(manifest.simulated for manifest in self.data)

    @property
    def unpinned(self) -> bool:
        """Whether any raw file was not the declared one."""
        return any(manifest.unpinned for manifest in self.data)
