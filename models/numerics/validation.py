"""What estimators accept, and how they refuse the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from models.records.arrays import FloatArray, IntArray
from models.records.features import Column, FeatureKind


def check_items(items: ArrayLike, n_features: int | None = None) -> FloatArray:
    """Items as (m, d) float64; NaN is missing. Raises ValueError for another shape or for infinite values."""
    X = np.asarray(items, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"items must be a matrix (items, features), found {X.ndim} dimensions")
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(f"items have {X.shape[1]} columns, the model was fitted with {n_features}")
    if np.isinf(X).any():
        infinite = np.argwhere(np.isinf(X))
        raise ValueError(f"items hold {len(infinite)} infinite values, the first in row {infinite[0][0]}")
    return X


def check_comparisons(comparisons: ArrayLike, n_items: int) -> IntArray:
    """Comparisons as (n, 2) rows of the items.

    Raises ValueError for another shape, rows that do not exist, or an item compared with itself.
    """
    pairs = np.asarray(comparisons)
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(
            f"comparisons must be integers (comparisons, 2), winner first; found {pairs.dtype} {pairs.shape}"
        )
    if pairs.min() < 0 or pairs.max() >= n_items:
        outside = np.flatnonzero(((pairs < 0) | (pairs >= n_items)).any(axis=1))
        raise ValueError(
            f"{len(outside)} comparisons name items outside 0..{n_items - 1}, "
            f"the first five in rows {outside[:5].tolist()}"
        )
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(same):
        raise ValueError(
            f"{len(same)} comparisons set an item against itself, the first five in rows {same[:5].tolist()}"
        )
    return pairs.astype(np.int64, copy=False)


def check_columns(columns: Sequence[Column] | None, n_columns: int) -> tuple[Column, ...]:
    """The columns' descriptions; x0, x1, ... of numbers where there are none.

    Raises ValueError where their number is not that of the items' columns, or a multi_hot feature was not encoded.
    """
    if columns is None:
        names = [f"x{k}" for k in range(n_columns)]
        return tuple(Column(name=name, feature=name, kind=FeatureKind.NUMERIC) for name in names)
    if len(columns) != n_columns:
        raise ValueError(f"{len(columns)} columns are described, items have {n_columns}")
    whole = [column.name for column in columns if column.kind is FeatureKind.MULTI_HOT]
    if whole:
        raise ValueError(f"multi_hot features must be encoded as one binary column a level: {', '.join(whole)}")
    return tuple(columns)
