"""The interval of a mean over repeated random splits of one data set.

Repeated splits share their data, so that the spread of r runs over sqrt(r) shrinks with r although no data is added.
The correction of Nadeau and Bengio (2003, Machine Learning 52, 239-281) adds the ratio of tested to training data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import t as students_t

from models.records.arrays import FloatArray

LEVEL = 0.95


class RepeatedMean(NamedTuple):
    """A mean over runs, and its interval over other data of the same kind; no bounds for a single run."""

    mean: float
    lower: float | None
    upper: float | None


def mean_over_splits(values: FloatArray, ratio: float) -> RepeatedMean:
    """Mean of values (r,), one a run, with the interval mean +- t sqrt(1/r + ratio) sd.

    ratio: tested over training data of a run. With k folds, whose tested data a run pools, it is k / (k - 1): the
    variance of one fold is k times that of the pooled run, and one fold tests 1 / (k - 1) of what it is trained on.
    Raises ValueError for no values, or a ratio that is not positive.

    >>> found = mean_over_splits(np.array([0.70, 0.72, 0.74]), 0.1)
    >>> round(found.mean, 3), round(found.lower, 3), round(found.upper, 3)
    (0.72, 0.663, 0.777)
    >>> mean_over_splits(np.array([0.7]), 0.1).lower is None
    True
    """
    if values.ndim != 1 or not len(values) or not ratio > 0:
        raise ValueError(f"expected values of one or more runs and a positive ratio, found {values.shape} and {ratio}")
    mean, runs = float(values.mean()), len(values)
    if runs == 1:
        return RepeatedMean(mean, None, None)
    error = np.sqrt(1 / runs + ratio) * values.std(ddof=1)
    reach = float(students_t.ppf((1 + LEVEL) / 2, runs - 1) * error)
    return RepeatedMean(mean, mean - reach, mean + reach)
