"""The point of the unit cube with the greatest expected improvement over a champion, for a batch of runs at once."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.expected_improvement import log_expected_improvement
from models.gaussian.skew.hallucination import Differences
from models.numerics.box_minimiser import minimise_in_box
from models.numerics.hashing import HashArray
from models.records.arrays import FloatArray, IntArray

_COUNT = [Interval(Integral, 0, None, closed="left")]
_CONSTRAINTS: dict[str, list[Any]] = {
    "uniform": _COUNT,
    "near": _COUNT,
    "reach": [tuple, list],
    "climbs": [Interval(Integral, 1, None, closed="left")],
}

_MAX_STEPS, _LONGEST, _SETTLED = 20, 0.2, 1e-3
_SMALLEST_VARIANCE = 1e-12  # where all is known, rounding may leave none


@dataclass(frozen=True)
class OpponentSearch:
    """Where the climbs of expected improvement start: at the best of uniform points and of points near the champion.

    The steps to near points have standard deviations drawn log-uniformly between the two `reach`, as a share of the
    box's width. climbs: the number of starts.
    Raises ValueError for negative numbers of points, fewer points than climbs, or a reach that is not two positive
    numbers.
    """

    uniform: int = 256
    near: int = 32
    reach: tuple[float, float] = (0.003, 0.1)
    climbs: int = 8

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "OpponentSearch")
        if self.uniform + self.near < self.climbs:
            raise ValueError(f"{self.climbs} climbs need as many points: uniform = {self.uniform}, near = {self.near}")
        if len(self.reach) != 2 or not 0 < self.reach[0] <= self.reach[1] < np.inf:
            raise ValueError(f"reach must be two positive numbers, the smaller first, found {self.reach}")


def best_opponent(
    process: Differences, v: FloatArray, champion: FloatArray, lots: HashArray, search: OpponentSearch
) -> FloatArray:
    """The point with the greatest expected improvement over the mean utility of the champion, (t, d), in each run.

    v: (t, n) the differences that are taken for true; champion: (t, d); lots: (t,) hashes.

    >>> process = Differences("rbf", np.array([[[[0.6], [0.1]]]]), np.array([[0.3]]), np.array([[[0.6]]]))
    >>> lots = np.zeros(1, dtype=np.uint64)
    >>> found = best_opponent(process, -np.ones((1, 1)), np.array([[0.6]]), lots, OpponentSearch())
    >>> bool(found.item() > 0.6)  # away from the loser, where less is known
    True
    """
    n_runs, d = champion.shape
    best = process.mean(champion[:, None], v)
    points = _candidates(champion, lots, search)
    value, _ = _log_improvement(process, v, best, points, np.arange(n_runs))
    top = np.argsort(-value, axis=1, kind="stable")[:, : search.climbs]
    start = np.take_along_axis(points, top[..., None], axis=1).reshape(-1, d)

    def descend(x: FloatArray, numbers: IntArray) -> tuple[FloatArray, FloatArray]:
        runs, counts = np.unique(numbers // search.climbs, return_counts=True)
        row = np.repeat(np.arange(len(runs)), counts)
        place = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
        padded = np.zeros((len(runs), counts.max(), d))
        padded[row, place] = x
        value, slope = _log_improvement(process, v, best, padded, runs)
        return -value[row, place], -slope[row, place]

    found = minimise_in_box(
        descend, start, np.zeros(d), np.ones(d), max_steps=_MAX_STEPS, longest=_LONGEST, settled=_SETTLED
    )
    winner = found.value.reshape(n_runs, -1).argmin(axis=1)
    return np.asarray(found.point.reshape(n_runs, -1, d)[np.arange(n_runs), winner])


def _candidates(champion: FloatArray, lots: HashArray, search: OpponentSearch) -> FloatArray:
    """The points of each run from which climbs may start, (t, c, d)."""
    d = champion.shape[1]
    low, high = np.log(search.reach)
    found = []
    for own, lot in zip(champion, lots, strict=True):
        rng = np.random.default_rng(int(lot))
        uniform = rng.random((search.uniform, d))
        reach = np.exp(rng.uniform(low, high, size=(search.near, 1)))
        near = np.clip(own + reach * rng.normal(size=(search.near, d)), 0.0, 1.0)
        found.append(np.concatenate([uniform, near]))
    return np.stack(found)


def _log_improvement(
    process: Differences, v: FloatArray, best: FloatArray, x: FloatArray, runs: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Log expected improvement of points x (k, c, d) of some runs (k,), (k, c), and its gradient, (k, c, d)."""
    beliefs = process.beliefs(x, v, runs if len(runs) < len(v) else slice(None))
    found = log_expected_improvement(beliefs.mean, np.maximum(beliefs.variance, _SMALLEST_VARIANCE), best[runs])
    slope = found.by_mean[..., None] * beliefs.mean_slope + found.by_variance[..., None] * beliefs.variance_slope
    return found.value, slope
