"""Editing a fitted tree by hand: move a threshold, merge a split, pin the order of two leaves; the leaves are refitted.

A person who reads her own tree may know better (dt-pbo G.3). Her edits stay. The comparisons of each node are counted
again, and the leaf values are fitted again under the orders she pinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import LinearConstraint, minimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_is_fitted

from models.gaussian.laplace import PairCounts, laplace_mode, negative_log_posterior
from models.numerics.validation import check_comparisons, check_items
from models.records.arrays import FloatArray, IntArray
from models.trees.leaf_fit import count_pairs_of_leaves, fit_leaves, prior_factor
from models.trees.preference_tree import PreferenceTree
from models.trees.structure import Node, goes_left, leaf_of

BINDING = 1e-6
"""Leaves that a pin orders are equal where the minimiser leaves less than this between them, in sigma_noise."""


def move_threshold(
    tree: PreferenceTree, node: int, threshold: float, items: ArrayLike, comparisons: ArrayLike
) -> PreferenceTree:
    """Return the tree with another threshold at a node, refitted to items (m, d) and comparisons (n, 2).

    Raises ValueError where the node does not exist, is a leaf or splits by categories, or the threshold is not finite.

    >>> items, comparisons = [[1.0], [2.0], [3.0], [6.0]], [[3, 0], [2, 1], [3, 2], [1, 0]]
    >>> tree = PreferenceTree(max_depth=1).fit(items, comparisons)
    >>> edited = move_threshold(tree, 0, 4.5, items, comparisons)
    >>> tree.nodes_[0].threshold, edited.nodes_[0].threshold
    (1.5, 4.5)
    """
    split = _split_at(tree, node)
    if not isinstance(threshold, Real) or not np.isfinite(threshold):
        raise ValueError(f"a threshold is a finite number, not {threshold}")
    if split.threshold is None:
        raise ValueError(f"node {node} splits by categories, it has no threshold to move")
    nodes = list(tree.nodes_)
    nodes[node] = split.model_copy(update={"threshold": float(threshold)})
    return _refitted(tree, nodes, items, comparisons)


def merge(tree: PreferenceTree, node: int, items: ArrayLike, comparisons: ArrayLike) -> PreferenceTree:
    """Return the tree with a node's split, and all below it, merged into one leaf. Earlier pins are dropped.

    Raises ValueError where the node does not exist or is a leaf already.

    >>> items, comparisons = [[1.0], [2.0], [3.0], [6.0]], [[3, 0], [2, 1], [3, 2], [1, 0]]
    >>> tree = PreferenceTree().fit(items, comparisons)
    >>> tree.n_leaves_, merge(tree, 2, items, comparisons).n_leaves_
    (4, 2)
    """
    _split_at(tree, node)
    return _refitted(tree, _without_descendants(tree.nodes_, node), items, comparisons)


def pin_order(
    tree: PreferenceTree, better: int, worse: int, items: ArrayLike, comparisons: ArrayLike
) -> PreferenceTree:
    """Return the tree with the mean of leaf `better` held at or above the mean of leaf `worse`; earlier pins hold too.

    The leaf values are the posterior mode under all pins. Raises ValueError for a leaf that does not exist, or for pins
    that form a circle.

    >>> items, comparisons = [[1.0], [2.0], [3.0], [6.0]], [[3, 0], [2, 1], [3, 2], [1, 0]]
    >>> tree = PreferenceTree(max_depth=1).fit(items, comparisons)
    >>> pinned = pin_order(tree, 0, 1, items, comparisons)
    >>> tree.leaf_mean_.round(2), abs(pinned.leaf_mean_).round(2)
    (array([-0.97,  0.97]), array([0., 0.]))
    """
    check_is_fitted(tree, "nodes_")
    for leaf in (better, worse):
        if not _is_number_below(leaf, tree.n_leaves_):
            raise ValueError(f"there is no leaf {leaf}: the tree has leaves 0 to {tree.n_leaves_ - 1}")
    pins = (*tree.pins_, (int(better), int(worse)))
    _refuse_circles(pins)
    return _refitted(tree, list(tree.nodes_), items, comparisons, pins)


def _is_number_below(number: int, end: int) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool) and 0 <= int(number) < end


def _split_at(tree: PreferenceTree, node: int) -> Node:
    check_is_fitted(tree, "nodes_")
    if not _is_number_below(node, len(tree.nodes_)):
        raise ValueError(f"there is no node {node}: the tree has nodes 0 to {len(tree.nodes_) - 1}")
    if tree.nodes_[node].column is None:
        raise ValueError(f"node {node} is a leaf, it has no split")
    return tree.nodes_[node]


def _without_descendants(nodes: Sequence[Node], merged: int) -> list[Node]:
    """The nodes, numbered again, with one made a leaf; in pre-order a node's descendants directly follow it."""
    end = merged + 1
    while end < len(nodes) and nodes[end].depth > nodes[merged].depth:
        end += 1
    leaf = {"column": None, "threshold": None, "left_levels": None, "left": None, "right": None, "score": 0}
    kept = [*nodes[:merged], nodes[merged].model_copy(update=leaf), *nodes[end:]]
    number = {node.id: at for at, node in enumerate(kept)}
    leaves = iter(range(len(kept)))
    return [
        node.model_copy(
            update={
                "id": number[node.id],
                "parent": None if node.parent is None else number[node.parent],
                "left": None if node.left is None else number[node.left],
                "right": None if node.right is None else number[node.right],
                "leaf": next(leaves) if node.column is None else None,
            }
        )
        for node in kept
    ]


def _refitted(
    tree: PreferenceTree,
    nodes: list[Node],
    items: ArrayLike,
    comparisons: ArrayLike,
    pins: tuple[tuple[int, int], ...] | None = None,
) -> PreferenceTree:
    if tree.straddlers == "keep":
        raise ValueError("a tree grown with straddlers kept cannot be edited: its splits depend on how pairs were kept")
    X = check_items(items, tree.n_features_in_)
    pairs = check_comparisons(comparisons, len(X))
    edited = deepcopy(tree)
    edited.nodes_ = _recounted(nodes, X, pairs)
    n_leaves = sum(node.leaf is not None for node in nodes)
    counts = count_pairs_of_leaves(pairs, leaf_of_item=leaf_of(edited.nodes_, X), n_leaves=n_leaves)
    free = fit_leaves(counts, np.array([n_leaves]), tree.ratio)
    if pins is None:
        pins = tree.pins_ if n_leaves == tree.n_leaves_ else ()
    edited.settle_leaves(_under_pins(free, counts, pins, prior_factor(tree.ratio)), counts, pins)
    return edited


def _recounted(nodes: Sequence[Node], items: FloatArray, comparisons: IntArray) -> tuple[Node, ...]:
    """The nodes with comparisons, items and scores counted again; a straddler is not counted below its split."""
    counted = list(nodes)
    waiting = [(0, np.arange(len(items)), comparisons)]
    while waiting:
        at, rows, pairs = waiting.pop()
        node = counted[at]
        update = {"n_items": len(rows), "n_comparisons": len(pairs)}
        if node.column is not None and node.left is not None and node.right is not None:
            left = goes_left(node, items[:, node.column])
            sides = left[pairs]
            update["score"] = int(sides[:, 1].sum()) - int(sides[:, 0].sum())
            waiting.append((node.left, rows[left[rows]], pairs[sides.all(axis=1)]))
            waiting.append((node.right, rows[~left[rows]], pairs[~sides.any(axis=1)]))
        counted[at] = node.model_copy(update=update)
    return tuple(counted)


def _refuse_circles(pins: Sequence[tuple[int, int]]) -> None:
    above: dict[int, set[int]] = {}
    for better, worse in pins:
        above.setdefault(better, set()).add(worse)
    for start in above:
        reached, waiting = set[int](), [start]
        while waiting:
            for worse in above.get(waiting.pop(), ()):
                if worse == start:
                    raise ValueError(f"the pins form a circle through leaf {start}")
                if worse not in reached:
                    reached.add(worse)
                    waiting.append(worse)


def _under_pins(free: FloatArray, counts: PairCounts, pins: Sequence[tuple[int, int]], factor: float) -> FloatArray:
    """The posterior mode under f_better >= f_worse for all pins; the free mode where it already obeys them.

    A general minimiser finds which pins bind. The leaves that these join share one value, and Newton's method finds the
    mode of the values, so that bound leaves are equal to the last bit.
    """
    if all(free[better] >= free[worse] for better, worse in pins):
        return free
    orders = np.zeros((len(pins), len(free)))
    for row, (better, worse) in enumerate(pins):
        orders[row, better], orders[row, worse] = 1.0, -1.0

    scale = 1.0 / max(float(counts.count.sum()), 1.0)  # the minimiser's tolerance is absolute

    def objective(f: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = negative_log_posterior(counts, f, factor)
        return scale * value, scale * gradient

    found = minimize(
        objective,
        np.zeros(len(free)),
        jac=True,
        method="SLSQP",
        constraints=LinearConstraint(orders, lb=0.0),
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    bound = [pin for pin, gap in zip(pins, orders @ found.x, strict=True) if gap < BINDING]
    values = _with_equal_values(bound, counts, factor)
    if not found.success or (orders @ values < 0).any():
        raise ValueError(f"no leaf values under the pins {list(pins)} were found: {found.message}")
    return values


def _with_equal_values(bound: Sequence[tuple[int, int]], counts: PairCounts, factor: float) -> FloatArray:
    """The posterior mode where the leaves of each bound pair are equal, (m_l,).

    k leaves with one value v have the prior k v^2 / (2 factor^2), as one of standard deviation factor / sqrt(k).
    """
    n = counts.n_values
    edges = np.array(bound, dtype=np.int64).reshape(-1, 2)
    n_values, value_of = connected_components(csr_array((np.ones(len(edges)), edges.T), shape=(n, n)), directed=False)
    spread = np.zeros((n, n_values))
    spread[np.arange(n), value_of] = factor / np.sqrt(np.bincount(value_of))[value_of]
    return np.asarray(laplace_mode(counts, spread)[0])
