"""Feature values as ranks: what every level of a tree's growth works on instead of floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.records import Column, FeatureKind, FloatArray, IntArray

MISSING = -1


@dataclass(frozen=True, eq=False)
class Binned:
    """Items as ranks.

    codes: (d, m) rank of each value among the distinct values of its column, MISSING where it is missing;
        for a categorical column the category's own code.
    orders: (d, m) items sorted by code, the missing first.
    values: for each column its sorted distinct values; a rank indexes them. For a categorical column 0..C-1.
    categorical: (d,) whether a column is split by sets rather than by a threshold.
    """

    codes: NDArray[np.int32]
    orders: IntArray
    values: tuple[FloatArray, ...]
    categorical: tuple[bool, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return len(self.values)


def bin_items(items: FloatArray, columns: Sequence[Column]) -> Binned:
    """Rank the values of each column of `items` (m, d).

    Raises ValueError where a categorical column holds anything but whole numbers from zero.
    """
    codes = np.empty((items.shape[1], items.shape[0]), dtype=np.int32)
    orders = np.empty(codes.shape, dtype=np.int64)
    values = []
    for k, column in enumerate(columns):
        of_column = _category_codes if column.kind is FeatureKind.CATEGORICAL else _ranks
        codes[k], orders[k], distinct = of_column(np.ascontiguousarray(items[:, k]), column.name)
        values.append(distinct)
    categorical = tuple(column.kind is FeatureKind.CATEGORICAL for column in columns)
    return Binned(codes, orders, tuple(values), categorical)


def _ranks(values: FloatArray, name: str) -> tuple[NDArray[np.int32], IntArray, FloatArray]:
    order = np.argsort(values)  # NaN sorts last
    ordered = values.take(order)
    known = len(ordered) - int(np.isnan(ordered).sum())
    first = np.empty(known, dtype=bool)
    if known:
        first[0] = True
        np.not_equal(ordered[1:known], ordered[: known - 1], out=first[1:])
    codes = np.full(len(values), MISSING, dtype=np.int32)
    codes[order[:known]] = np.cumsum(first) - 1
    return codes, np.concatenate([order[known:], order[:known]]), np.compress(first, ordered[:known])


def _category_codes(values: FloatArray, name: str) -> tuple[NDArray[np.int32], IntArray, FloatArray]:
    known = ~np.isnan(values)
    codes = np.full(len(values), MISSING, dtype=np.int32)
    codes[known] = values[known]
    if (codes[known] != values[known]).any() or (codes[known] < 0).any():
        raise ValueError(f"column {name}: a categorical column holds whole numbers from zero (or NaN where missing)")
    size = int(codes.max(initial=-1)) + 1
    return codes, np.argsort(codes, kind="stable"), np.arange(size, dtype=np.float64)
