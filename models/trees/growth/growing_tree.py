"""A preference tree over the unit cube that takes comparisons one by one.

At any time it equals the tree grown from all comparisons so far (dt-pbo section 3.1). A new pair only changes the nodes
it lies in: their splits are chosen again, and a subtree is grown again only where its split has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.utils._param_validation import validate_parameter_constraints

from models.numerics.hashing import HashArray, mix
from models.numerics.validation import check_integers
from models.records.arrays import FloatArray, IntArray
from models.trees.growth.options import GROWTH_CONSTRAINTS
from models.trees.growth.splits import TieBreak


class Regions(NamedTuple):
    """The leaves from left to right: their corners (leaves, d) each, and the leaf of each point, (points,)."""

    lower: FloatArray
    upper: FloatArray
    of_point: IntArray


class _Node:
    """A region with its pairs: a split with two children, or a leaf with the points in it."""

    __slots__ = ("column", "depth", "hash", "left", "lower", "pairs", "points", "right", "threshold", "upper")

    def __init__(self, lower: FloatArray, upper: FloatArray, key: HashArray, depth: int) -> None:
        self.lower, self.upper, self.hash, self.depth = lower, upper, key, depth
        self.column, self.threshold = -1, np.nan
        self.left: _Node | None = None
        self.right: _Node | None = None
        self.pairs: list[int] = []
        self.points: list[int] = []

    def leaves(self) -> Iterator[_Node]:
        """The leaves in the region, from left to right."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.left is None or node.right is None:
                yield node
            else:
                waiting += [node.right, node.left]


class GrowingTree:
    """A preference tree over the unit cube that grows pair by pair; straddlers are discarded, as in the paper.

    points: (2 n, d) float64 in the unit cube, C-contiguous; rows 2 i and 2 i + 1 are the winner and the loser of pair
        i. The tree keeps the array itself: its rows may be filled in as pairs are added.
    tie_break: as in `models.trees.growth.grow.Growth`; the width of the cube counts as the column's range.
    max_depth: depth of the deepest leaf allowed; None for no limit.
    seed: seed of the random tie rule.

    Raises ValueError for an invalid array or value.

    >>> tree = GrowingTree(np.array([[0.9], [0.1], [0.8], [0.6]]))
    >>> tree.add(0)
    >>> tree.regions().upper.tolist()
    [[0.5], [1.0]]
    >>> tree.add(1)
    >>> tree.regions().of_point
    array([1, 0, 1, 0])
    """

    def __init__(
        self, points: FloatArray, *, tie_break: TieBreak = "lowest", max_depth: int | None = None, seed: int = 0
    ) -> None:
        parameters = {"tie_break": tie_break, "max_depth": max_depth}
        validate_parameter_constraints(GROWTH_CONSTRAINTS, parameters, "GrowingTree")
        (seed,) = check_integers([seed], "seed")
        if points.dtype != np.float64 or points.ndim != 2 or len(points) % 2 or not points.flags.c_contiguous:
            raise ValueError(
                "points must be a C-contiguous float64 matrix with two rows per pair, "
                f"found {points.dtype} {points.shape}"
            )
        self.points = points
        self.tie_break = tie_break
        self.max_depth = max_depth
        d = points.shape[1]
        self._pairs_of_points = points.reshape(-1, 2, d)
        self._root = _Node(np.zeros(d), np.ones(d), mix(seed, 0), 0)
        self._n_points = 0

    def add(self, pair: int) -> None:
        """Add pair number `pair`, counted from zero.

        Raises ValueError for any pair but the next one, and for points outside the unit cube.
        """
        if pair != self._n_points // 2 or 2 * pair >= len(self.points):
            raise ValueError(f"the next pair is number {self._n_points // 2} of {len(self.points) // 2}, not {pair}")
        winner, loser = 2 * pair, 2 * pair + 1
        both = self.points[winner : loser + 1]
        if not ((both >= 0) & (both <= 1)).all():
            raise ValueError(f"the points of pair {pair} must lie in the unit cube, found {both.tolist()}")
        self._n_points = loser + 1
        node = self._root
        while True:
            node.pairs.append(pair)
            column, threshold = self._best_split(node)
            if (column, threshold) != (node.column, node.threshold) and (column >= 0 or node.column >= 0):
                below = [point for leaf in node.leaves() for point in leaf.points]
                self._grow(node, [*below, winner, loser], column, threshold)
                return
            if node.left is None or node.right is None:
                node.points += [winner, loser]
                return
            falls_left = [self.points[point, column] < threshold for point in (winner, loser)]
            if falls_left[0] != falls_left[1]:
                self._settle(winner, node)
                self._settle(loser, node)
                return
            node = node.left if falls_left[0] else node.right

    def _settle(self, point: int, node: _Node) -> None:
        """Add a point to its leaf below `node`."""
        while node.left is not None and node.right is not None:
            node = node.left if self.points[point, node.column] < node.threshold else node.right
        node.points.append(point)

    def _grow(self, node: _Node, points: list[int], column: int, threshold: float) -> None:
        """Split a node, then its children in turn; points: all points in its region."""
        waiting = [(node, np.array(points), column, threshold)]
        while waiting:
            node, inside, column, threshold = waiting.pop()
            node.column, node.threshold = column, threshold
            if column < 0:
                node.left, node.right, node.points = None, None, inside.tolist()
                continue
            node.points = []
            node.left, node.right = self._children(node)
            falls_left = self.points[inside, column] < threshold
            pairs = np.array(node.pairs)
            both = self._pairs_of_points[pairs, :, column] < threshold
            for child, mine, inner in (
                (node.left, falls_left, both.all(axis=1)),
                (node.right, ~falls_left, ~both.any(axis=1)),
            ):
                child.pairs = pairs[inner].tolist()
                waiting.append((child, inside[mine], *self._best_split(child)))

    @staticmethod
    def _children(node: _Node) -> tuple[_Node, _Node]:
        upper, lower = node.upper.copy(), node.lower.copy()
        upper[node.column] = lower[node.column] = node.threshold
        depth = node.depth + 1
        return _Node(node.lower, upper, mix(node.hash, 1), depth), _Node(lower, node.upper, mix(node.hash, 2), depth)

    def _best_split(self, node: _Node) -> tuple[int, float]:
        """Column and threshold of the highest score (Eq. 6); the tie rule decides among equals; -1 if all are 0."""
        n = len(node.pairs)
        if n == 0 or node.depth == self.max_depth:
            return -1, np.nan
        X = self._pairs_of_points[node.pairs].reshape(2 * n, -1)
        order = X.argsort(axis=0)
        columns = np.arange(X.shape[1])
        values = X[order, columns]
        score = np.abs((1 - 2 * (order & 1)).cumsum(axis=0)[:-1])  # winners stand in even rows, losers in odd ones
        gap = values[1:] - values[:-1]
        score *= gap > 0
        score = score.T
        best = score.max()
        if best == 0:
            return -1, np.nan
        if self.tie_break == "lowest":
            column, position = divmod(int(score.argmax()), 2 * n - 1)
        else:
            tied, at = np.nonzero(score == best)
            priority = gap[at, tied] if self.tie_break == "widest_gap" else mix(mix(node.hash, tied), at)
            chosen = int(priority.argmax())
            column, position = int(tied[chosen]), int(at[chosen])
        below, above = values[position, column], values[position + 1, column]
        middle = 0.5 * below + 0.5 * above
        return column, float(middle if middle > below else above)

    def regions(self) -> Regions:
        """The leaves of the tree as grown so far."""
        leaves = list(self._root.leaves())
        of_point = np.empty(self._n_points, dtype=np.int64)
        of_point[[point for leaf in leaves for point in leaf.points]] = np.repeat(
            np.arange(len(leaves)), [len(leaf.points) for leaf in leaves]
        )
        return Regions(np.array([leaf.lower for leaf in leaves]), np.array([leaf.upper for leaf in leaves]), of_point)
