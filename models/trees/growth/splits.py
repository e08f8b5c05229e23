"""The best split of every node of a level, one column at a time (dt-pbo section 3.1).

A level holds *entries*: an entry is an item in a node. For each column the entries are sorted by (node, value). A node
therefore occupies the same run of positions in every column, and one cumulative sum scores all thresholds of all nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from models.numerics.hashing import HashArray, mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.trees.growth.binning import MISSING, CodeArray
from models.trees.growth.pairs import Surplus

TieBreak = Literal["lowest", "widest_gap", "random"]
Priority = NDArray[Any]  # float64, or uint64 where drawn at random


@dataclass(frozen=True, eq=False)
class Candidates:
    """For each node of a level, its best split on one column.

    score: (nodes,) the unsigned integer score |sum Z|, 0 where there is no split of positive score.
    priority: (nodes,) decides among equal scores: the larger wins, then the lower column, then the lower position.
    position: (nodes,) for a threshold split, the last position left of it among the sorted entries.
    missing_left: (nodes,) whether missing values fall left.
    signed: (nodes,) sum Z: positive where the winners tend to fall right.
    left_sets: for a categorical column, the codes that go left in each node.
    """

    score: IntArray
    priority: Priority
    position: IntArray
    missing_left: BoolArray
    signed: IntArray
    left_sets: LeftSets | None = None


@dataclass(frozen=True, eq=False)
class LeftSets:
    """One set of category codes per node: `codes[starts[i]:starts[i + 1]]` belongs to node i."""

    codes: IntArray
    starts: IntArray

    def of(self, node: int) -> IntArray:
        """The codes that go left in a node, ascending."""
        return self.codes[self.starts[node] : self.starts[node + 1]]


@dataclass(frozen=True, eq=False)
class Ties:
    """How one split is chosen among equals.

    node_hash: (nodes,) seeds the random choice; spread: (nodes,) the range of the column over the items of the node's
    tree; gaps are divided by it.
    """

    rule: TieBreak
    node_hash: HashArray
    column: int
    spread: FloatArray

    def priority(self, nodes: IntArray, rank: IntArray, gap: FloatArray) -> Priority:
        """Priority of each candidate: its gap, its own random number, or zero."""
        if self.rule == "widest_gap":
            return gap
        if self.rule == "random":
            return mix(mix(self.node_hash[nodes], self.column), rank)
        return np.zeros(len(nodes))


def threshold_splits(
    surplus: Surplus, codes: CodeArray, starts: IntArray, values: FloatArray, ties: Ties
) -> Candidates:
    """Score all thresholds of one column in all nodes at once (dt-pbo Eq. 5-6).

    sum_i Z_i(t) = #{winners >= t} - #{losers >= t}. An entry's surplus is its wins minus its losses in the node, so the
    sum is the surplus right of t. A node's surplus sums to zero: one cumulative sum over the level serves all nodes.

    surplus, codes: (entries,) sorted by (node, code), MISSING first; starts: (nodes + 1,) where each node's run begins;
    values: the column's sorted distinct values. Missing values are tried on both sides; left wins a tie.
    """
    n_nodes, sizes = len(starts) - 1, np.diff(starts)
    left_sum = np.cumsum(surplus, dtype=surplus.dtype)
    boundary = np.empty(len(codes), dtype=bool)
    np.not_equal(codes[1:], codes[:-1], out=boundary[:-1])
    boundary[starts[1:] - 1] = False
    score = np.abs(left_sum)
    missing_left: BoolArray | None = None
    if (codes[starts[:-1]] == MISSING).any():
        missing = codes == MISSING
        boundary &= ~missing
        node_of = np.repeat(np.arange(n_nodes), sizes)
        missing_surplus = np.add.reduceat(np.where(missing, surplus, 0), starts[:-1])[node_of]
        right = left_sum - missing_surplus
        missing_left = score >= np.abs(right)
        left_sum = np.where(missing_left, left_sum, right)
        score = np.abs(left_sum)
    score *= boundary
    best = np.maximum.reduceat(score, starts[:-1])
    at = np.flatnonzero(score == np.repeat(np.where(best > 0, best, -1), sizes))
    node_of_at = np.searchsorted(starts, at, side="right") - 1
    gap = np.asarray((values[codes[at + 1]] - values[codes[at]]) / ties.spread[node_of_at])
    priority = ties.priority(node_of_at, at - starts[node_of_at], gap)
    nodes, chosen = _first_of_highest(node_of_at, priority)
    position = np.zeros(n_nodes, dtype=np.int64)
    position[nodes] = at[chosen]
    node_priority = np.zeros_like(priority, shape=n_nodes)
    node_priority[nodes] = priority[chosen]
    falls_left = np.ones(n_nodes, dtype=bool) if missing_left is None else missing_left[position]
    signed = -left_sum[position].astype(np.int64)
    return Candidates(best.astype(np.int64), node_priority, position, falls_left, signed)


def _first_of_highest(nodes: IntArray, priority: Priority) -> tuple[IntArray, IntArray]:
    """For candidates sorted by node: each node, and the index of its first candidate of highest priority."""
    if not len(nodes):
        return nodes, np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.r_[True, nodes[1:] != nodes[:-1]])
    highest = np.maximum.reduceat(priority, starts)
    run = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(nodes)]))
    top = np.flatnonzero(priority == highest[run])
    first = np.r_[True, run[top][1:] != run[top][:-1]]
    return nodes[starts], top[first]


def category_splits(surplus: Surplus, codes: CodeArray, starts: IntArray, allowed: BoolArray, ties: Ties) -> Candidates:
    """The best of all partitions of a node's categories, for all nodes at once.

    Let d_c be the surplus of category c; missing values count as one more category. A left set B scores
    |sum_{c in B} d_c|. The d_c of a node sum to zero, so the best score of all 2^C sets is the sum of the positive d_c.
    The left set is the smaller of {d_c < 0} and {d_c > 0}; if both are equally large, the one with the lowest code. All
    other categories fall right. Missing values take the side that scores higher, left if both are equal.

    surplus, codes, starts: as for `threshold_splits`; allowed: (nodes,) whether the node may be split on this column.
    """
    runs = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]] | _begins(starts, len(codes)))
    node_of_entry = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    node, code = node_of_entry[runs], codes[runs]
    difference = np.add.reduceat(surplus, runs)
    n_nodes = len(starts) - 1
    known = code != MISSING
    missing = np.bincount(node[~known], weights=difference[~known], minlength=n_nodes).astype(np.int64)
    node, code, difference = node[known], code[known], difference[known]

    difference_used = difference.copy()
    _join_one_to_the_missing(node, difference, difference_used, missing, n_nodes)
    positive, negative = difference_used > 0, difference_used < 0
    n_positive = np.bincount(node[positive], minlength=n_nodes)
    n_negative = np.bincount(node[negative], minlength=n_nodes)
    left_is_positive = _smaller_set(node, positive, negative, n_positive, n_negative, n_nodes)
    in_left = np.where(left_is_positive[node], positive, negative)
    left_sum = np.bincount(node[in_left], weights=difference[in_left], minlength=n_nodes).astype(np.int64)
    with_missing = left_sum + missing
    missing_left = np.abs(with_missing) >= np.abs(left_sum)
    left_sum = np.where(missing_left, with_missing, left_sum)

    n_known = np.bincount(node, minlength=n_nodes)
    score = np.where(allowed & (n_known > 1) & (n_positive + n_negative > 0), np.abs(left_sum), 0)
    zeros = np.zeros(n_nodes, dtype=np.int64)
    priority = ties.priority(np.arange(n_nodes), zeros, np.ones(n_nodes))
    counts = np.bincount(node[in_left], minlength=n_nodes)
    sets = LeftSets(code[in_left], np.r_[0, np.cumsum(counts)])
    return Candidates(score, priority, zeros, missing_left, -left_sum, sets)


def _begins(starts: IntArray, n_entries: int) -> BoolArray:
    begins = np.zeros(n_entries, dtype=bool)
    begins[starts[:-1]] = True
    return begins


def _join_one_to_the_missing(
    node: IntArray, difference: IntArray, used: IntArray, missing: IntArray, n_nodes: int
) -> None:
    """Make sure that a left set never holds all categories.

    Where only missing values oppose all categories, the category of smallest |surplus| joins the missing values: its
    sign in `used` is changed.
    """
    n_known = np.bincount(node, minlength=n_nodes)
    for sign in (1, -1):
        same = np.bincount(node[difference * sign > 0], minlength=n_nodes)
        for at in np.flatnonzero((same == n_known) & (n_known > 1) & (missing * sign < 0)):
            mine = np.flatnonzero(node == at)
            used[mine[np.argmin(np.abs(difference[mine]))]] *= -1


def _smaller_set(
    node: IntArray, positive: BoolArray, negative: BoolArray, n_positive: IntArray, n_negative: IntArray, n_nodes: int
) -> BoolArray:
    first_positive = np.full(n_nodes, np.iinfo(np.int64).max)
    first_negative = first_positive.copy()
    at = np.arange(len(node))
    np.minimum.at(first_positive, node[positive], at[positive])
    np.minimum.at(first_negative, node[negative], at[negative])
    by_size = n_positive < n_negative
    smaller = np.where(n_positive == n_negative, first_positive < first_negative, by_size)
    smaller = np.where(n_negative == 0, True, smaller)
    return np.where(n_positive == 0, False, smaller)
