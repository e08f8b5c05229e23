"""Many grown trees in one set of arrays, for growing them, applying them and scoring them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from models.records.arrays import BoolArray, FloatArray, IntArray
from models.trees.structure import Node

BLOCK = 1 << 13  # items sent down together: they fit into the processor's cache


class InSets:
    """Whether a category's code is in the set of a node, for many nodes and codes at once."""

    def __init__(self, sets: Mapping[int, IntArray]) -> None:
        self.size = 1 + max((int(codes.max()) for codes in sets.values()), default=0)
        keys = [node * self.size + codes.astype(np.int64) for node, codes in sets.items()]
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
    that go left, for each node that splits a categorical column. n_leaves, max_depth: per tree. leaf_of_item: for each
    item the trees were grown with, its leaf within its own tree.
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
        """Leaf of each item, numbered within its own tree: (m, d), (m,) -> (m,)."""
        return self.leaf[self.node_of(items, tree_of_item)]

    def node_of(self, items: FloatArray, tree_of_item: IntArray) -> IntArray:
        """Node of the leaf of each item: (m, d), (m,) -> (m,)."""
        items = np.ascontiguousarray(items)
        node = np.empty(len(items), dtype=np.int64)
        for start in range(0, len(items), BLOCK):
            block = slice(start, start + BLOCK)
            node[block] = self._node_of_block(items[block], tree_of_item[block])
        return node

    def _node_of_block(self, items: FloatArray, tree_of_item: IntArray) -> IntArray:
        """Move all items down one level at a time; items in leaves are set aside once they are half of all."""
        node, flat, n_columns = np.empty(len(items), dtype=np.int64), items.ravel(), items.shape[1]
        has_missing = bool(np.isnan(flat).any())
        column, threshold, missing_left, left_child, grows, in_set = self._descent
        moving, at = np.arange(len(items)), tree_of_item
        while len(moving):
            goes_on = grows.take(at)
            if np.count_nonzero(goes_on) <= 0.5 * len(at):
                node[moving] = at
                going = np.flatnonzero(goes_on)
                moving, at = moving.take(going), at.take(going)
            values, cut = flat.take(moving * n_columns + column.take(at)), threshold.take(at)
            right = values >= cut
            if self.left_sets:
                by_set = np.flatnonzero(np.isnan(cut))
                right[by_set] = ~in_set(at[by_set], values[by_set])
            if has_missing:
                missing = np.flatnonzero(np.isnan(values))
                right[missing] = ~missing_left.take(at.take(missing))
            at = left_child.take(at) + right  # a right child directly follows the left one
        return node

    @cached_property
    def _descent(self) -> tuple[IntArray, FloatArray, BoolArray, IntArray, BoolArray, InSets]:
        """Column, threshold, side of missing values and left child of each node; a leaf sends items to itself."""
        leaf = self.column < 0
        return (
            np.where(leaf, 0, self.column),
            np.where(leaf, np.inf, self.threshold),
            self.missing_left | leaf,
            np.where(leaf, np.arange(len(leaf)), self.left),
            ~leaf,
            InSets(self.left_sets),
        )

    def nodes_of(self, tree: int) -> tuple[Node, ...]:
        """One tree as records in pre-order; a node's number is its position."""
        place: dict[int, int] = {}
        waiting = [tree]
        while waiting:
            at = waiting.pop()
            place[at] = len(place)
            if self.column[at] >= 0:
                waiting += [int(self.right[at]), int(self.left[at])]
        return tuple(self._records(place))

    def _records(self, place: Mapping[int, int]) -> Iterator[Node]:
        at = np.array(list(place))
        names = ("depth", "n_comparisons", "n_items", "score", "column", "threshold", "missing_left", "leaf")
        links = (self.parent, self.left, self.right)
        whole = zip(
            place.items(),
            *(getattr(self, name)[at].tolist() for name in names),
            *(link[at].tolist() for link in links),
            strict=True,
        )
        for (
            number,
            own,
        ), depth, n_comparisons, n_items, score, column, threshold, missing_left, leaf, *linked in whole:
            splits = column >= 0
            codes = self.left_sets.get(number)
            parent, left, right = (place.get(link) for link in linked)
            yield Node(
                id=own,
                parent=parent,
                depth=depth,
                n_comparisons=n_comparisons,
                n_items=n_items,
                score=score,
                column=column if splits else None,
                threshold=threshold if splits and codes is None else None,
                left_levels=None if codes is None else tuple(codes.tolist()),
                missing_left=missing_left,
                left=left,
                right=right,
                leaf=None if splits else leaf,
            )


@dataclass(eq=False)
class TreesBuilder:
    """Collects the nodes of all trees during growth, level by level; `depth` is the depth of the current level."""

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
        """Record the number of comparisons in each node of the level."""
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
        """Number the leaves; place and count the items (m, d) the trees were grown with. tree_of_item: (m,)."""
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
    """Number each tree's leaves from left to right; nodes come level by level. Returns these, leaves per tree."""
    leaves_below = _sum_upwards((left < 0).astype(np.int64), depth, parent)
    first = np.zeros(len(depth), dtype=np.int64)
    for nodes in _levels(depth):
        splits = nodes[left[nodes] >= 0]
        first[left[splits]] = first[splits]
        first[right[splits]] = first[splits] + leaves_below[left[splits]]
    return np.where(left < 0, first, -1), leaves_below[:n_trees]
