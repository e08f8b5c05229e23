"""The values of mapped features: labels of levels, numbers, and null where there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_adapters.choice.mapping import SIDE, FeatureColumn
from data_adapters.choice.mapping_file import MappingFile
from data_adapters.choice.tasks import coded
from data_adapters.source import strict
from data_adapters.source.spelling import quoted
from models.records.arrays import BoolArray

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""Python alone would also read `1_000` and `nan`."""
SINGLE_PRECISION = 1e-6
"""Stata's numbers of single precision differ by less from those that a mapping gives."""


@dataclass(frozen=True, eq=False)
class FeatureReader:
    """Reads the features of one part of a mapping: `attributes` or `respondents`."""

    table: strict.Columns
    source: MappingFile
    part: str

    def key(self, feature: FeatureColumn, key: str | None = None) -> str:
        """The mapping's key of a feature, for error messages."""
        return f"{'.'.join(filter(None, (self.part, feature.name, key)))} of {self.source.name}"

    def read(self, feature: FeatureColumn, needed: BoolArray, *, side: str = "") -> NDArray[Any]:
        """A feature of every row, (n,) objects: a number, a bool or a label; None where it is missing or not needed.

        needed: (n,) the rows in which it must be valid. side: the text that replaces {side} in the columns' names.
        Raises RawDataError for a value the mapping does not know.
        """
        if feature.indicators is not None:
            return _typed(feature, self._indicated(feature, feature.indicators, needed, side))
        assert feature.column is not None
        column = feature.column.replace(SIDE, side)
        missing = {*feature.missing, *self.source.mapping.missing}
        wanted = needed & np.array([text not in missing for text in self.table.texts[column]], dtype=np.bool_)
        if feature.levels is None:
            return _where(wanted, self._numbers(feature, column, wanted))
        return _where(wanted, _typed(feature, self._labels(feature, feature.levels, column, wanted)))

    def _labels(
        self, feature: FeatureColumn, levels: Mapping[str, str], column: str, wanted: BoolArray
    ) -> NDArray[Any]:
        labels = np.array([levels.get(text) for text in self.table.texts[column]], dtype=object)
        known = np.array([label is not None for label in labels], dtype=np.bool_)
        expected = f"one of {', '.join(map(quoted, levels))} ({self.key(feature, 'levels, missing')})"
        self.table.require(column, known | ~wanted, expected, known=levels)
        return labels

    def _indicated(
        self, feature: FeatureColumn, indicators: Mapping[str, str], needed: BoolArray, side: str
    ) -> NDArray[Any]:
        """The label of the one column that holds 1."""
        columns = [column.replace(SIDE, side) for column in indicators]
        key = self.key(feature, "indicators")
        codes = [coded(self.table, column, {"0": 0, "1": 1}, key, needed) for column in columns]
        held = np.stack(codes, axis=1)
        one = held.sum(axis=1) == 1
        self.table.require(columns[0], one | ~needed, f"1 in exactly one of {', '.join(columns)} ({key})")
        return _where(needed, np.array(list(indicators.values()), dtype=object)[held.argmax(axis=1)])

    def _numbers(self, feature: FeatureColumn, column: str, wanted: BoolArray) -> NDArray[Any]:
        texts = self.table.texts[column]
        numbers = np.array([float(text) if _is_number(text) else np.nan for text in texts])
        if feature.values is not None:
            fits = np.isclose(numbers[:, None], np.array(feature.values), rtol=SINGLE_PRECISION).any(axis=1)
            expected, key = (
                f"one of the numbers {', '.join(f'{value:g}' for value in feature.values)}",
                "values, missing",
            )
        else:
            low = -np.inf if feature.minimum is None else feature.minimum
            high = np.inf if feature.maximum is None else feature.maximum
            fits = np.isfinite(numbers) & (numbers >= low) & (numbers <= high)
            limits = "" if np.isinf([low, high]).all() else f" in [{low:g}, {high:g}]"
            expected, key = f"a number{limits}", "kind, minimum, maximum, missing"
        self.table.require(column, fits | ~wanted, f"{expected} ({self.key(feature, key)})")
        return numbers.astype(object)


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None and not re.match(strict.MORE_DIGITS, text)


def _where(wanted: BoolArray, values: NDArray[Any]) -> NDArray[Any]:
    """The values, and None in rows that are not needed."""
    found = np.full(len(values), None, dtype=object)
    found[wanted] = values[wanted]
    return found


def _typed(feature: FeatureColumn, labels: NDArray[Any]) -> NDArray[Any]:
    """The values of labels in a table: the two labels of a binary feature become False and True."""
    if feature.kind != "binary":
        return labels
    yes = feature.labels[1]
    return np.array([None if label is None else label == yes for label in labels], dtype=object)
