"""Forests of preference trees as the surrogate of active learning: one for each user, all grown and fitted at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.active_learning import Belief
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import HashArray, mix
from models.numerics.validation import check_columns, check_integers, check_items, check_users_items
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column
from models.trees.growth.binning import Binned, bin_items
from models.trees.growth.grow import Growth, grow
from models.trees.leaf_fit import prior_factor

_WEIGHT, _TIE = 0, 1  # what a hash decides
_POISSON = np.array([0.36787944, 0.73575888, 0.91969860, 0.98101184, 0.99634015, 0.99940582])
"""Cumulative probabilities of a Poisson variable of mean 1, from 0 to 5."""
RANDOM_TIES = Growth(max_categories=None, tie_break="random")


_CONSTRAINTS = {
    "n_trees": [Interval(Integral, 1, None, closed="left")],
    "growth": [Growth],
    "ratio": [Interval(Real, 0, None, closed="neither")],
}


@dataclass(frozen=True, eq=False)
class ForestSurrogate:
    """Grows each user's trees anew from bootstraps of the user's answers.

    items: (t, m, d) the items of each user; seeds: (t,) integers, for the bootstraps and random tie breaks; ratio:
    sigma_noise^2 / sigma_prior^2. Each tree counts an answer as often as a Poisson variable of mean 1 says, drawn once
    (the online bootstrap). Its leaves are fitted to all answers, each once.
    Raises ValueError for arrays of other shapes and settings out of range.

    The mean of a belief is that over the trees; its covariance is that within trees, averaged, plus that between them.
    Items that no tree ties have utilities of their own, so no two items share a group.

    >>> from models.numerics.hashing import mix
    >>> from models.records.features import FeatureKind
    >>> columns = [Column(name="x", feature="x", kind=FeatureKind.NUMERIC)]
    >>> learn = ForestSurrogate(np.arange(4.0).reshape(1, 4, 1), columns, mix(0, np.arange(1)))
    >>> belief = learn(np.array([[[3, 0], [2, 1], [3, 1], [2, 0]]]))
    >>> bool((belief.mean[0, 2:] > belief.mean[0, :2].max()).all())
    True
    """

    items: FloatArray
    columns: Sequence[Column]
    seeds: HashArray
    n_trees: int = 12
    growth: Growth = RANDOM_TIES
    ratio: float = 0.25

    def __post_init__(self) -> None:
        """Check shapes and settings."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "ForestSurrogate")
        check_users_items(self.items)
        check_columns(tuple(self.columns), np.shape(self.items)[2])
        check_integers(self.seeds, "seeds", len(self.items))

    @cached_property
    def _binned(self) -> Binned:
        repeated = np.repeat(self.items, self.n_trees, axis=0)
        return bin_items(check_items(repeated.reshape(-1, repeated.shape[2])), self.columns)

    def __call__(self, answers: IntArray) -> Belief:
        """See `models.asking.active_learning.Surrogate`."""
        n_users, n_items, _ = np.shape(self.items)
        n_all, n_answers = n_users * self.n_trees, answers.shape[1]
        tree_seeds = mix(check_integers(self.seeds, "seeds")[:, None], np.arange(self.n_trees)).ravel()
        own = np.repeat(answers, self.n_trees, axis=0)
        drawn = mix(mix(tree_seeds, _WEIGHT)[:, None], np.arange(n_answers))
        weight = poisson_of_mean_1(drawn)
        rows = np.repeat((own + (np.arange(n_all) * n_items)[:, None, None]).reshape(-1, 2), weight.ravel(), axis=0)
        tree_of_item = np.repeat(np.arange(n_all), n_items)
        ties = (mix(tree_seeds, _TIE) >> np.uint64(2)).astype(np.int64)
        trees = grow(self._binned, rows, tree_of_item, n_all, ties, self.growth)
        leaf = trees.leaf_of_item.reshape(n_all, n_items)
        tree = np.arange(n_all)
        winner, loser = np.moveaxis(leaf[tree[:, None, None], own], 2, 0)
        pairs = count_pairs(np.repeat(tree, n_answers), winner.ravel(), loser.ravel(), n_all, int(trees.n_leaves.max()))
        factor = prior_factor(self.ratio)
        leaf_mean = laplace_mode(pairs, factor)
        leaf_covariance = laplace_covariance(pairs, leaf_mean, factor)
        means = np.take_along_axis(leaf_mean, leaf, axis=1)
        within = leaf_covariance[tree[:, None, None], leaf[:, :, None], leaf[:, None, :]]
        mean, covariance = average_trees(means, within, self.n_trees)
        return Belief(mean, covariance, np.broadcast_to(np.arange(n_items), mean.shape))


def poisson_of_mean_1(lots: HashArray) -> IntArray:
    """A draw of a Poisson variable of mean 1 for each hash, of the same shape. No draw exceeds 6 (one in 10^4 would).

    >>> lots = mix(0, np.arange(10_000))
    >>> round(float(poisson_of_mean_1(lots).mean()), 1)
    1.0
    """
    return np.searchsorted(_POISSON, (lots >> np.uint64(11)) * 2.0**-53)


def average_trees(means: FloatArray, within: FloatArray, n_trees: int) -> tuple[FloatArray, FloatArray]:
    """Mean (t, m) and covariance (t, m, m) over the n_trees trees of each of t forests.

    means: (t n_trees, m) and within: (t n_trees, m, m) of each tree. The covariance is the mean of those within trees
    plus that of the means between them.

    >>> mean, covariance = average_trees(np.array([[0.0], [2.0]]), np.array([[[1.0]], [[3.0]]]), 2)
    >>> mean.tolist(), covariance.tolist()
    ([[1.0]], [[[3.0]]])
    """
    by_tree = means.reshape(-1, n_trees, means.shape[1])
    mean = by_tree.mean(axis=1)
    apart = by_tree - mean[:, None]
    inner = within.reshape(-1, n_trees, *within.shape[1:]).mean(axis=1)
    return mean, inner + np.swapaxes(apart, 1, 2) @ apart / n_trees
