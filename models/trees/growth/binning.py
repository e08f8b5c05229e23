"""Items sorted by each column, and feature values as ranks: the input of growth, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.numerics.validation import check_codes
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column, FeatureKind

MISSING = -1
CodeArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Binned:
    """Items, sorted by every column.

    items: (m, d) the values themselves.
    orders: for each column (m,) the items in ascending order of their values, missing values first.
    codes: for each column (m,) in that order, the rank of each value among the distinct values of the column; for a
        categorical column the category's own code; MISSING for a missing value.
    values: for each column its sorted distinct values, indexed by code; 0..C-1 for a categorical column.
    categorical: (d,) whether a column is split by sets rather than by a threshold.
    """

    items: FloatArray
    orders: tuple[IntArray, ...]
    codes: tuple[CodeArray, ...]
    values: tuple[FloatArray, ...]
    categorical: tuple[bool, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return len(self.values)


def bin_items(items: FloatArray, columns: Sequence[Column]) -> Binned:
    """Sort `items` (m, d) by each of their columns.

    Raises ValueError where there are no columns, or a categorical one holds anything but whole numbers from zero.

    >>> from models.numerics.validation import check_columns
    >>> binned = bin_items(np.array([[3.0], [1.0], [3.0]]), check_columns(None, 1))
    >>> binned.orders[0], binned.codes[0], binned.values[0]
    (array([1, 0, 2]), array([0, 1, 1], dtype=int32), array([1., 3.]))
    """
    if not columns:
        raise ValueError("items must have a column at least, found none to split on")
    check_codes(items, columns)
    orders, codes, values = [], [], []
    for k, column in enumerate(columns):
        order, ranks, distinct = _ranked(np.ascontiguousarray(items[:, k]))
        if column.kind is FeatureKind.CATEGORICAL:
            ranks, distinct = _as_categories(ranks, distinct)
        orders.append(order)
        codes.append(ranks)
        values.append(distinct)
    categorical = tuple(column.kind is FeatureKind.CATEGORICAL for column in columns)
    return Binned(items, tuple(orders), tuple(codes), tuple(values), categorical)


def _ranked(values: FloatArray) -> tuple[IntArray, CodeArray, FloatArray]:
    order, ordered, n_missing = _sorted(values)
    known = ordered[: len(ordered) - n_missing]
    changes = known[1:] != known[:-1]
    if changes.all():
        ranks, distinct = np.arange(len(known), dtype=np.int32), known
    else:
        first = np.r_[True, changes]
        ranks, distinct = (np.cumsum(first) - 1).astype(np.int32), np.compress(first, known)
    if n_missing:
        order = np.roll(order, n_missing)
        ranks = np.r_[np.full(n_missing, MISSING, dtype=np.int32), ranks]
    return order, ranks, distinct


def _sorted(values: FloatArray) -> tuple[IntArray, FloatArray, int]:
    """The order that sorts values, NaN last; the values in that order; and the number of NaN.

    Sorting numbers is several times faster than sorting their positions. So the low bits of each value are replaced by
    its position, and these numbers are sorted. The few values that differ only in their low bits are then sorted again.
    """
    missing = np.isnan(values)
    n_missing = int(np.count_nonzero(missing))
    packed = (np.where(missing, np.nan, values) if n_missing else values.copy()).view(np.int64)
    negative = packed >> 63
    negative &= np.int64(0x7FFF_FFFF_FFFF_FFFF)
    packed ^= negative  # integers now order as the floats do
    low_bits = np.int64((1 << max(len(values) - 1, 1).bit_length()) - 1)
    packed &= ~low_bits
    packed |= np.arange(len(values))
    packed.sort()
    order = packed & low_bits
    ordered = values.take(order)
    falls = np.flatnonzero(ordered[1:] < ordered[:-1])
    if len(falls):
        leading = np.unique(packed.take(falls) & ~low_bits)
        starts, ends = packed.searchsorted(leading), packed.searchsorted(leading | low_bits, side="right")
        unsure = np.concatenate([np.arange(*run) for run in zip(starts, ends, strict=True)])
        order[unsure] = order[unsure].take(np.argsort(ordered.take(unsure), kind="stable"))
        ordered[unsure] = values.take(order.take(unsure))
    return order, ordered, n_missing


def _as_categories(ranks: CodeArray, distinct: FloatArray) -> tuple[CodeArray, FloatArray]:
    whole = distinct.astype(np.int32)
    codes = np.where(ranks == MISSING, MISSING, np.append(whole, MISSING)[ranks])
    return codes.astype(np.int32), np.arange(int(whole.max(initial=-1)) + 1, dtype=np.float64)
