"""A forest of preference trees as the model of a utility over the unit cube.

One greedy tree ties many points at its top and is sure of its splits. Here each tree is grown from a bootstrap sample
of the comparisons, so that the uncertainty of the splits enters qEUBO, and hardly two points tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.active_learning import best_by_lot, near_greatest
from models.asking.box.loop import Choice
from models.asking.box.tree import TREE_CONSTRAINTS
from models.asking.forest_surrogate import average_trees, poisson_of_mean_1
from models.asking.qeubo import qeubo
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column, FeatureKind
from models.trees.growth.binning import bin_items
from models.trees.growth.grow import Growth, grow
from models.trees.growth.trees import Trees
from models.trees.leaf_fit import prior_factor

_TREE, _PAIR, _CANDIDATE = 0, 1, 2  # keys of the hashes for bootstrap samples, ties between pairs, and candidates

_COUNT = [Interval(Integral, 0, None, closed="left")]
_CANDIDATES: dict[str, list[Any]] = {"uniform": _COUNT, "best": _COUNT, "near": _COUNT, "reach": [tuple, list]}


@dataclass(frozen=True)
class CandidatePoints:
    """The points whose pairs qEUBO chooses among: uniform ones, the best compared ones, and points near those.

    near: points near each of the `best`, moved in every coordinate by normal steps. The standard deviation of the steps
    of a point is drawn log-uniformly between the two `reach`, as a share of the box's width.
    Raises ValueError for negative numbers of points, fewer than two, or a reach that is not two positive numbers.
    """

    uniform: int = 60
    best: int = 6
    near: int = 6
    reach: tuple[float, float] = (0.003, 0.1)

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_CANDIDATES, vars(self), "CandidatePoints")
        if self.uniform + self.best < 2:
            raise ValueError(f"a question needs two candidates: uniform = {self.uniform}, best = {self.best}")
        if len(self.reach) != 2 or not 0 < self.reach[0] <= self.reach[1] < np.inf:
            raise ValueError(f"reach must be two positive numbers, the smaller first, found {self.reach}")


_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: TREE_CONSTRAINTS[name] for name in ("max_depth", "ratio")},
    "n_trees": [Interval(Integral, 1, None, closed="left")],
    "candidates": [CandidatePoints],
}


@dataclass(frozen=True)
class ForestInBox:
    """Trees of bootstrapped comparisons; the next pair is the one of greatest qEUBO among candidate points.

    max_depth and ratio: as for `PreferenceTree`. Each tree counts a comparison a Poisson(1) number of times, drawn
    once: the online bootstrap. Its leaves are fitted to all comparisons, each once. The recommended point is the
    compared one with the greatest mean over trees.
    Raises ValueError for settings out of range.

    >>> learner = ForestInBox(n_trees=4).start(1, mix(0, np.arange(2)))
    >>> learner.learn(np.tile([[0.9], [0.1], [0.8], [0.3], [0.7], [0.2]], (2, 1, 1)))
    >>> bool((np.diff(learner.predict(np.array([[0.1], [0.9]]))) > 0).all())
    True
    """

    n_trees: int = 16
    candidates: CandidatePoints = CandidatePoints()
    max_depth: int | None = None
    ratio: float = 0.25

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "ForestInBox")

    def start(self, n_features: int, seeds: HashArray) -> ForestLearner:
        """See `models.asking.box.loop.BoxModel`."""
        return ForestLearner(self, seeds)


@dataclass(frozen=True, eq=False)
class _Forest:
    """The trees of t runs, T each, and their leaves. mean: (t T, leaves); covariance: (t T, leaves, leaves)."""

    trees: Trees
    n_trees: int
    mean: FloatArray
    covariance: FloatArray
    leaf_of_point: IntArray  # (t T, points)

    def at_points(self) -> FloatArray:
        """Mean utility of each compared point over the trees of its run, (t, points)."""
        means = np.take_along_axis(self.mean, self.leaf_of_point, axis=1)
        return np.asarray(means.reshape(-1, self.n_trees, means.shape[1]).mean(axis=1))

    def mean_at(self, points: FloatArray) -> FloatArray:
        """Mean utility of points (t, c, d) over the trees of each run, (t, c)."""
        means = np.take_along_axis(self.mean, self._leaf_of(points), axis=1)
        return np.asarray(means.reshape(-1, self.n_trees, means.shape[1]).mean(axis=1))

    def _leaf_of(self, points: FloatArray) -> IntArray:
        """The leaf of points (t, c, d) in each tree of their run, (t T, c)."""
        n_runs, c, d = points.shape
        everywhere = np.repeat(points, self.n_trees, axis=0)
        tree = np.repeat(np.arange(n_runs * self.n_trees), c)
        return self.trees.leaf_of(everywhere.reshape(-1, d), tree).reshape(-1, c)

    def at(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (t, c) and covariance (t, c, c) of the utilities of points (t, c, d), over the trees of each run."""
        leaf = self._leaf_of(points)
        means = np.take_along_axis(self.mean, leaf, axis=1)
        within = self.covariance[np.arange(len(leaf))[:, None, None], leaf[:, :, None], leaf[:, None]]
        return average_trees(means, within, self.n_trees)


class ForestLearner:
    """The forests of t runs: see `models.asking.box.loop.Learner`."""

    def __init__(self, settings: ForestInBox, seeds: HashArray) -> None:
        """Start without a comparison."""
        self._settings, self._seeds = settings, seeds
        self._tree_seeds = mix(mix(seeds, _TREE)[:, None], np.arange(settings.n_trees))
        self._growth = Growth(max_categories=None, tie_break="random", max_depth=settings.max_depth)

    def learn(self, points: FloatArray) -> None:
        """See `models.asking.box.loop.Learner`."""
        self._points = points
        lots = mix(self._tree_seeds[..., None], np.arange(points.shape[1] // 2))
        weights = poisson_of_mean_1(lots)
        ties = (self._tree_seeds.ravel() >> np.uint64(2)).astype(np.int64)
        self._forest = _grow(points, weights, ties, self._growth, self._settings.ratio)
        self._mean = self._forest.at_points()

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`."""
        return Choice(np.asarray(self._mean.argmax(axis=1)), near_greatest(self._mean))

    def next_pair(self) -> FloatArray:
        """The pair of greatest qEUBO among candidates that are drawn anew for each question."""
        lots = mix(self._seeds, self._points.shape[1])
        rngs = [np.random.default_rng(int(lot)) for lot in mix(lots, _CANDIDATE)]
        return _best_pair(self._forest, _candidates(self._points, self._mean, self._settings.candidates, rngs), lots)

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`."""
        return self._forest.mean_at(np.broadcast_to(points, (len(self._seeds), *points.shape)))


def _grow(points: FloatArray, weights: IntArray, seeds: IntArray, growth: Growth, ratio: float) -> _Forest:
    """Grow and fit the trees of all runs.

    points: (t, 2n, d), winners in even rows; weights: (t, T, n) how often each tree counts a comparison.
    """
    n_runs, n_trees, n_pairs = weights.shape
    n_points, d = points.shape[1:]
    items = np.repeat(points, n_trees, axis=0).reshape(-1, d)
    tree, pair = np.divmod(np.repeat(np.arange(weights.size), weights.ravel()), n_pairs)
    winner = tree * n_points + 2 * pair
    tree_of_item = np.repeat(np.arange(n_runs * n_trees), n_points)
    columns = [Column(name=str(k), feature=str(k), kind=FeatureKind.NUMERIC) for k in range(d)]
    trees = grow(
        bin_items(items, columns), np.stack([winner, winner + 1], axis=1), tree_of_item, n_runs * n_trees,
        seeds, growth,
    )  # fmt: skip
    leaf = trees.leaf_of_item.reshape(-1, n_points)
    problem = np.repeat(np.arange(len(leaf)), n_pairs)
    pairs = count_pairs(
        problem, leaf[:, ::2].ravel(), leaf[:, 1::2].ravel(), len(leaf), int(trees.n_leaves.max())
    )  # fmt: skip
    factor = prior_factor(ratio)
    mean = laplace_mode(pairs, factor)
    return _Forest(trees, n_trees, mean, laplace_covariance(pairs, mean, factor), leaf)


def _candidates(
    points: FloatArray, mean: FloatArray, candidates: CandidatePoints, rngs: list[np.random.Generator]
) -> FloatArray:
    """The candidate points of each run, (t, c, d)."""
    d = points.shape[2]
    best = np.take_along_axis(points, np.argsort(-mean, axis=1, kind="stable")[:, : candidates.best, None], axis=1)
    low, high = np.log(candidates.reach)
    found = []
    for own, rng in zip(best, rngs, strict=True):
        reach = np.exp(rng.uniform(low, high, size=(len(own), candidates.near, 1)))
        near = np.clip(own[:, None] + reach * rng.normal(size=(len(own), candidates.near, d)), 0.0, 1.0)
        found.append(np.concatenate([rng.random((candidates.uniform, d)), own, near.reshape(-1, d)]))
    return np.stack(found)


def _best_pair(forest: _Forest, points: FloatArray, lots: HashArray) -> FloatArray:
    """The pair of greatest qEUBO among candidate points (t, c, d): (t, 2, d). Ties are broken at random."""
    mean, covariance = forest.at(points)
    first, second = np.triu_indices(points.shape[1], 1)
    value = qeubo(mean, covariance, first, second)
    best = best_by_lot(value, mix(mix(lots, _PAIR)[:, None], np.arange(len(first))))
    run = np.arange(len(points))
    return np.stack([points[run, first[best]], points[run, second[best]]], axis=1)
