"""How well utilities predict held-out comparisons: three numbers, always together (DESIGN 3.1)."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.numerics.validation import check_rows
from models.records.arrays import FloatArray

TIE_TOLERANCE = 1e-7  # utilities that agree to the solver's precision are tied, whatever the rounding

_CONSTRAINTS = {"n_groups": [Interval(Integral, 1, None, closed="left")]}


class Accuracy(NamedTuple):
    """accuracy: a tie counts one half; strict: a tie is wrong; decided: the share of comparisons that are not ties.

    Each is an array with one value per group; NaN where a group has no comparisons.
    """

    accuracy: FloatArray
    strict: FloatArray
    decided: FloatArray


def accuracies(difference: ArrayLike, group: ArrayLike | None = None, n_groups: int = 1) -> Accuracy:
    """The three accuracies in each group of comparisons.

    difference: (n,) predicted utility of the winner minus that of the loser.
    group: (n,) in [0, n_groups); one group if None.
    Raises ValueError for NaN, another shape, or a group outside the range.

    >>> accuracies([1.2, 0.0, -0.3, 0.8])
    Accuracy(accuracy=array([0.625]), strict=array([0.5]), decided=array([0.75]))
    """
    validate_parameter_constraints(_CONSTRAINTS, {"n_groups": n_groups}, "accuracies")
    gap = np.asarray(difference, dtype=np.float64)
    if gap.ndim != 1 or np.isnan(gap).any():
        raise ValueError(f"difference must be numbers (n,), found shape {gap.shape}, {int(np.isnan(gap).sum())} NaN")
    rows = np.zeros(len(gap), dtype=np.int64) if group is None else check_rows(group, "group", n_groups, len(gap))
    total = np.bincount(rows, minlength=n_groups).astype(np.float64)
    right = np.bincount(rows, weights=gap > TIE_TOLERANCE, minlength=n_groups)
    tied = np.bincount(rows, weights=np.abs(gap) <= TIE_TOLERANCE, minlength=n_groups)
    total[total == 0] = np.nan
    return Accuracy((right + 0.5 * tied) / total, right / total, 1.0 - tied / total)
