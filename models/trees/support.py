"""How far a tree's splits can be relied on: bootstrap support of each, and Proposition 1's bound (dt-pbo 3.1, C.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from models.numerics.validation import check_codes, check_comparisons, check_items
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.features import FeatureKind
from models.trees.growth.binning import MISSING, Binned, CodeArray, bin_items
from models.trees.growth.splits import Candidates, Ties, category_splits, threshold_splits
from models.trees.preference_tree import PreferenceTree
from models.trees.structure import Node, goes_left

_COUNT = [Interval(Integral, 0, None, closed="left")]
_BOUND: dict[str, list[Any]] = {
    "n_comparisons": _COUNT,
    "n_candidates": _COUNT,
    "confidence": [Interval(Real, 0, 1, closed="neither")],
}
_SUPPORT: dict[str, list[Any]] = {
    "tree": [PreferenceTree],
    "n_bootstraps": [Interval(Integral, 1, None, closed="left")],
    "seed": _COUNT,
}


class Support(NamedTuple):
    """How often bootstraps of a node's comparisons make the same split, as shares of the bootstraps.

    same: the same feature, and a threshold at most one step away among the node's own values; for categories, the same
    ones on the other side. feature: the same feature, whatever the threshold. thresholds: the central 90% of the
    thresholds of those that split the same feature; None for categories.
    """

    same: float
    feature: float
    thresholds: tuple[float, float] | None


def score_bound(n_comparisons: int, n_candidates: int, *, confidence: float = 0.95) -> float:
    """How far any of a node's consistency scores may lie from its true value (dt-pbo Proposition 1).

    The smallest epsilon with 2 |T| exp(-N epsilon^2 / 2) <= 1 - confidence, at most 1: no score differs by more.
    Raises ValueError for negative or fractional counts, and unless 0 < confidence < 1.

    >>> round(score_bound(1_000, 50), 3)
    0.123
    """
    found = {"n_comparisons": n_comparisons, "n_candidates": n_candidates, "confidence": confidence}
    validate_parameter_constraints(_BOUND, found, "score_bound")
    if n_comparisons < 1 or n_candidates < 1:
        return 1.0
    return float(min(1.0, np.sqrt(2.0 * np.log(2.0 * n_candidates / (1.0 - confidence)) / n_comparisons)))


def split_support(
    tree: PreferenceTree, items: ArrayLike, comparisons: ArrayLike, *, n_bootstraps: int = 200, seed: int = 0
) -> dict[int, Support]:
    """Support of each split of a tree, by the node's number in `tree.nodes_`.

    items (m, d) and comparisons (n, 2) are those the tree was fitted to. A node is taken as given: the comparisons that
    reach it are drawn anew with replacement, and its best split is chosen again among the node's own candidates, ties
    at random. Costs O(n + d m) a bootstrap and level of the tree.
    Raises ValueError for a tree that keeps straddlers, whose nodes hold comparisons for single features only, and for
    other items or comparisons than those of the fit where their number shows it.

    >>> items, pairs = np.array([[0.0], [1.0], [2.0], [3.0]]), [[2, 0], [3, 0], [2, 1], [3, 1]] * 10
    >>> split_support(PreferenceTree().fit(items, pairs), items, pairs)
    {0: Support(same=1.0, feature=1.0, thresholds=(1.5, 1.5))}
    """
    given = {"tree": tree, "n_bootstraps": n_bootstraps, "seed": seed}
    validate_parameter_constraints(_SUPPORT, given, "split_support")
    check_is_fitted(tree)
    if tree.straddlers != "discard":
        raise ValueError("split support is defined for trees that discard straddlers")
    X = check_items(items, tree.n_features_in_)
    check_codes(X, tree.columns_)
    pairs = check_comparisons(comparisons, len(X))
    root = tree.nodes_[0]
    if (len(X), len(pairs)) != (root.n_items, root.n_comparisons):
        raise ValueError(
            f"the tree was fitted to {root.n_items} items and {root.n_comparisons} comparisons, "
            f"found {len(X)} and {len(pairs)}"
        )
    rng = np.random.default_rng(seed)
    node_of_item = np.zeros(len(X), dtype=np.int64)
    found: dict[int, Support] = {}
    for depth in range(tree.depth_):
        nodes = [node for node in tree.nodes_ if node.depth == depth and node.leaf is None]
        level = _Level.of(tree, nodes, X, pairs, node_of_item)
        found |= dict(zip([node.id for node in nodes], level.support(n_bootstraps, rng), strict=True))
        node_of_item = _below(nodes, X, node_of_item)
    return found


def _below(nodes: Sequence[Node], X: FloatArray, node_of_item: IntArray) -> IntArray:
    """The node of each item, one level down from these nodes."""
    below = node_of_item.copy()
    for node in nodes:
        own = np.flatnonzero(node_of_item == node.id)
        below[own] = np.where(goes_left(node, X[own, node.column]), node.left or 0, node.right or 0)
    return below


@dataclass(frozen=True, eq=False)
class _Level:
    """The v inner nodes of one depth, with their pairs and the e entries: an item in a node, compared there.

    pairs: (n, 2) entries, winner first, sorted by node; counts: (v,) the pairs of each node. starts: (v + 1,) where the
    entries of each node begin in every order. orders, codes: for each column (e,) the entries sorted by node and value,
    and the codes of these values. allowed: (d, v) whether the node may be split on the column.
    """

    nodes: Sequence[Node]
    binned: Binned
    pairs: IntArray
    counts: IntArray
    starts: IntArray
    orders: Sequence[IntArray]
    codes: Sequence[CodeArray]
    allowed: BoolArray

    @classmethod
    def of(
        cls, tree: PreferenceTree, nodes: Sequence[Node], X: FloatArray, pairs: IntArray, node_of_item: IntArray
    ) -> _Level:
        place_of = np.full(len(tree.nodes_), -1)
        place_of[[node.id for node in nodes]] = np.arange(len(nodes))
        place = place_of[node_of_item]
        winner, loser = place[pairs].T
        own = pairs[(winner >= 0) & (winner == loser)]
        own = own[np.argsort(place[own[:, 0]], kind="stable")]
        counts = np.bincount(place[own[:, 0]], minlength=len(nodes))
        if not counts.all():
            raise ValueError(
                f"no comparison reaches node {nodes[int(counts.argmin())].id}: the tree was fitted to others"
            )
        entries = np.unique(own)
        node = place[entries]
        binned = bin_items(X[entries], tree.columns_)
        by_node = [np.argsort(node[order], kind="stable") for order in binned.orders]
        region = np.flatnonzero(place >= 0) if tree.categories_of == "region" else entries
        return cls(
            nodes=nodes,
            binned=binned,
            pairs=np.searchsorted(entries, own),
            counts=counts,
            starts=np.r_[0, np.cumsum(np.bincount(node, minlength=len(nodes)))],
            orders=[order[rows] for order, rows in zip(binned.orders, by_node, strict=True)],
            codes=[code[rows] for code, rows in zip(binned.codes, by_node, strict=True)],
            allowed=_allowed(tree, X[region], place[region], len(nodes)),
        )

    def support(self, n_bootstraps: int, rng: np.random.Generator) -> list[Support]:
        """The support of the split of each node."""
        own_column = np.array([node.column for node in self.nodes])
        own_splits = [_OwnSplit.of(self, at) for at in range(len(self.nodes))]
        first, width = np.repeat(np.cumsum(self.counts) - self.counts, self.counts), np.repeat(self.counts, self.counts)
        same, feature = np.zeros((2, len(self.nodes)), dtype=np.int64)
        thresholds: list[list[float]] = [[] for _ in self.nodes]
        for _ in range(n_bootstraps):
            drawn = first + (rng.random(len(self.pairs)) * width).astype(np.int64)
            wins, losses = (np.bincount(side, minlength=self.starts[-1]) for side in self.pairs[drawn].T)
            column, found = self._best(wins - losses, rng)
            agrees = column == own_column
            feature += agrees
            for at in np.flatnonzero(agrees).tolist():
                own, candidates = own_splits[at], found[column[at]]
                if candidates.left_sets is not None:
                    same[at] += own.divides_alike(candidates.left_sets.of(at))
                else:
                    step, threshold = own.step_of(int(candidates.position[at]) - int(self.starts[at]))
                    same[at] += abs(step - own.step) <= 1
                    thresholds[at].append(threshold)
        return [
            Support(float(same[at] / n_bootstraps), float(feature[at] / n_bootstraps), _central(thresholds[at]))
            for at in range(len(self.nodes))
        ]

    def _best(self, surplus: IntArray, rng: np.random.Generator) -> tuple[IntArray, list[Candidates]]:
        """The column that each node is split on, (v,), -1 where no split has a positive score, and all candidates."""
        v = len(self.nodes)
        hashes = rng.integers(2**63, size=v).astype(np.uint64)
        found = []
        for k, (order, codes) in enumerate(zip(self.orders, self.codes, strict=True)):
            ties = Ties("random", hashes, k, np.ones(v))
            in_order = surplus[order]
            found.append(
                category_splits(in_order, codes, self.starts, self.allowed[k], ties)
                if self.binned.categorical[k]
                else threshold_splits(in_order, codes, self.starts, self.binned.values[k], ties)
            )
        score = np.stack([each.score for each in found])
        priority = np.stack([each.priority for each in found])
        column = np.where(score == score.max(axis=0), priority // 2 + 1, 0).argmax(axis=0)
        return np.where(score.max(axis=0) > 0, column, -1), found


@dataclass(frozen=True, eq=False)
class _OwnSplit:
    """The split of one node: the sorted distinct values that it divides, which lie left, and the step of its threshold.

    code: the codes of the node's entries on the split's column, sorted, the missing first.
    """

    code: CodeArray
    values: FloatArray
    left: BoolArray
    step: int

    @classmethod
    def of(cls, level: _Level, at: int) -> _OwnSplit:
        node = level.nodes[at]
        if node.column is None:
            raise ValueError(f"node {node.id} is a leaf")
        code = level.codes[node.column][level.starts[at] : level.starts[at + 1]]
        values = level.binned.values[node.column][np.unique(code[code != MISSING])]
        left = goes_left(node, values)
        return cls(code, values, left, int(np.count_nonzero(left)))

    def step_of(self, position: int) -> tuple[int, float]:
        """The number of distinct values left of a threshold after a position among the entries, and the threshold."""
        known = np.unique(self.code[: position + 1])
        below = int(np.count_nonzero(known != MISSING))
        return below, float((self.values[below - 1] + self.values[below]) / 2)

    def divides_alike(self, left_levels: IntArray) -> bool:
        """Whether a set of categories divides the node's own as the split does, whichever side is called left."""
        left = np.isin(self.values, left_levels)
        return bool((left == self.left).all() or (left != self.left).all())


def _central(thresholds: Sequence[float]) -> tuple[float, float] | None:
    if not thresholds:
        return None
    low, high = np.quantile(thresholds, [0.05, 0.95])
    return float(low), float(high)


def _allowed(tree: PreferenceTree, items: FloatArray, node: IntArray, n_nodes: int) -> BoolArray:
    """(d, n_nodes): whether a node may be split on a column: not on a categorical one of more than max_categories."""
    allowed = np.ones((items.shape[1], n_nodes), dtype=bool)
    if tree.max_categories is None:
        return allowed
    for k, column in enumerate(tree.columns_):
        if column.kind is FeatureKind.CATEGORICAL:
            known = ~np.isnan(items[:, k])
            held = np.unique(np.stack([node[known], items[known, k].astype(np.int64)]), axis=1)[0]
            allowed[k] = np.bincount(held, minlength=n_nodes) <= tree.max_categories
    return allowed
