"""The preference tree of dt-pbo as scikit-learn estimators: one tree, or one tree for each of many respondents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from models.gaussian.laplace import PairCounts, zero_sum_covariance
from models.numerics.validation import (
    SEED,
    check_codes,
    check_columns,
    check_comparisons,
    check_integers,
    check_items,
    check_rows,
    seed_of,
)
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column, FeatureKind
from models.scores.accuracy import Accuracy, accuracies
from models.trees.growth.binning import bin_items
from models.trees.growth.grow import Growth, grow, grow_from_batches
from models.trees.growth.options import GROWTH_CONSTRAINTS, LEAST_RATIO, CategoriesOf, Straddlers, refuse_old_words
from models.trees.growth.pairs import ArrayBatches, Batches
from models.trees.growth.splits import TieBreak
from models.trees.growth.trees import Trees
from models.trees.leaf_fit import count_leaf_pairs, count_pairs_of_leaves, fit_leaves
from models.trees.structure import Node, leaf_of
from models.trees.tree_text import tree_to_text

FORMAT = "prefstudy.preference_tree/1"


class _Grower(BaseEstimator):  # type: ignore[misc]
    """The parameters both estimators share, see `PreferenceTree`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GROWTH_CONSTRAINTS,
        "columns": [tuple, list, None],
        "ratio": [Interval(Real, LEAST_RATIO, None, closed="left")],
        "random_state": SEED,
    }

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        *,
        ratio: float = 0.25,
        max_categories: int | None = 3,
        categories_of: CategoriesOf = "region",
        straddlers: Straddlers = "discard",
        tie_break: TieBreak = "lowest",
        max_depth: int | None = None,
        min_samples_split: int = 1,
        min_score: float = 0.0,
        random_state: int | RandomState | None = 0,
    ) -> None:
        self.columns = columns
        self.ratio = ratio
        self.max_categories = max_categories
        self.categories_of = categories_of
        self.straddlers = straddlers
        self.tie_break = tie_break
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_score = min_score
        self.random_state = random_state

    def _grow(
        self, items: FloatArray, comparisons: IntArray, tree_of_item: IntArray, seeds: IntArray, growth: Growth
    ) -> tuple[Trees, PairCounts]:
        """Grow a tree for each seed; returns the trees, and their comparisons as pairs of leaves."""
        trees = grow(bin_items(items, self.columns_), comparisons, tree_of_item, len(seeds), seeds, growth)
        return trees, count_leaf_pairs(trees, tree_of_item, comparisons)

    def _prepare(self, items: FloatArray) -> Growth:
        """Check the parameters, and the columns against the items; returns the rules of growth."""
        refuse_old_words(self.straddlers)
        self._validate_params()
        self.columns_: tuple[Column, ...] = check_columns(self.columns, items.shape[1])
        self.n_features_in_ = items.shape[1]
        return Growth(
            max_categories=self.max_categories,
            categories_of=self.categories_of,
            straddlers=self.straddlers,
            tie_break=self.tie_break,
            max_depth=self.max_depth,
            min_samples_split=self.min_samples_split,
            min_score=self.min_score,
        )


class PreferenceTrees(_Grower):
    """One preference tree for each respondent, all grown and fitted at once; parameters as for `PreferenceTree`.

    Attributes: trees_ (`Trees`), leaf_mean_ (all leaves, tree after tree), n_leaves_ and depth_ (n_trees,).

    Two respondents see the same two items; the first prefers the larger one, the second the smaller one.

    >>> items, tree_of_item = [[1.0], [2.0], [1.0], [2.0]], [0, 0, 1, 1]
    >>> trees = PreferenceTrees().fit(items, [[1, 0], [2, 3]], tree_of_item)
    >>> trees.n_leaves_
    array([2, 2])
    >>> trees.predict(items, tree_of_item).round(2)
    array([-0.75,  0.75,  0.75, -0.75])
    """

    def fit(
        self,
        items: ArrayLike,
        comparisons: ArrayLike,
        tree_of_item: ArrayLike,
        *,
        n_trees: int | None = None,
        seeds: ArrayLike | None = None,
    ) -> Self:
        """Fit tree t to the comparisons among the items with tree_of_item == t.

        items: (m, d); comparisons: (n, 2) rows of items, winner first, both of one tree; tree_of_item: (m,) from zero.
        n_trees: number of trees, if the last ones have no items; seeds: (n_trees,) of the random tie rule, added to
        `random_state`; by default each tree's number. A tree does not depend on which others are fitted with it.
        Raises ValueError where a comparison joins two trees, or as `PreferenceTree.fit` does.
        """
        X = check_items(items)
        pairs = check_comparisons(comparisons, len(X))
        count = {"n_trees": [Interval(Integral, 0, None, closed="left"), None]}
        validate_parameter_constraints(count, {"n_trees": n_trees}, "PreferenceTrees.fit")
        tree = check_integers(tree_of_item, "tree_of_item", len(X))
        total = int(tree.max(initial=-1)) + 1 if n_trees is None else n_trees
        check_rows(tree, "tree_of_item", n_rows=total)
        joined = np.flatnonzero(tree[pairs[:, 0]] != tree[pairs[:, 1]])
        if len(joined):
            raise ValueError(f"{len(joined)} comparisons join items of two trees, the first is row {joined[0]}")
        growth = self._prepare(X)
        own_seeds = np.arange(total) if seeds is None else check_integers(seeds, "seeds", total)
        self.trees_, leaf_pairs = self._grow(X, pairs, tree, own_seeds + seed_of(self.random_state), growth)
        self.leaf_mean_ = fit_leaves(leaf_pairs, self.trees_.n_leaves, self.ratio)
        self.n_leaves_, self.depth_ = self.trees_.n_leaves, self.trees_.max_depth
        return self

    def predict(self, items: ArrayLike, tree_of_item: ArrayLike) -> FloatArray:
        """Mean utility of each item under its own tree, (m,)."""
        check_is_fitted(self)
        X = check_items(items, self.n_features_in_)
        check_codes(X, self.columns_)
        tree = check_rows(tree_of_item, "tree_of_item", len(self.n_leaves_), len(X))
        offsets = np.cumsum(self.n_leaves_) - self.n_leaves_
        leaf = offsets[tree] + self.trees_.leaf_of(X, tree)
        return np.asarray(self.leaf_mean_[leaf])


class PreferenceTree(_Grower):
    """A decision tree over items, grown from pairwise comparisons, with Gaussian leaves (dt-pbo 3.1-3.2).

    Parameters
    ----------
    columns
        Descriptions of the columns of `items`; all numeric if None. Categorical columns hold codes from zero. NaN is
        missing.
    ratio
        sigma_noise^2 / sigma_prior^2, the model's only hyperparameter (Appendix D); 0.001 at least.
    max_categories, categories_of, straddlers, tie_break, max_depth, min_samples_split, min_score
        The rules of growth, see `models.trees.growth.grow.Growth`.
    random_state
        Seed of the random tie rule: an integer, a RandomState, or None for a new seed at every fit.

    Attributes
    ----------
    nodes_
        The nodes in pre-order (`models.trees.structure.Node`).
    columns_, n_features_in_, n_leaves_, depth_
        Descriptions and number of the columns, number of leaves, depth of the deepest leaf.
    leaf_mean_, leaf_covariance_
        (m_l,) and (m_l, m_l): the leaves' joint Gaussian, conditioned on a zero sum, in units of sigma_noise.
    pins_
        Pairs of leaves (better, worse) whose order a person fixed, see `models.trees.editing`.

    Examples
    --------
    >>> items = [[1.0], [2.0], [3.0], [6.0]]
    >>> tree = PreferenceTree(max_depth=1).fit(items, [[3, 0], [2, 1], [3, 2], [1, 0]])
    >>> print(tree.to_text())
    x0?  (4 comparisons, score +2)
      < 1.5: utility -0.97 ± 0.80, rank 2  (1 item)
      ≥ 1.5: utility +0.97 ± 0.80, rank 1  (3 items)
    >>> tree.predict_proba(items, [[3, 0], [3, 2]]).round(2)
    array([0.82, 0.5 ])
    >>> tree.score(items, [[3, 0], [2, 1]])  # the second pair lies in one leaf: one half
    0.75
    """

    def fit(self, items: ArrayLike, comparisons: ArrayLike) -> Self:
        """Fit to comparisons (n, 2), rows of `items` (m, d), winner first.

        Raises ValueError for parameters that are not valid, shapes that do not fit, infinite values, rows that do not
        exist, or an item compared with itself.
        """
        X = check_items(items)
        pairs = check_comparisons(comparisons, len(X))
        growth = self._prepare(X)
        one_tree = np.zeros(len(X), dtype=np.int64)
        trees, leaf_pairs = self._grow(X, pairs, one_tree, np.array([seed_of(self.random_state)]), growth)
        self.nodes_ = trees.nodes_of(0)
        self.settle_leaves(fit_leaves(leaf_pairs, trees.n_leaves, self.ratio), leaf_pairs)
        return self

    def fit_batches(self, items: ArrayLike, batches: Iterable[ArrayLike] | Batches) -> Self:
        """Fit to comparisons in batches, never all in memory at once; the tree equals that of `fit` on all of them.

        items: (m, d); batches: an iterable of comparisons (n_b, 2), read from its beginning once for each level of the
        tree, or an object whose `total` sums a function over the batches (`models.trees.growth.pairs.Batches`).
        Raises ValueError as `fit` does, for a generator, and for straddlers="keep".

        >>> items = [[1.0], [2.0], [3.0], [6.0]]
        >>> batches = [np.array([[3, 0], [2, 1]]), np.array([[3, 2], [1, 0]])]
        >>> PreferenceTree(max_depth=1).fit_batches(items, batches).n_leaves_
        2
        """
        X = check_items(items)
        counted = batches if isinstance(batches, Batches) else ArrayBatches(batches, len(X))
        growth = self._prepare(X)
        trees = grow_from_batches(bin_items(X, self.columns_), counted, seed_of(self.random_state), growth)
        self.nodes_ = trees.nodes_of(0)
        n_leaves = int(trees.n_leaves[0])
        leaf_pairs = counted.total(partial(count_pairs_of_leaves, leaf_of_item=trees.leaf_of_item, n_leaves=n_leaves))
        self.settle_leaves(fit_leaves(leaf_pairs, trees.n_leaves, self.ratio), leaf_pairs)
        return self

    def settle_leaves(
        self, leaf_mean: FloatArray, pair_counts: PairCounts, pins: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Set the leaves: their means (m_l,), the pairs of leaves they were fitted to, and the pinned orders."""
        self.leaf_mean_ = leaf_mean
        self.pins_ = tuple((better, worse) for better, worse in pins)
        self.n_leaves_ = len(leaf_mean)
        self.depth_ = max(node.depth for node in self.nodes_)
        self._pair_counts = pair_counts
        self._fitted_ratio = self.ratio
        self.__dict__.pop("leaf_covariance_", None)

    @cached_property
    def leaf_covariance_(self) -> FloatArray:
        """Posterior covariance of the leaves given that they sum to zero, (m_l, m_l) (dt-pbo Proposition 2)."""
        check_is_fitted(self, "nodes_")
        return zero_sum_covariance(self._pair_counts, self.leaf_mean_, self._fitted_ratio)

    def apply(self, items: ArrayLike) -> IntArray:
        """Leaf of each item, (m,), numbered from left to right."""
        check_is_fitted(self, "nodes_")
        X = check_items(items, self.n_features_in_)
        check_codes(X, self.columns_)
        return leaf_of(self.nodes_, X)

    def predict(self, items: ArrayLike) -> FloatArray:
        """Mean utility of each item, (m,), in units of sigma_noise."""
        leaf = self.apply(items)
        return self.leaf_mean_[leaf]

    def decision_function(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Mean utility of the first of each pair (n, 2) of item rows minus that of the second, (n,)."""
        utility = self.predict(items)
        rows = check_comparisons(pairs, len(utility))
        return utility[rows[:, 0]] - utility[rows[:, 1]]

    def predict_proba(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair is preferred, (n,): Phi(mean / sqrt(2 + variance)).

        Mean and variance belong to the difference of their utilities; the 2 is the noise of both judgements. A pair
        within one leaf gets one half.
        """
        leaf = self.apply(items)
        first, second = leaf[check_comparisons(pairs, len(leaf))].T
        mean = self.leaf_mean_[first] - self.leaf_mean_[second]
        S = self.leaf_covariance_
        variance = S[first, first] + S[second, second] - 2 * S[first, second]
        probability: FloatArray = ndtr(mean / np.sqrt(2.0 + variance))
        return probability

    def accuracies(self, items: ArrayLike, comparisons: ArrayLike) -> Accuracy:
        """Accuracy, strict accuracy and decided share on comparisons (n, 2), winner first."""
        return accuracies(self.decision_function(items, comparisons))

    def score(self, items: ArrayLike, comparisons: ArrayLike) -> float:
        """Accuracy on comparisons (n, 2), winner first; a tie counts one half."""
        return float(self.accuracies(items, comparisons).accuracy[0])

    def to_text(self, *, numbered: bool = False) -> str:
        """The tree as indented text, one line per node; numbered: with the numbers of nodes and leaves."""
        check_is_fitted(self, "nodes_")
        return tree_to_text(self.nodes_, self.columns_, self.leaf_mean_, self.leaf_covariance_, numbered=numbered)

    def to_dict(self) -> dict[str, Any]:
        """The fitted tree as JSON-ready data; `from_dict` gives back an equal tree, to the last bit.

        A RandomState cannot be written: `random_state` is then None.

        >>> tree = PreferenceTree().fit([[1.0], [2.0]], [[1, 0]])
        >>> PreferenceTree.from_dict(tree.to_dict()).predict([[1.5], [3.0]]).round(2)
        array([0.75, 0.75])
        """
        check_is_fitted(self, "nodes_")
        parameters = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params().items()
            if name != "columns"
        }
        if isinstance(self.random_state, RandomState):
            parameters["random_state"] = None
        return {
            "format": FORMAT,
            "parameters": parameters,
            "columns": [column.model_dump(mode="json") for column in self.columns_],
            "nodes": [node.model_dump(mode="json") for node in self.nodes_],
            "leaf_mean": self.leaf_mean_.tolist(),
            "leaf_covariance": self.leaf_covariance_.tolist(),
            "pins": [list(pin) for pin in self.pins_],
            "leaf_pairs": [
                [int(winner), int(loser), int(count)]
                for winner, loser, count in zip(
                    self._pair_counts.winner, self._pair_counts.loser, self._pair_counts.count, strict=True
                )
            ],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Rebuild a tree from `to_dict`. Raises ValueError for another format or version."""
        if data.get("format") != FORMAT:
            raise ValueError(f"not a preference tree: expected format {FORMAT!r}, found {data.get('format')!r}")
        tree = cls(tuple(Column(**column) for column in data["columns"]), **data["parameters"])
        tree.columns_ = check_columns(tree.columns, len(data["columns"]))
        tree.n_features_in_ = len(tree.columns_)
        tree.nodes_ = tuple(Node(**node) for node in data["nodes"])
        counted = np.array(data["leaf_pairs"], dtype=np.int64).reshape(-1, 3)
        problem = np.zeros(len(counted), dtype=np.int64)
        mean = np.array(data["leaf_mean"], dtype=np.float64)
        winner, loser, count = counted.T
        counts = PairCounts(1, len(mean), problem, winner, loser, count.astype(np.float64))
        tree.settle_leaves(mean, counts, data["pins"])
        tree.leaf_covariance_ = np.array(data["leaf_covariance"], dtype=np.float64)
        return tree


def numeric_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Descriptions of numeric columns with these names.

    >>> [column.kind.value for column in numeric_columns(["height", "weight"])]
    ['numeric', 'numeric']
    """
    return tuple(Column(name=name, feature=name, kind=FeatureKind.NUMERIC) for name in names)
