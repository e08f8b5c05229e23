"""Intervals of what is measured on pairs of patients: pairs share patients, so patients are left out, not pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import t as students_t

from models.numerics.validation import check_comparisons
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.scores.comparing import Difference
from models.scores.intervals import LEVEL, OTHER_PATIENTS


def over_patients(
    statistic: Callable[[BoolArray], float], pairs: IntArray, n: int, *, level: float = LEVEL
) -> Difference:
    """A statistic of pairs (m, 2) of n patients, with its jackknife interval over other patients.

    statistic: takes (m,), which pairs count. Each patient in turn is left out with all of its pairs. The variance is
    (n - 1) / n times the sum of squares of what that changes, and the interval is Student's with n - 1 degrees of
    freedom. No interval is known for fewer than three patients in pairs, where a patient is in every pair, or where
    leaving patients out changes nothing: then nothing shows how far others vary.
    Raises ValueError for pairs that are no rows of n patients.

    >>> right = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    >>> pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
    >>> found = over_patients(lambda counts: right[counts].mean(), pairs, 4)
    >>> round(found.estimate, 3), round(found.lower, 3), round(found.upper, 3)
    (0.833, -0.085, 1.752)
    """
    pairs = check_comparisons(pairs, n)
    every = np.ones(len(pairs), dtype=np.bool_)
    estimate = float(statistic(every))
    kept = [~(pairs == patient).any(axis=1) for patient in np.unique(pairs)]
    if len(kept) < 3 or not all(counts.any() for counts in kept):
        return Difference(estimate=estimate, over=OTHER_PATIENTS)
    without = np.array([statistic(counts) for counts in kept])
    if np.ptp(without) == 0:
        return Difference(estimate=estimate, over=OTHER_PATIENTS)
    patients = len(without)
    error = np.sqrt((patients - 1) / patients * ((without - without.mean()) ** 2).sum())
    reach = float(students_t.ppf((1 + level) / 2, patients - 1) * error)
    return Difference(estimate=estimate, lower=estimate - reach, upper=estimate + reach, over=OTHER_PATIENTS)


def mean_over_patients(values: FloatArray, pairs: IntArray, n: int) -> Difference:
    """The mean of a value of each pair (m,), with its interval over other patients; see `over_patients`."""
    return over_patients(lambda counts: float(values[counts].mean()), pairs, n)
