"""Intervals of means, and whether they leave zero out."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import t as students_t

from models.records.arrays import FloatArray

LEVEL = 0.95
OTHER_USERS, OTHER_PATIENTS = "other users", "other patients"
"""What intervals are over."""
Sign = Literal["negative", "positive", "unclear"]


class Interval(NamedTuple):
    """Lower and upper bounds, (n,) each."""

    lower: FloatArray
    upper: FloatArray

    @property
    def signs(self) -> list[Sign]:
        """The sign of each mean; unclear where zero lies in the interval, or the interval is not known."""
        return [
            "negative" if upper < 0 else "positive" if lower > 0 else "unclear"
            for lower, upper in zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        ]

    def within(self, lowest: float, highest: float) -> Interval:
        """The part of the intervals that a number can take, such as 0 to 1 for a share.

        >>> Interval(np.array([-0.1]), np.array([0.3])).within(0.0, 1.0).lower.tolist()
        [0.0]
        """
        return Interval(np.clip(self.lower, lowest, highest), np.clip(self.upper, lowest, highest))


def mean_interval(mean: FloatArray, sd: FloatArray, n: FloatArray, *, level: float = LEVEL) -> Interval:
    """Student's intervals of means over n independent values with standard deviation sd; all arrays have one shape.

    A single value has no interval: NaN.
    Raises ValueError unless 0 < level < 1, for fewer than one value, or a negative standard deviation.

    >>> interval = mean_interval(np.array([-1.0, 0.5]), np.array([3.0, 3.0]), np.array([100, 100]))
    >>> interval.lower.round(2).tolist(), interval.upper.round(2).tolist()
    ([-1.6, -0.1], [-0.4, 1.1])
    >>> interval.signs
    ['negative', 'unclear']
    """
    if not 0 < level < 1:
        raise ValueError(f"level = {level}: expected a probability between 0 and 1")
    if (np.asarray(n) < 1).any() or (np.asarray(sd) < 0).any():
        raise ValueError("a mean needs one value at least, and a standard deviation is not negative")
    reach = students_t.ppf((1 + level) / 2, np.asarray(n) - 1) * sd / np.sqrt(n)
    return Interval(mean - reach, mean + reach)
