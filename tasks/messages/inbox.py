"""An inbox: the texts of each patient that a model is shown, the comparisons, and tables of features read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import read_table
from data_adapters.table.schema import table_schema
from models.records.arrays import IntArray
from models.records.feature_spec import FeatureSpec
from models.records.features import Encoded
from prompts.patient import Patient
from tasks.tables.encode import encode

Values = Mapping[str, Sequence[Any]]
"""The values of each feature by name, one for each patient in the order of the inbox; None where missing."""


@dataclass(frozen=True, eq=False)
class Inbox:
    """A table of messages and the patients who wrote them, in its order; its repr shows neither."""

    table: PairwiseTable = field(repr=False)
    patients: tuple[Patient, ...] = field(repr=False)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The patients' ids."""
        return tuple(self.table.items["item_id"].to_pylist())

    @cached_property
    def comparisons(self) -> IntArray:
        """Pairs of patients (n, 2), the more urgent one first."""
        return encode(self.table).comparisons

    @property
    def texts(self) -> list[str]:
        """All texts of patients; none of them may leave the table."""
        return [text for patient in self.patients for text in patient.texts]

    def with_features(self, specs: Sequence[FeatureSpec], values: Values) -> PairwiseTable:
        """The table whose items have these features, and no texts."""
        schema = table_schema("items", [spec.feature for spec in specs])
        columns: dict[str, Sequence[Any]] = {"item_id": self.ids, **{spec.name: values[spec.name] for spec in specs}}
        items = pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)
        return replace(self.table, items=items)

    def encoded(self, specs: Sequence[FeatureSpec], values: Values) -> Encoded:
        """The patients as a matrix of these features, and the comparisons as pairs of its rows."""
        return encode(self.with_features(specs, values))


def read_inbox(folder: Path) -> Inbox:
    """Read an inbox from the folder of its table."""
    table = read_table(folder)
    return Inbox(table, tuple(_patient(row) for row in table.items.to_pylist()))


def net_wins(comparisons: IntArray, n: int) -> IntArray:
    """Wins minus losses of each of n patients, (n,). They rank the patients as the clinicians' levels do."""
    return np.asarray(np.bincount(comparisons[:, 0], minlength=n) - np.bincount(comparisons[:, 1], minlength=n))


def _patient(row: Mapping[str, Any]) -> Patient:
    return Patient(
        age=None if row["age"] is None else int(row["age"]),
        gender=None if row["gender"] is None else ("female" if row["gender"] else "male"),
        active_problems=_entries(row["problems"]),
        diagnoses_past_year=_entries(row["diagnoses_past_year"]),
        older_diagnoses=_entries(row["diagnoses_older"]),
        medications=_entries(row["medications"]),
        medications_ended_lately=_entries(row["medications_ended"]),
        message=row["message"],
    )


def _entries(text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (text or "").split("\n")))


def is_constant(values: Sequence[Any]) -> bool:
    """Whether a feature has one value in all messages where it has one, so that no tree can split by it.

    >>> is_constant(["calm", None, "calm"]), is_constant(["calm", "worried"])
    (True, False)
    """
    return len({str(value) for value in values if value is not None}) < 2
