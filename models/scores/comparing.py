"""What a comparison of two numbers shows, decided from the interval of their difference, and only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

import numpy as np
from pydantic import Field

from models.records.arrays import FloatArray
from models.records.base import Record
from models.scores.intervals import mean_interval

Outcome = Literal["higher", "lower", "not_shown", "unknown"]
"""higher, lower: the interval excludes zero; not_shown: it contains zero; unknown: there is no calibrated interval."""

Name = TypeVar("Name", bound=str)


class Difference(Record):
    """A number minus another, with the interval of the difference.

    lower, upper: None where no interval is known that covers the truth as often as it says; then nothing is concluded.

    >>> Difference(estimate=0.03, lower=0.01, upper=0.05, over="other users").outcome
    'higher'
    >>> Difference(estimate=0.03, lower=-0.01, upper=0.07, over="other users").outcome
    'not_shown'
    >>> Difference(estimate=0.03, over="other users").outcome
    'unknown'
    """

    estimate: float | None = Field(description="the first number minus the second; none if either is missing")
    lower: float | None = Field(default=None, description="lower bound of the 95% interval")
    upper: float | None = Field(default=None, description="upper bound of the 95% interval")
    over: str = Field(description="what the interval is over, as a plural: 'other users'")

    @property
    def outcome(self) -> Outcome:
        """What the interval shows."""
        if self.estimate is None or self.lower is None or self.upper is None:
            return "unknown"
        if not np.isfinite([self.lower, self.upper]).all():
            return "unknown"
        return "higher" if self.lower > 0 else "lower" if self.upper < 0 else "not_shown"

    @property
    def reversed(self) -> Difference:
        """The second number minus the first."""
        estimate, lower, upper = (None if each is None else -each for each in (self.estimate, self.upper, self.lower))
        return Difference(estimate=estimate, lower=lower, upper=upper, over=self.over)


def mean_difference(differences: FloatArray, *, over: str) -> Difference:
    """The mean of paired differences (n,), with its interval over other units like these; NaN are left out.

    No interval is known from fewer than two of them, or where all are the same: then nothing shows how far others vary.

    >>> mean_difference(np.array([0.1, 0.3, 0.2, 0.2, np.nan]), over="other users").outcome
    'higher'
    """
    known = differences[~np.isnan(differences)]
    mean = float(known.mean()) if len(known) else None
    if mean is None or np.ptp(known) == 0:
        return Difference(estimate=mean, over=over)
    interval = mean_interval(np.array([mean]), known.std(ddof=1, keepdims=True), np.array([len(known)]))
    return Difference(estimate=mean, lower=float(interval.lower[0]), upper=float(interval.upper[0]), over=over)


def mean_ratio(first: FloatArray, second: FloatArray, *, over: str) -> Difference:
    """The geometric mean of first over second, (n,) positive each, with its interval over other units like these.

    >>> found = mean_ratio(np.array([10.0, 20.0, 40.0]), np.array([1.0, 2.0, 2.0]), over="other functions")
    >>> round(found.estimate, 1), round(found.lower, 1), round(found.upper, 1)
    (12.6, 4.7, 34.0)
    """
    found = mean_difference(np.log(first) - np.log(second), over=over)
    estimate, lower, upper = (
        None if x is None else float(np.exp(x)) for x in (found.estimate, found.lower, found.upper)
    )
    return Difference(estimate=estimate, lower=lower, upper=upper, over=over)


def first_place(highest: Name, leads: Mapping[Name, Difference]) -> Sequence[Name]:
    """The names that share the first place: the highest one, and those it is not shown to exceed.

    leads: the difference of the highest one to each of the others.

    >>> near = Difference(estimate=0.01, lower=-0.01, upper=0.03, over="other users")
    >>> far = Difference(estimate=0.2, lower=0.1, upper=0.3, over="other users")
    >>> first_place("tree", {"coin": far, "logit": near})
    ('tree', 'logit')
    """
    return (highest, *(name for name, lead in leads.items() if lead.outcome != "higher"))
