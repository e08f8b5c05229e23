"""A forest of preference trees. Unlike a single greedy tree, it knows how uncertain its splits are.

Each tree is grown from a bootstrap sample of the comparisons. The forest's utility is the mean over trees. Its
covariance is the mean of the covariances within the trees plus the covariance of the trees' means.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from models.gaussian.laplace import laplace_covariance
from models.numerics.validation import check_codes, check_comparisons, check_items, seed_of, words_of
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column
from models.scores.accuracy import Accuracy, accuracies
from models.trees.growth.options import CategoriesOf, Straddlers, refuse_old_words
from models.trees.growth.splits import TieBreak
from models.trees.leaf_fit import count_leaf_pairs, count_pairs_of_leaves, fit_leaves, prior_factor
from models.trees.preference_tree import PreferenceTree, PreferenceTrees
from models.trees.support import Support, split_support

LeavesFrom = Literal["all", "bootstrap"]


class PreferenceForest(BaseEstimator):  # type: ignore[misc]
    """Trees grown from bootstrapped comparisons, averaged.

    Parameters
    ----------
    columns, ratio, max_categories, categories_of, straddlers, tie_break, max_depth, min_samples_split, min_score
        As for `PreferenceTree`. By default ties of splits are broken at random, and categories of any number are split.
    n_trees
        Number of trees.
    leaves_from
        The comparisons that the leaf values of each tree are fitted to: all, or those of its bootstrap sample.
    random_state
        Seed of the bootstrap samples and of the random tie rule: an integer, a RandomState, or None for a new seed at
        every fit.

    Attributes
    ----------
    trees_
        The structure of all trees (`models.trees.growth.trees.Trees`).
    leaf_mean_
        Mean utility of every leaf, tree after tree, in units of sigma_noise.
    columns_, n_features_in_
        Descriptions of the columns, and their number.
    n_leaves_, depth_
        (n_trees,) number of leaves and depth of each tree.

    Examples
    --------
    >>> items = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> forest = PreferenceForest(n_trees=20).fit(items, [[3, 2], [2, 1], [1, 0], [3, 0], [3, 1], [2, 0]])
    >>> forest.predict(items).argsort().tolist()
    [0, 1, 2, 3]
    >>> bool(forest.predict_proba(items, [[3, 0]])[0] > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PreferenceTree._parameter_constraints,
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "leaves_from": [words_of(LeavesFrom)],
    }

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        *,
        n_trees: int = 50,
        leaves_from: LeavesFrom = "all",
        ratio: float = 0.25,
        max_categories: int | None = None,
        categories_of: CategoriesOf = "region",
        straddlers: Straddlers = "discard",
        tie_break: TieBreak = "random",
        max_depth: int | None = None,
        min_samples_split: int = 1,
        min_score: float = 0.0,
        random_state: int | RandomState | None = 0,
    ) -> None:
        self.columns = columns
        self.n_trees = n_trees
        self.leaves_from = leaves_from
        self.ratio = ratio
        self.max_categories = max_categories
        self.categories_of = categories_of
        self.straddlers = straddlers
        self.tie_break = tie_break
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_score = min_score
        self.random_state = random_state

    def fit(self, items: ArrayLike, comparisons: ArrayLike) -> Self:
        """Fit to comparisons (n, 2), rows of `items` (m, d), winner first.

        Raises ValueError for invalid parameters, and for items and comparisons as `PreferenceTree.fit` does.
        """
        refuse_old_words(self.straddlers)
        self._validate_params()
        X = check_items(items)
        pairs = check_comparisons(comparisons, len(X))
        tree = np.arange(self.n_trees)
        self._seed, self._ratio = seed_of(self.random_state), self.ratio
        rng = np.random.default_rng(self._seed % 2**64)
        drawn = rng.integers(max(len(pairs), 1), size=(self.n_trees, len(pairs)))
        sampled = self._rows(pairs[drawn], len(X))
        everything = np.tile(X, (self.n_trees, 1))
        tree_of_item = np.repeat(tree, len(X))
        grown = PreferenceTrees(self.columns, **self._growth()).fit(
            everything, sampled, tree_of_item, n_trees=self.n_trees, seeds=tree
        )
        self.columns_, self.n_features_in_ = grown.columns_, grown.n_features_in_
        self.trees_, self.leaf_mean_ = grown.trees_, grown.leaf_mean_
        self.n_leaves_, self.depth_ = grown.n_leaves_, grown.depth_
        self._first_leaf = np.cumsum(self.n_leaves_) - self.n_leaves_
        self._fitted_to = sampled.reshape(self.n_trees, -1, 2)
        if self.leaves_from == "all":
            repeated = self._rows(np.broadcast_to(pairs, (self.n_trees, *pairs.shape)), len(X))
            leaf_pairs = count_leaf_pairs(self.trees_, tree_of_item, repeated)
            self.leaf_mean_ = fit_leaves(leaf_pairs, self.trees_.n_leaves, self.ratio)
            self._fitted_to = repeated.reshape(self.n_trees, -1, 2)
        self._leaf_of_fitted_item = self.trees_.leaf_of_item
        self._fitted = (X, pairs)
        return self

    def _rows(self, pairs: IntArray, n_items: int) -> IntArray:
        """Comparisons (n_trees, n, 2) as rows of the items repeated for each tree, (n_trees n, 2)."""
        return (pairs + (np.arange(self.n_trees) * n_items)[:, None, None]).reshape(-1, 2)

    def _growth(self) -> dict[str, Any]:
        own = {"columns", "n_trees", "leaves_from"}
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name not in own}
        return parameters | {"random_state": self._seed}

    def apply(self, items: ArrayLike) -> IntArray:
        """The leaf of each item in each tree, (n_trees, m), numbered from left to right within a tree."""
        check_is_fitted(self)
        X = check_items(items, self.n_features_in_)
        check_codes(X, self.columns_)
        n_trees = len(self.n_leaves_)
        tree_of_item = np.repeat(np.arange(n_trees), len(X))
        return self.trees_.leaf_of(np.tile(X, (n_trees, 1)), tree_of_item).reshape(n_trees, len(X))

    def predict_trees(self, items: ArrayLike) -> FloatArray:
        """Mean utility of each item under each tree, (n_trees, m), in units of sigma_noise."""
        leaf = self.apply(items)
        return np.asarray(self.leaf_mean_[leaf + self._first_leaf[:, None]])

    def predict(self, items: ArrayLike) -> FloatArray:
        """Mean utility of each item over the trees, (m,), in units of sigma_noise."""
        return np.asarray(self.predict_trees(items).mean(axis=0))

    def covariance(self, items: ArrayLike) -> FloatArray:
        """Covariance of the items' utilities, (m, m): within trees, averaged, plus between trees."""
        leaf = self.apply(items)
        means = self.leaf_mean_[leaf + self._first_leaf[:, None]]
        apart = means - means.mean(axis=0)
        covariance = apart.T @ apart / len(leaf)
        for tree, own in enumerate(leaf):
            within = self._leaf_covariance(tree)
            covariance += within[np.ix_(own, own)] / len(leaf)
        return np.asarray(covariance)

    def predict_sd(self, items: ArrayLike) -> FloatArray:
        """Standard deviation of each item's utility, (m,): within trees, averaged, plus between trees.

        The square root of the diagonal of `covariance`, without the (m, m) matrix.
        """
        leaf = self.apply(items)
        means = self.leaf_mean_[leaf + self._first_leaf[:, None]]
        within = sum(np.diagonal(self._leaf_covariance(tree))[own] for tree, own in enumerate(leaf))
        return np.asarray(np.sqrt(means.var(axis=0) + within / len(leaf)))

    def _leaf_covariance(self, tree: int) -> FloatArray:
        """Posterior covariance of the leaves of a tree, (n_leaves, n_leaves), not conditioned on a zero sum."""
        n_leaves = int(self.n_leaves_[tree])
        leaf_pairs = count_pairs_of_leaves(
            self._fitted_to[tree], leaf_of_item=self._leaf_of_fitted_item, n_leaves=n_leaves
        )
        start = self._first_leaf[tree]
        mean = self.leaf_mean_[None, start : start + n_leaves]
        return np.asarray(laplace_covariance(leaf_pairs, mean, prior_factor(self._ratio))[0])

    def decision_function(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Mean utility of the first of each pair (n, 2) of item rows minus that of the second, (n,)."""
        utility = self.predict(items)
        rows = check_comparisons(pairs, len(utility))
        return np.asarray(utility[rows[:, 0]] - utility[rows[:, 1]])

    def predict_proba(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair is preferred, (n,): the mean over trees.

        A tree gives Phi(mean / sqrt(2 + variance)), with the mean and variance of the difference of the two utilities,
        and one half if both items are in one leaf.
        """
        leaf = self.apply(items)
        rows = check_comparisons(pairs, leaf.shape[1])
        total = np.zeros(len(rows))
        for tree, own in enumerate(leaf):
            S, mean = self._leaf_covariance(tree), self.leaf_mean_[self._first_leaf[tree] :]
            first, second = own[rows].T
            variance = S[first, first] + S[second, second] - 2 * S[first, second]
            total += ndtr((mean[first] - mean[second]) / np.sqrt(2.0 + variance))
        return np.asarray(total / len(leaf))

    def accuracies(self, items: ArrayLike, comparisons: ArrayLike) -> Accuracy:
        """The three accuracies on comparisons (n, 2), winner first."""
        return accuracies(self.decision_function(items, comparisons))

    def score(self, items: ArrayLike, comparisons: ArrayLike) -> float:
        """Accuracy on comparisons (n, 2), winner first; a tie counts one half."""
        return float(self.accuracies(items, comparisons).accuracy[0])

    def to_tree(self) -> PreferenceTree:
        """A single tree to read, grown by the same rules from all comparisons, once each."""
        check_is_fitted(self)
        return PreferenceTree(self.columns, **self._growth()).fit(*self._fitted)

    def split_support(self, *, n_bootstraps: int = 200, seed: int = 0) -> dict[int, Support]:
        """How often bootstraps make the splits of `to_tree`, by node (see `models.trees.support.split_support`).

        Raises ValueError for a forest that keeps straddlers.

        >>> items, pairs = np.array([[0.0], [1.0], [2.0], [3.0]]), [[2, 0], [3, 0], [2, 1], [3, 1]] * 10
        >>> PreferenceForest(n_trees=2).fit(items, pairs).split_support()[0].same
        1.0
        """
        return split_support(self.to_tree(), *self._fitted, n_bootstraps=n_bootstraps, seed=seed)
