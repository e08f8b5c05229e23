"""Bootstrapped preference trees of many runs, and what they believe of points of the unit cube.

Trees are grown again in turn, not all after each comparison. Until then a comparison changes the leaf values of a tree
by one step of the Laplace approximation; the tree's splits stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from models.asking.forest_surrogate import poisson_of_mean_1
from models.gaussian.laplace import (
    count_pairs,
    laplace_covariance,
    laplace_mode,
    log_normal_cdf,
    probit_terms,
)
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray, IntArray
from models.trees.growth.binning import bin_items
from models.trees.growth.grow import Growth, grow
from models.trees.leaf_fit import prior_factor
from models.trees.preference_tree import numeric_columns

LeavesFrom = Literal["all", "bootstrap"]

_SQRT_2 = np.sqrt(2.0)
_STEPS = 8  # Newton steps for one number; the error is then below rounding


class TreesOfRuns:
    """T trees of each of t runs, grown from the first `n_grown` comparisons and told of those after them.

    points: (t, 2n, d), winners in even rows; seeds: (t, T). A tree's leaves have joint normal utilities: mean
    (t T, leaves) and covariance (t T, leaves, leaves).
    """

    def __init__(
        self,
        points: FloatArray,
        n_grown: int,
        seeds: HashArray,
        growth: Growth,
        ratio: float,
        leaves_from: LeavesFrom,
    ) -> None:
        self.n_trees = seeds.shape[1]
        self.n_grown, n_all, d = n_grown, seeds.size, points.shape[2]
        weights = poisson_of_mean_1(mix(seeds[..., None], np.arange(n_grown))).reshape(n_all, n_grown)
        tree, pair = np.nonzero(weights)
        items = points[(tree // self.n_trees)[:, None], 2 * pair[:, None] + np.arange(2)].reshape(-1, d)
        rows = np.arange(len(items)).reshape(-1, 2).repeat(weights[tree, pair], axis=0)
        ties = (seeds.ravel() >> np.uint64(2)).astype(np.int64)
        binned = bin_items(items, numeric_columns([str(k) for k in range(d)]))
        self._trees = grow(binned, rows, np.repeat(tree, 2), n_all, ties, growth)
        self.leaf_of_point = self.leaf_of(points[:, : 2 * n_grown])
        winner, loser = self.leaf_of_point[:, ::2].ravel(), self.leaf_of_point[:, 1::2].ravel()
        counted = np.ones(weights.size, dtype=np.int64) if leaves_from == "all" else weights.ravel()
        own = np.repeat(np.arange(n_all), n_grown)
        pairs = count_pairs(
            own.repeat(counted), winner.repeat(counted), loser.repeat(counted), n_all,
            int(self._trees.n_leaves.max()),
        )  # fmt: skip
        factor = prior_factor(ratio)
        self.mean = laplace_mode(pairs, factor)
        self.covariance = laplace_covariance(pairs, self.mean, factor)

    def leaf_of(self, points: FloatArray) -> IntArray:
        """The leaf of points (t, c, d) in each tree of their run, (t T, c)."""
        n_runs, c, d = points.shape
        everywhere = np.repeat(points, self.n_trees, axis=0)
        tree = np.repeat(np.arange(n_runs * self.n_trees), c)
        return self._trees.leaf_of(everywhere.reshape(-1, d), tree).reshape(-1, c)

    def add(self, pair: FloatArray) -> None:
        """Take one more comparison of each run, (t, 2, d), winner first.

        The mode moves along the covariance with the difference of the two leaves; its curvature is added to the
        precision (a rank-one update). The other comparisons count with the curvature they had.
        """
        leaf = self.leaf_of(pair)
        self.leaf_of_point = np.concatenate([self.leaf_of_point, leaf], axis=1)
        tree, (winner, loser) = np.arange(len(leaf)), leaf.T
        shared = self.covariance[tree, :, winner] - self.covariance[tree, :, loser]
        variance = shared[tree, winner] - shared[tree, loser]
        before = self.mean[tree, winner] - self.mean[tree, loser]
        after = before
        for _ in range(_STEPS):
            slope, curvature = _likelihood(after)
            after = after - (after - before - variance * slope) / (1.0 + variance * curvature)
        slope, curvature = _likelihood(after)
        self.mean = self.mean + shared * slope[:, None]
        known = curvature / (1.0 + curvature * variance)
        self.covariance -= known[:, None, None] * shared[:, :, None] * shared[:, None]

    def values(self, leaf: IntArray) -> FloatArray:
        """The mean of each tree in its leaves (t T, c): (t, T, c)."""
        means = np.take_along_axis(self.mean, leaf, axis=1)
        return means.reshape(-1, self.n_trees, leaf.shape[1])

    def variance_within(self, leaf: IntArray) -> FloatArray:
        """Sum over the trees of a run of the variances of their leaves (t T, c): (t, c)."""
        own = np.take_along_axis(np.diagonal(self.covariance, axis1=1, axis2=2), leaf, axis=1)
        return np.asarray(own.reshape(-1, self.n_trees, leaf.shape[1]).sum(axis=1))

    def covariance_within(self, leaf: IntArray) -> FloatArray:
        """Sum over the trees of a run of the covariances of their leaves (t T, c): (t, c, c)."""
        own = self.covariance[np.arange(len(leaf))[:, None, None], leaf[:, :, None], leaf[:, None]]
        return np.asarray(own.reshape(-1, self.n_trees, *own.shape[1:]).sum(axis=1))


def _likelihood(difference: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slope of log Phi(difference / sqrt 2) and minus its curvature."""
    z = difference / _SQRT_2
    ratio, weight = probit_terms(z, log_normal_cdf(z))
    return ratio / _SQRT_2, 0.5 * weight


class Forest:
    """All trees of t runs, in groups that are grown together; `n_pairs` comparisons are known.

    seeds: (t, T) of the trees. Tree k is grown again after every `regrow_every`-th comparison, in turn; while there are
    few comparisons, after each.
    """

    def __init__(
        self, seeds: HashArray, regrow_every: int, growth: Growth, ratio: float, leaves_from: LeavesFrom
    ) -> None:
        self._seeds, self._growth, self._ratio, self._leaves_from = seeds, growth, ratio, leaves_from
        self._groups: list[TreesOfRuns | None] = [None] * min(regrow_every, seeds.shape[1])
        self._n_pairs = 0

    def learn(self, points: FloatArray) -> None:
        """Take all comparisons so far, (t, 2n, d); those of an earlier call are the first of the next one."""
        n = points.shape[1] // 2
        every = len(self._groups)
        for turn, earlier in enumerate(self._groups):
            group = earlier
            n_grown = n if n <= 4 * every else n - (n - turn) % every
            known = self._n_pairs
            if group is None or group.n_grown != n_grown or known > n:
                group = TreesOfRuns(
                    points, n_grown, self._seeds[:, turn::every], self._growth, self._ratio, self._leaves_from
                )
                self._groups[turn], known = group, n_grown
            for pair in range(known, n):
                group.add(points[:, 2 * pair : 2 * pair + 2])
        self._n_pairs = n

    @property
    def _grown(self) -> Sequence[TreesOfRuns]:
        return [group for group in self._groups if group is not None]

    def at_compared_points(self) -> FloatArray:
        """Mean utility of each compared point over the trees of its run, (t, 2n)."""
        return np.asarray(_joined([group.values(group.leaf_of_point) for group in self._grown]).mean(axis=1))

    def mean_at(self, points: FloatArray) -> FloatArray:
        """Mean utility of points (t, c, d) over the trees of their run, (t, c)."""
        return np.asarray(_joined([group.values(group.leaf_of(points)) for group in self._grown]).mean(axis=1))

    def most_promising(self, points: FloatArray, n: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Of points (t, c, d) the first, and the n - 1 with the greatest mean plus standard deviation over trees.

        Returns their positions (t, n), the means (t, n) and the covariance (t, n, n): that within trees, averaged, plus
        that between trees.
        """
        leaves = [group.leaf_of(points) for group in self._grown]
        values = _joined([group.values(leaf) for group, leaf in zip(self._grown, leaves, strict=True)])
        within = sum(group.variance_within(leaf) for group, leaf in zip(self._grown, leaves, strict=True))
        promise = values.mean(axis=1) + np.sqrt(values.var(axis=1) + within / values.shape[1])
        promise[:, 0] = np.inf
        kept = np.argsort(-promise, axis=1, kind="stable")[:, :n]
        values = np.take_along_axis(values, kept[:, None], axis=2)
        leaves = [
            np.take_along_axis(leaf, np.repeat(kept, group.n_trees, axis=0), axis=1)
            for group, leaf in zip(self._grown, leaves, strict=True)
        ]
        mean = values.mean(axis=1)
        apart = values - mean[:, None]
        covariance = np.swapaxes(apart, 1, 2) @ apart
        for group, leaf in zip(self._grown, leaves, strict=True):
            covariance += group.covariance_within(leaf)
        return kept, mean, covariance / values.shape[1]


def _joined(values: list[FloatArray]) -> FloatArray:
    return np.concatenate(values, axis=1)
