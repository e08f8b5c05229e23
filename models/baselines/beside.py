"""A study's own model beside a plain one."""

from __future__ import annotations

import numpy as np
from pydantic import Field
from scipy.stats import t

from models.records.arrays import FloatArray
from models.records.base import Record
from models.scores.comparing import Difference

LEVEL = 0.95


class Beside(Record):
    """The best of a study's models beside the best of the plain models, on the same test data.

    Best: of the highest score; the names are those of `metrics.json`.
    """

    variant: str
    model: str
    plain: str
    difference: Difference = Field(description="score of `model` minus that of `plain`")


def repeated_difference(differences: FloatArray, test_per_train: float, *, over: str) -> Difference:
    """The mean of differences (r,) found on r test parts drawn from the same data, with a 95% interval.

    The parts overlap, and so does what was fitted: the variance of the mean is (1 / r + test_per_train) times the
    variance of the differences (Nadeau and Bengio 2003), with r - 1 degrees of freedom.
    test_per_train: size of a test part over that of its training part. Raises ValueError for fewer than two.

    >>> found = repeated_difference(np.array([0.01, 0.03]), 0.125, over="other matches")
    >>> found.estimate, found.outcome
    (0.02, 'not_shown')
    """
    r = len(differences)
    if r < 2:
        raise ValueError(f"at least two differences are needed, found {r}")
    mean, variance = float(differences.mean()), float(differences.var(ddof=1))
    reach = float(t.ppf((1 + LEVEL) / 2, r - 1) * np.sqrt((1 / r + test_per_train) * variance))
    return Difference(estimate=mean, lower=mean - reach, upper=mean + reach, over=over)
