"""Many grown trees in one set of arrays: the form they are grown, applied and scored in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.records import BoolArray, FloatArray, IntArray
from models.structure import Node


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
        node = tree_of_item.copy()
        moving = np.flatnonzero(self.column[node] >= 0)
        set_keys, n_codes = self._set_keys()
        while len(moving):
            at = node[moving]
            values = items[moving, self.column[at]]
            left = values < self.threshold[at]
            by_set = np.isnan(self.threshold[at])
            if by_set.any():
                codes = np.nan_to_num(values[by_set], nan=-1.0)
                keys = at[by_set] * n_codes + codes.astype(np.int64)
                left[by_set] = np.isin(keys, set_keys) & (codes >= 0) & (codes < n_codes)
            left = np.where(np.isnan(values), self.missing_left[at], left)
            node[moving] = np.where(left, self.left[at], self.right[at])
            moving = moving[self.column[node[moving]] >= 0]
        return self.leaf[node]

    def _set_keys(self) -> tuple[IntArray, int]:
        n_codes = 1 + max((int(codes.max()) for codes in self.left_sets.values()), default=0)
        keys = [node * n_codes + codes for node, codes in self.left_sets.items()]
        return (np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)), n_codes

    def nodes_of(self, tree: int) -> tuple[Node, ...]:
        """One tree as records, in pre-order: a node's number is its position."""
        nodes: list[Node] = []
        place: dict[int, int] = {}
        waiting = [tree]
        while waiting:
            at = waiting.pop()
            place[at] = len(nodes)
            splits = self.column[at] >= 0
            codes = self.left_sets.get(at)
            parent = self.parent[at]
            nodes.append(
                Node(
                    id=len(nodes),
                    parent=None if parent < 0 else place[int(parent)],
                    depth=int(self.depth[at]),
                    n_comparisons=int(self.n_comparisons[at]),
                    n_items=int(self.n_items[at]),
                    score=int(self.score[at]),
                    column=int(self.column[at]) if splits else None,
                    threshold=float(self.threshold[at]) if splits and codes is None else None,
                    left_levels=None if codes is None else tuple(int(code) for code in codes),
                    missing_left=bool(self.missing_left[at]),
                    leaf=None if splits else int(self.leaf[at]),
                )
            )
            if splits:
                waiting += [int(self.right[at]), int(self.left[at])]
        numbers = list(place)
        return tuple(
            node
            if node.column is None
            else node.model_copy(
                update={
                    "left": place[int(self.left[numbers[node.id]])],
                    "right": place[int(self.right[numbers[node.id]])],
                }
            )
            for node in nodes
        )


@dataclass(eq=False)
class TreesBuilder:
    """Collects the nodes of all trees while they are grown level by level; `depth` is that of the level at hand."""

    n_trees: int
    tree_of_item: IntArray
    depth: int = 0
    _parts: dict[str, list[IntArray | FloatArray | BoolArray]] = field(default_factory=dict)
    _splits: list[dict[str, IntArray | FloatArray | BoolArray]] = field(default_factory=list)
    _pairs: list[tuple[IntArray, IntArray]] = field(default_factory=list)
    _left_sets: dict[int, IntArray] = field(default_factory=dict)
    _n_nodes: int = 0
    _node_of_item: IntArray = field(init=False)

    def __post_init__(self) -> None:
        """Plant the roots."""
        self._node_of_item = self.tree_of_item.copy()
        roots = np.arange(self.n_trees)
        self._add(roots, np.full(self.n_trees, -1))
        self._parts["n_items"].append(np.bincount(self.tree_of_item, minlength=self.n_trees))

    def _add(self, tree: IntArray, parent: IntArray) -> IntArray:
        numbers = np.arange(self._n_nodes, self._n_nodes + len(tree))
        self._n_nodes += len(tree)
        depth = np.full(len(tree), self.depth)
        for name, part in {"tree": tree, "parent": parent, "depth": depth}.items():
            self._parts.setdefault(name, []).append(part)
        self._parts.setdefault("n_items", [])
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

    def place_items(self, children: IntArray, region: IntArray) -> None:
        """Note which of the new children each item lies in; region: (m,) places in `children`, -1 elsewhere."""
        inside = np.flatnonzero(region >= 0)
        place = region.take(inside)
        self._node_of_item[inside] = children[place]
        self._parts["n_items"].append(np.bincount(place, minlength=len(children)))

    def finish(self) -> Trees:
        """Number the leaves and put everything in one place."""
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
        return Trees(
            **whole,
            **fields,
            leaf=leaf,
            leaf_of_item=leaf[self._node_of_item],
            left_sets=self._left_sets,
            n_leaves=n_leaves,
            max_depth=max_depth,
        )


def _number_leaves(
    depth: IntArray, parent: IntArray, left: IntArray, right: IntArray, n_trees: int
) -> tuple[IntArray, IntArray]:
    """Number each tree's leaves from left to right; nodes stand level by level. Returns (leaf, leaves of each tree)."""
    levels = [np.flatnonzero(depth == at) for at in range(int(depth.max(initial=0)) + 1)]
    leaves_below = (left < 0).astype(np.int64)
    for nodes in reversed(levels[1:]):
        np.add.at(leaves_below, parent[nodes], leaves_below[nodes])
    first = np.zeros(len(depth), dtype=np.int64)
    for nodes in levels:
        splits = nodes[left[nodes] >= 0]
        first[left[splits]] = first[splits]
        first[right[splits]] = first[splits] + leaves_below[left[splits]]
    return np.where(left < 0, first, -1), leaves_below[:n_trees]
