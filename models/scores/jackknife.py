"""Intervals that follow from leaving units out, one at a time.

Pairs of patients share patients, so patients are left out, not pairs. A difference in standard deviations rests on
standard deviations that are estimated too.
"""

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
    return _jackknife(estimate, without, over=OTHER_PATIENTS, level=level)


def mean_over_patients(values: FloatArray, pairs: IntArray, n: int) -> Difference:
    """The mean of a value of each pair (m,), with its interval over other patients; see `over_patients`."""
    return over_patients(lambda counts: float(values[counts].mean()), pairs, n)


def difference_in_sds(first: FloatArray, second: FloatArray, *, over: str, level: float = LEVEL) -> Difference:
    """The mean of first minus second, (n,) paired, in standard deviations, with its jackknife interval.

    The standard deviation is the root mean square of the two over units. No interval is known for fewer than three
    units, and nothing for two numbers that do not vary.

    >>> first, second = np.array([2.0, 3.0, 4.0, 3.0]), np.array([1.0, 0.0, 1.0, 2.0])
    >>> found = difference_in_sds(first, second, over="other runs")
    >>> round(found.estimate, 2), round(found.lower, 2), round(found.upper, 2)
    (2.45, 0.2, 4.7)
    """
    n = len(first)
    estimate = float(_in_sds(first[None], second[None])[0])
    others = ~np.eye(n, dtype=np.bool_)
    without = _in_sds(*(np.broadcast_to(each, (n, n))[others].reshape(n, -1) for each in (first, second)))
    if n < 3 or not np.isfinite([estimate, *without]).all():
        return Difference(estimate=estimate if np.isfinite(estimate) else None, over=over)
    return _jackknife(estimate, without, over=over, level=level)


def _in_sds(first: FloatArray, second: FloatArray) -> FloatArray:
    """Of each row of two arrays (k, n); NaN where nothing varies or a row has fewer than two values."""
    if first.shape[1] < 2:
        return np.full(len(first), np.nan)
    sd = np.sqrt((first.var(axis=1, ddof=1) + second.var(axis=1, ddof=1)) / 2)
    return np.asarray((first - second).mean(axis=1) / np.where(sd > 0, sd, np.nan))


def _jackknife(estimate: float, without: FloatArray, *, over: str, level: float) -> Difference:
    """Student's interval of an estimate, from the estimates without each of n units."""
    n = len(without)
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    reach = float(students_t.ppf((1 + level) / 2, n - 1) * error)
    return Difference(estimate=estimate, lower=estimate - reach, upper=estimate + reach, over=over)
