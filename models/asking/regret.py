"""Distance of a predicted ranking from a person's own: rho-regret and top-1 error (dt-pbo section 4.2 and G.1)."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.records.arrays import FloatArray, IntArray
from models.scores.accuracy import TIE_TOLERANCE

TOP = 3
"""Ranks that count as the top in the rho-regret."""

_CONSTRAINTS = {name: [Interval(Integral, 1, None, closed="left")] for name in ("n_items", "top")}


def position_values(n_items: int, top: int = TOP) -> FloatArray:
    """Value of each true position 1..n_items (dt-pbo Table 8): 1, 2/3, 1/3, then 1/7, 2/7, ..., 1 for ten items.

    >>> position_values(5)
    array([1.        , 0.66666667, 0.33333333, 0.5       , 1.        ])
    """
    validate_parameter_constraints(_CONSTRAINTS, {"n_items": n_items, "top": top}, "position_values")
    position = np.arange(1, n_items + 1)
    return np.where(position <= top, (top + 1 - position) / top, (position - top) / max(n_items - top, 1))


def rho_regret(true_ranks: ArrayLike, predicted_ranks: ArrayLike, *, top: int = TOP) -> FloatArray:
    """Sum of the values of the items that leave the top three and of those that enter it (G.1); (..., m) -> (...).

    true_ranks: integers 1..m without ties; predicted_ranks: from `competition_ranks`. For ten items the maximum is 4.57
    without ties in the prediction, and 6 where seven items tie for the predicted top.
    Raises ValueError for ranks that are not integers in 1..m.

    >>> rho_regret([1, 2, 3, 4, 5], [1, 2, 4, 3, 5])  # 1/3 for the item that left, 1/2 for the one that entered
    array(0.83333333)
    """
    true, predicted = _check_ranks(true_ranks, "true_ranks"), _check_ranks(predicted_ranks, "predicted_ranks")
    if true.shape[-1] != predicted.shape[-1]:
        raise ValueError(f"true_ranks are of {true.shape[-1]} items, predicted_ranks of {predicted.shape[-1]}")
    value = position_values(true.shape[-1], top)[true - 1]
    moved = (true <= top) != (predicted <= top)
    return np.asarray((value * moved).sum(axis=-1))


def top1_error(true_ranks: ArrayLike, utility: ArrayLike) -> IntArray:
    """Number of other items predicted at or above the true favourite; (..., m) -> (...).

    An item of equal utility counts, so that one leaf with all items in it does not score as perfect.
    Raises ValueError for ranks that are not integers in 1..m, for NaN, and for arrays of two shapes.

    >>> top1_error([2, 1, 3], [0.4, 0.4, -0.1])
    array(1)
    """
    true, values = _check_ranks(true_ranks, "true_ranks"), np.asarray(utility, dtype=np.float64)
    if true.shape != values.shape:
        raise ValueError(f"utility must have the shape {true.shape} of true_ranks, found {values.shape}")
    if np.isnan(values).any():
        raise ValueError(f"utility must hold numbers, found {int(np.isnan(values).sum())} NaN")
    favourite = np.take_along_axis(values, true.argmin(axis=-1)[..., None], axis=-1)
    return np.asarray((values >= favourite - TIE_TOLERANCE).sum(axis=-1) - 1)


def _check_ranks(ranks: ArrayLike, name: str) -> IntArray:
    """Ranks as integers (..., m). Raises ValueError for another type, no items, or ranks outside 1..m."""
    array = np.asarray(ranks)
    if array.ndim == 0 or array.shape[-1] == 0 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} must be integers (..., items), found {array.dtype} {array.shape}")
    outside = int(((array < 1) | (array > array.shape[-1])).sum())
    if outside:
        raise ValueError(f"{name} must lie in 1..{array.shape[-1]}, found {outside} outside")
    return array
