"""How well utilities predict held-out comparisons: three numbers, always together (DESIGN 3.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.records.arrays import FloatArray, IntArray

TIE_TOLERANCE = 1e-7  # two leaves whose values agree to the solver's precision are tied, whatever the rounding


class Accuracy(NamedTuple):
    """accuracy: a tie counts one half; strict: a tie is wrong; decided: the share of comparisons that are not ties.

    Each is an array with one value a group; NaN where a group has no comparisons.
    """

    accuracy: FloatArray
    strict: FloatArray
    decided: FloatArray


def accuracies(difference: FloatArray, group: IntArray | None = None, n_groups: int = 1) -> Accuracy:
    """The three accuracies in each group of comparisons.

    difference: (n,) predicted utility of the winner less that of the loser.
    group: (n,) in [0, n_groups); one group if None.
    """
    if group is None:
        group = np.zeros(len(difference), dtype=np.int64)
    total = np.bincount(group, minlength=n_groups).astype(np.float64)
    right = np.bincount(group, weights=difference > TIE_TOLERANCE, minlength=n_groups)
    tied = np.bincount(group, weights=np.abs(difference) <= TIE_TOLERANCE, minlength=n_groups)
    total[total == 0] = np.nan
    return Accuracy((right + 0.5 * tied) / total, right / total, 1.0 - tied / total)
