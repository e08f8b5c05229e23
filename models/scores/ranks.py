"""Competition ranks of items by their utility, ties included."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from models.records.arrays import IntArray
from models.scores.accuracy import TIE_TOLERANCE


def competition_ranks(utility: ArrayLike) -> IntArray:
    """Competition rank ("1224") of each of m items, (..., m): 1 + the number of items of greater utility.

    Utilities that differ by at most `TIE_TOLERANCE` are tied. Raises ValueError for NaN.

    >>> competition_ranks([3.0, 7.0, 7.0 + 1e-12, 9.0])
    array([4, 2, 2, 1])
    """
    values = np.asarray(utility, dtype=np.float64)
    if values.ndim == 0:
        raise ValueError("utility must be numbers (..., items), found a single one")
    unknown = int(np.isnan(values).sum())
    if unknown:
        raise ValueError(f"utility must hold numbers to rank, found {unknown} NaN")
    greater = values[..., None, :] > values[..., :, None] + TIE_TOLERANCE
    return np.asarray(1 + greater.sum(axis=-1))
