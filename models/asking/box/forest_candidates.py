"""The points whose pairs a forest chooses among.

A forest's utility is constant in small boxes, so it has no slope to climb. Candidates are drawn where a better point
may lie: anywhere, near good points, and where good points are combined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.box.compared_points import ComparedPoints
from models.numerics.hashing import HashArray
from models.records.arrays import FloatArray, IntArray

_COUNT = [Interval(Integral, 0, None, closed="left")]
_CONSTRAINTS: dict[str, list[Any]] = {
    **dict.fromkeys(("uniform", "redrawn", "near", "crossed", "along"), _COUNT),
    "good": [Interval(Integral, 1, None, closed="left")],
    "reach": [tuple, list],
    "kept": [Interval(Integral, 2, None, closed="left")],
}
_FEW = 1.5
"""Coordinates that a move changes on average, if it does not change all of them."""
_SHORTEST, _LONGEST = 0.1, 2.0
"""Moves along the difference of two good points, as a share of it."""


@dataclass(frozen=True)
class CandidatePoints:
    """How many points of each kind are drawn for a question. The compared points of greatest mean are `good`.

    uniform: anywhere in the box. redrawn: a good point with one coordinate drawn anew. near: a good point moved by
    normal steps, half of the moves in all coordinates, half in one or two; the standard deviation of a move is drawn
    log-uniformly between the two `reach`, as a share of the box's width. Half of the points redrawn or near start at
    the best point. crossed: each coordinate from one of two good points. along: a good point moved along the difference
    of two others, which follows narrow ridges.
    kept: of all candidates, those of greatest mean plus standard deviation whose pairs are scored.
    Raises ValueError for numbers out of range, or a reach that is not two positive numbers.
    """

    uniform: int = 30
    good: int = 6
    redrawn: int = 30
    near: int = 48
    crossed: int = 16
    along: int = 32
    reach: tuple[float, float] = (0.001, 0.3)
    kept: int = 50

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "CandidatePoints")
        if self.uniform + self.redrawn + self.near + self.crossed + self.along < 1:
            raise ValueError(
                "a question needs a candidate that was not compared yet: uniform, redrawn, near, crossed or along"
            )
        if len(self.reach) != 2 or not 0 < self.reach[0] <= self.reach[1] < np.inf:
            raise ValueError(f"reach must be two positive numbers, the smaller first, found {self.reach}")

    def n_draws(self, d: int) -> int:
        """Uniform numbers that the candidates of a question need, in d dimensions."""
        return self.uniform * d + self.redrawn * 2 + self.near * (2 + 2 * d) + self.crossed * (2 + d) + self.along * 4


def candidate_points(
    settings: CandidatePoints,
    points: FloatArray,
    seen: ComparedPoints,
    mean: FloatArray,
    lots: HashArray,
    steps: Sequence[int] | None = None,
) -> FloatArray:
    """The candidates of each run, (t, c, d), the good points among them; equal ones may occur.

    points: (t, n, d) compared so far; mean: (t, n) their means; lots: (t,) decide all draws of a run; steps: (d,) if
    not None, coordinates are rounded to so many equal steps.
    """
    n_runs, _, d = points.shape
    run = np.arange(n_runs)[:, None]
    good = points[run, seen.best(mean, settings.good)]
    pool = points[run, seen.best(mean, 2 * settings.good)]
    draw = _Draws(lots, settings.n_draws(d))
    uniform = draw(settings.uniform, d)

    redrawn = _redrawn(good[:, _starts(settings.redrawn, settings.good)], draw(settings.redrawn, 2))
    low, high = np.log(settings.reach)
    reach = np.exp(low + (high - low) * draw(settings.near, 1))
    share = np.where(draw(settings.near, 1) < 0.5, 1.0, min(1.0, _FEW / d))
    lot = draw(settings.near, d)
    moves = (lot < share) | (lot == lot.min(axis=2, keepdims=True))
    near = (
        good[:, _starts(settings.near, settings.good)]
        + reach * ndtri(np.maximum(draw(settings.near, d), 2.0**-54)) * moves
    )

    one, other = np.moveaxis(_rows(draw(settings.crossed, 2), pool.shape[1]), 2, 0)
    crossed = np.where(draw(settings.crossed, d) < 0.5, pool[run, one], pool[run, other])

    lot = draw(settings.along, 4)
    start = _rows(lot[..., 0], good.shape[1])
    one, other = np.moveaxis(_rows(lot[..., 1:3], pool.shape[1]), 2, 0)
    length = _SHORTEST * (_LONGEST / _SHORTEST) ** lot[..., 3:]
    along = good[run, start] + length * (pool[run, one] - pool[run, other])

    return _in_steps(np.clip(np.concatenate([good, uniform, redrawn, near, crossed, along], axis=1), 0.0, 1.0), steps)


def one_coordinate_anew(points: FloatArray, lots: HashArray, steps: Sequence[int] | None = None) -> FloatArray:
    """Points (t, c, d), each with one coordinate drawn anew; lots and steps as for `candidate_points`.

    >>> found = one_coordinate_anew(np.full((1, 3, 4), 0.5), np.array([7], dtype=np.uint64))
    >>> (found != 0.5).sum(axis=2).tolist()
    [[1, 1, 1]]
    """
    return _in_steps(_redrawn(points, _Draws(lots, 2 * points.shape[1])(points.shape[1], 2)), steps)


def _redrawn(points: FloatArray, lot: FloatArray) -> FloatArray:
    """Points (t, c, d); lot: (t, c, 2) the coordinate and its new value."""
    d = points.shape[2]
    return np.where(_rows(lot[..., :1], d) == np.arange(d), lot[..., 1:], points)


def _in_steps(points: FloatArray, steps: Sequence[int] | None) -> FloatArray:
    return points if steps is None else np.rint(points * np.array(steps)) / np.array(steps)


def _starts(n: int, n_good: int) -> IntArray:
    """Which good point each of n candidates starts from: the best one half of them."""
    return np.where(np.arange(n) < n // 2, 0, np.arange(n) % n_good)


def _rows(lots: FloatArray, n: int) -> IntArray:
    return np.asarray((lots * n).astype(np.int64))


class _Draws:
    """Uniform numbers of each run, handed out in turn."""

    def __init__(self, lots: HashArray, n: int) -> None:
        self._drawn = np.stack([np.random.default_rng(int(lot)).random(n) for lot in lots])
        self._used = 0

    def __call__(self, *shape: int) -> FloatArray:
        """The next numbers, (t, *shape)."""
        start, self._used = self._used, self._used + int(np.prod(shape))
        return np.asarray(self._drawn[:, start : self._used].reshape(-1, *shape))
