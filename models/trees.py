"""Many grown trees in one set of arrays: the form they are grown, applied and scored in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from models.records import BoolArray, FloatArray, IntArray
from models.structure import Node


class InSets:
    """Whether a category's code is in the set of a node, for many nodes and codes at once."""

    def __init__(self, sets: Mapping[int, IntArray]) -> None:
        self.size = 1 + max((int(codes.max()) for codes in sets.values()), default=0)
        keys = [node * self.size + codes for node, codes in sets.items()]
        self.keys = np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)

    def __call__(self, nodes: IntArray, codes: FloatArray) -> BoolArray:
        """nodes, codes: (n,); NaN is in no set."""
        known = (codes >= 0) & (codes < self.size)
        keys = nodes * self.size + np.where(known, codes, 0).astype(np.int64)
        return np.isin(keys, self.keys) & known


@dataclass(frozen=True, eq=False)
class Trees:
    """Nodes of all trees, level by level; node t is the root of tree t.

    Per node: tree, parent, depth, n_comparisons, n_items, score (signed sum of Z), column (-1 at a leaf), threshold,
    missing_left, left, right, leaf (its number within its tree, left to right; -1 at a split). left_sets: the codes
    that go left, of the nodes that split a categorical column. n_leaves, max_depth: per tree. leaf_of_item: the leaf,
    within its own tree, of each item the trees were grown with.
    """

    tree: IntArray
    parent: IntArray
    depth: IntArray
    n_comparisons: IntArray
    n_items: IntArray
    score: IntArray
    column: IntArray
    threshold: FloatArray
    missing_left: BoolArray
    left: IntArray
    right: IntArray
    leaf: IntArray
    left_sets: dict[int, IntArray]
    n_leaves: IntArray
    max_depth: IntArray
    leaf_of_item: IntArray

    def leaf_of(self, items: FloatArray, tree_of_item: IntArray) -> IntArray:
        """The leaf, within its own tree, each item falls in: (m, d), (m,) -> (m,)."""
        return self.leaf[self.node_of(items, tree_of_item)]

    def node_of(self, items: FloatArray, tree_of_item: IntArray) -> IntArray:
        """The node, a leaf, each item falls in: (m, d), (m,) -> (m,)."""
        node = tree_of_item.copy()
        flat, n_columns = np.ascontiguousarray(items).ravel(), items.shape[1]
        has_missing = bool(np.isnan(flat).any())
        in_set = InSets(self.left_sets)
        grows = self.column >= 0
        moving = np.flatnonzero(grows.take(node))
        at = node.take(moving)
        while len(moving):
            values = flat.take(moving * n_columns + self.column.take(at))
            threshold = self.threshold.take(at)
            right = values >= threshold
            if self.left_sets:
                by_set = np.flatnonzero(np.isnan(threshold))
                right[by_set] = ~in_set(at[by_set], values[by_set])
            if has_missing:
                missing = np.flatnonzero(np.isnan(values))
                right[missing] = ~self.missing_left.take(at.take(missing))
            at = self.left.take(at)
            at += right  # a right child directly follows the left one
            goes_on = grows.take(at)
            if not goes_on.all():
                settled, going = np.flatnonzero(~goes_on), np.flatnonzero(goes_on)
                node[moving.take(settled)] = at.take(settled)
                moving, at = moving.take(going), at.take(going)
        return node

    def nodes_of(self, tree: int) -> tuple[Node, ...]:
        """One tree as records, in pre-order: a node's number is its position."""
        place: dict[int, int] = {}
        waiting = [tree]
        while waiting:
            at = waiting.pop()
            place[at] = len(place)
            if self.column[at] >= 0:
                waiting += [int(self.right[at]), int(self.left[at])]
        return tuple(self._record(at, place) for at in place)

    def _record(self, at: int, place: Mapping[int, int]) -> Node:
        splits = self.column[at] >= 0
        codes = self.left_sets.get(at)
        return Node(
            id=place[at],
            parent=place.get(int(self.parent[at])),
            depth=int(self.depth[at]),
            n_comparisons=int(self.n_comparisons[at]),
            n_items=int(self.n_items[at]),
            score=int(self.score[at]),
            column=int(self.column[at]) if splits else None,
            threshold=float(self.threshold[at]) if splits and codes is None else None,
            left_levels=None if codes is None else tuple(codes.tolist()),
            missing_left=bool(self.missing_left[at]),
            left=place.get(int(self.left[at])),
            right=place.get(int(self.right[at])),
            leaf=None if splits else int(self.leaf[at]),
        )


@dataclass(eq=False)
class TreesBuilder:
    """Collects the nodes of all trees while they are grown level by level; `depth` is that of the level at hand."""

    n_trees: int
    depth: int = 0
    _parts: dict[str, list[IntArray | FloatArray | BoolArray]] = field(default_factory=dict)
    _splits: list[dict[str, IntArray | FloatArray | BoolArray]] = field(default_factory=list)
    _pairs: list[tuple[IntArray, IntArray]] = field(default_factory=list)
    _left_sets: dict[int, IntArray] = field(default_factory=dict)
    _n_nodes: int = 0

    def __post_init__(self) -> None:
        """Plant the roots."""
        self._add(np.arange(self.n_trees), np.full(self.n_trees, -1))

    def _add(self, tree: IntArray, parent: IntArray) -> IntArray:
        numbers = np.arange(self._n_nodes, self._n_nodes + len(tree))
        self._n_nodes += len(tree)
        depth = np.full(len(tree), self.depth)
        for name, part in {"tree": tree, "parent": parent, "depth": depth}.items():
            self._parts.setdefault(name, []).append(part)
        return numbers

    def record_pairs(self, nodes: IntArray, n_pairs: IntArray) -> None:
        """Note how many comparisons each of a level's nodes holds."""
        self._pairs.append((nodes, n_pairs))

    def split(
        self,
        nodes: IntArray,
        *,
        column: IntArray,
        threshold: FloatArray,
        missing_left: BoolArray,
        score: IntArray,
        left_sets: dict[int, IntArray],
    ) -> IntArray:
        """Split nodes; returns their children's numbers, each node's left one directly followed by its right one."""
        self.depth += 1
        tree = np.concatenate([np.asarray(part) for part in self._parts["tree"]])[nodes]
        children = self._add(np.repeat(tree, 2), np.repeat(nodes, 2))
        self._splits.append(
            {
                "nodes": nodes,
                "column": column,
                "threshold": threshold,
                "missing_left": missing_left,
                "score": score,
                "left": children[::2],
                "right": children[1::2],
            }
        )
        self._left_sets.update(left_sets)
        return children

    def finish(self, items: FloatArray, tree_of_item: IntArray) -> Trees:
        """Number the leaves, and place and count the items (m, d) the trees were grown with; tree_of_item: (m,)."""
        whole: dict[str, Any] = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        fields: dict[str, Any] = {
            "n_comparisons": np.zeros(self._n_nodes, dtype=np.int64),
            "score": np.zeros(self._n_nodes, dtype=np.int64),
            "column": np.full(self._n_nodes, -1),
            "threshold": np.full(self._n_nodes, np.nan),
            "missing_left": np.ones(self._n_nodes, dtype=bool),
            "left": np.full(self._n_nodes, -1),
            "right": np.full(self._n_nodes, -1),
        }
        for nodes, n_pairs in self._pairs:
            fields["n_comparisons"][nodes] = n_pairs
        for split in self._splits:
            for name in ("column", "threshold", "missing_left", "score", "left", "right"):
                fields[name][split["nodes"]] = split[name]
        leaf, n_leaves = _number_leaves(whole["depth"], whole["parent"], fields["left"], fields["right"], self.n_trees)
        max_depth = np.zeros(self.n_trees, dtype=np.int64)
        np.maximum.at(max_depth, whole["tree"], whole["depth"])
        trees = Trees(
            **whole,
            **fields,
            leaf=leaf,
            left_sets=self._left_sets,
            n_leaves=n_leaves,
            max_depth=max_depth,
            n_items=np.zeros(0, dtype=np.int64),
            leaf_of_item=np.zeros(0, dtype=np.int64),
        )
        node_of_item = trees.node_of(items, tree_of_item)
        n_items = _sum_upwards(np.bincount(node_of_item, minlength=self._n_nodes), trees.depth, trees.parent)
        return replace(trees, n_items=n_items, leaf_of_item=leaf[node_of_item])


def _levels(depth: IntArray) -> list[IntArray]:
    return [np.flatnonzero(depth == at) for at in range(int(depth.max(initial=0)) + 1)]


def _sum_upwards(values: IntArray, depth: IntArray, parent: IntArray) -> IntArray:
    """Add to each node the values of all nodes below it."""
    total = values.copy()
    for nodes in reversed(_levels(depth)[1:]):
        np.add.at(total, parent[nodes], total[nodes])
    return total


def _number_leaves(
    depth: IntArray, parent: IntArray, left: IntArray, right: IntArray, n_trees: int
) -> tuple[IntArray, IntArray]:
    """Number each tree's leaves from left to right; nodes stand level by level. Returns (leaf, leaves of each tree)."""
    leaves_below = _sum_upwards((left < 0).astype(np.int64), depth, parent)
    first = np.zeros(len(depth), dtype=np.int64)
    for nodes in _levels(depth):
        splits = nodes[left[nodes] >= 0]
        first[left[splits]] = first[splits]
        first[right[splits]] = first[splits] + leaves_below[left[splits]]
    return np.where(left < 0, first, -1), leaves_below[:n_trees]
