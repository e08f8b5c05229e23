"""Standard deviations of leaf utilities, and the best and worst leaf that hold items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from models.records.arrays import FloatArray


def leaf_sd(covariance: ArrayLike) -> FloatArray:
    """Standard deviation of each leaf's utility, (L,), from their covariance (L, L).

    A variance that rounding made negative counts as zero.

    >>> leaf_sd([[0.25, 0.1], [0.1, -1e-18]]).tolist()
    [0.5, 0.0]
    """
    return np.sqrt(np.maximum(np.diagonal(np.asarray(covariance, dtype=np.float64)), 0.0))


def extreme_leaf(mean: Sequence[float], n_items: Sequence[int], *, best: bool) -> int:
    """The leaf of highest (or lowest) mean utility among those that hold items; the first of equals.

    >>> extreme_leaf([0.5, 2.0, -1.0], [3, 0, 1], best=True)
    0
    """
    held = [leaf for leaf, items in enumerate(n_items) if items]
    return (max if best else min)(held, key=lambda leaf: mean[leaf])
