"""A preference tree as the model of a utility over the unit cube (dt-pbo Algorithm 1, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from models.asking.active_learning import Recommendation, best_by_lot, near_greatest
from models.asking.box.loop import Choice
from models.asking.qeubo import qeubo
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import HashArray, mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.trees.growth.growing_tree import GrowingTree, Regions
from models.trees.growth.splits import TieBreak
from models.trees.leaf_fit import prior_factor

_PAIR, _PLACE, _RECOMMENDING = 0, 1, 2  # keys of the lots for the pair of leaves, for the points, for ties
_FIRST_CAPACITY = 64

TREE_CONSTRAINTS: dict[str, list[Any]] = {
    "tie_break": [StrOptions(set(get_args(TieBreak)))],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "ratio": [Interval(Real, 0, None, closed="neither")],
    "recommend": [StrOptions(set(get_args(Recommendation)))],
}
"""Valid settings of `TreeInBox`."""


@dataclass(frozen=True)
class TreeInBox:
    """One preference tree a run; the next pair is the one of greatest qEUBO over all pairs of leaves.

    tie_break and max_depth: as for `PreferenceTree`; ratio: sigma_noise^2 / sigma_prior^2. A question is a point drawn
    uniformly from each of the two leaves' boxes. recommend: which of the compared points in the best leaf, see
    `Strategy`. Many are tied there, and the paper does not say which is meant: its "mean utility value" of the
    recommended point may also be a mean over them all, which follows from `BoxCourse.tied`.
    Raises ValueError for settings out of range.

    >>> learner = TreeInBox().start(1, mix(0, np.arange(2)))
    >>> learner.learn(np.array([[[0.9], [0.1]], [[0.2], [0.8]]]))
    >>> learner.predict(np.array([[0.1], [0.9]])).argmax(axis=1).tolist()
    [1, 0]
    """

    tie_break: TieBreak = "lowest"
    max_depth: int | None = None
    ratio: float = 0.25
    recommend: Recommendation = "first"

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(TREE_CONSTRAINTS, vars(self), "TreeInBox")

    def start(self, n_features: int, seeds: HashArray) -> TreeLearner:
        """See `models.asking.box.loop.BoxModel`."""
        return TreeLearner(self, n_features, seeds)


@dataclass(frozen=True, eq=False)
class _Leaves:
    """The leaves of t trees, padded to the size of the largest, and the leaf of each point, (t, points)."""

    mean: FloatArray
    covariance: FloatArray
    of_point: IntArray
    lower: FloatArray
    upper: FloatArray
    real: BoolArray


class TreeLearner:
    """The trees of t runs, grown comparison by comparison: see `models.asking.box.loop.Learner`."""

    def __init__(self, settings: TreeInBox, n_features: int, seeds: HashArray) -> None:
        """Start without a comparison."""
        self._settings, self._seeds, self._n_pairs = settings, seeds, 0
        self._points = np.zeros((len(seeds), 0, n_features))
        self._trees: list[GrowingTree] = []

    def learn(self, points: FloatArray) -> None:
        """See `models.asking.box.loop.Learner`."""
        n_points = points.shape[1]
        if n_points > self._points.shape[1]:
            self._make_room(n_points)
        self._points[:, :n_points] = points
        for tree in self._trees:
            for pair in range(self._n_pairs, n_points // 2):
                tree.add(pair)
        self._n_pairs = n_points // 2
        self._leaves = _leaves([tree.regions() for tree in self._trees], self._settings.ratio)
        self._lots = mix(self._seeds, self._n_pairs)

    def _make_room(self, n_points: int) -> None:
        """Start again with room for more points: a growing tree keeps the array that it was given."""
        room = max(_FIRST_CAPACITY, 2 * n_points)
        self._points = np.zeros((len(self._seeds), room, self._points.shape[2]))
        self._trees = [
            GrowingTree(
                own, tie_break=self._settings.tie_break, max_depth=self._settings.max_depth,
                seed=int(seed.astype(np.int64)),
            )
            for own, seed in zip(self._points, self._seeds, strict=True)
        ]  # fmt: skip
        self._n_pairs = 0

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`. Each point was compared once: even rows won, odd rows lost."""
        tied = near_greatest(np.take_along_axis(self._leaves.mean, self._leaves.of_point, axis=1))
        n_points = tied.shape[1]
        if self._settings.recommend == "random":
            own = mix(mix(self._lots, _RECOMMENDING)[:, None], np.arange(n_points))
            return Choice(best_by_lot(tied.astype(np.float64), own), tied)
        order = np.arange(n_points)
        value = {"first": -order, "latest": order // 2 * 2 - order % 2, "most_wins": -order - n_points * (order % 2)}
        own_value = value[self._settings.recommend]
        return Choice(np.asarray(np.where(tied, own_value, -2 * n_points).argmax(axis=1)), tied)

    def next_pair(self) -> FloatArray:
        """A point from each leaf of the best pair; both from the same leaf if there is only one."""
        leaves = self._leaves
        n_runs, n_leaves = leaves.mean.shape
        first, second = np.triu_indices(n_leaves, 1)
        chosen = np.zeros((n_runs, 2), dtype=np.int64)
        if n_leaves > 1:
            both = leaves.real[:, first] & leaves.real[:, second]
            value = np.where(both, qeubo(leaves.mean, leaves.covariance, first, second), -np.inf)
            best = best_by_lot(value, mix(mix(self._lots, _PAIR)[:, None], np.arange(len(first))))
            several = leaves.real.sum(axis=1) > 1
            chosen = np.where(several[:, None], np.stack([first[best], second[best]], axis=1), 0)
        run = np.arange(n_runs)[:, None]
        lower, upper = leaves.lower[run, chosen], leaves.upper[run, chosen]
        drawn = mix(mix(self._lots, _PLACE)[:, None], np.arange(2 * lower.shape[2])).reshape(lower.shape)
        return np.asarray(lower + (upper - lower) * (drawn >> np.uint64(11)) * 2.0**-53)

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`."""
        at = points[None, :, None]
        lower, upper = self._leaves.lower[:, None], self._leaves.upper[:, None]
        inside = ((at >= lower) & ((at < upper) | (upper == 1.0))).all(axis=3) & self._leaves.real[:, None]
        return np.take_along_axis(self._leaves.mean, inside.argmax(axis=2), axis=1)


def _leaves(regions: Sequence[Regions], ratio: float) -> _Leaves:
    """The leaf values of all runs, solved together (Eq. 9-10)."""
    n_runs, sizes = len(regions), np.array([len(run.lower) for run in regions])
    of_point = np.stack([run.of_point for run in regions])
    winner, loser = of_point[:, ::2], of_point[:, 1::2]
    run_of_pair = np.repeat(np.arange(n_runs), winner.shape[1])
    pairs = count_pairs(run_of_pair, winner.ravel(), loser.ravel(), n_runs, int(sizes.max()))
    factor = prior_factor(ratio)
    mean = laplace_mode(pairs, factor)
    corners = np.zeros((2, n_runs, pairs.n_values, regions[0].lower.shape[1]))
    for run, (lower, upper, _) in enumerate(regions):
        corners[:, run, : len(lower)] = lower, upper
    real = np.arange(pairs.n_values) < sizes[:, None]
    return _Leaves(mean, laplace_covariance(pairs, mean, factor), of_point, corners[0], corners[1], real)
