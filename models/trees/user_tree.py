"""The user tree: users split into groups that agree on which item of a pair is better (dt-pbo G.1, Eq. 15).

Let c_p be the number of a node's users who prefer the first item of pair p, minus those who prefer the second. The gain
of a split is sum_p |c_p(left)| + |c_p(right)|. No comparison joins two users, so nothing straddles. A split never
lowers the sum: only the depth limit, or too few users, ends growth.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from models.numerics.validation import check_codes, check_columns, check_comparisons, check_items, check_rows
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.features import Column, FeatureKind
from models.trees.structure import Node, goes_left, leaf_of

MOST_LEVELS = 8
"""Up to this many categories every subset is tried; with more, a local search starts at the best single category."""

MOST_ITEMS = 2**31
"""Most items that comparisons may name: a pair of items has to fit into one 64-bit key."""


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes of users on pairs of items: user, pair (votes,), sign +1 for the pair's first item, -1 for its second."""

    user: IntArray
    pair: IntArray
    sign: IntArray
    n_pairs: int

    def of(self, users: IntArray, n_users: int) -> Votes:
        """The votes of some of the users, who are numbered again in the order given."""
        place = np.full(n_users, -1)
        place[users] = np.arange(len(users))
        mine = np.flatnonzero(place[self.user] >= 0)
        return Votes(place[self.user[mine]], self.pair[mine], self.sign[mine], self.n_pairs)


@dataclass(frozen=True)
class _Split:
    gain: int
    threshold: float | None
    left_levels: tuple[int, ...] | None


def count_votes(comparisons: IntArray, users: IntArray) -> Votes:
    """The comparisons (n, 2), winner first, of users (n,) as votes.

    >>> votes = count_votes(np.array([[0, 1], [1, 0]]), np.array([0, 1]))
    >>> votes.pair, votes.sign
    (array([0, 0]), array([ 1, -1]))
    """
    low, high = comparisons.min(axis=1), comparisons.max(axis=1)
    keys, pair = np.unique(low * (int(high.max(initial=0)) + 1) + high, return_inverse=True)
    sign = np.where(comparisons[:, 0] == low, 1, -1)
    return Votes(users, pair, sign, len(keys))


def threshold_gains(votes: Votes, n_users: int) -> IntArray:
    """The gain of sending the first u users left and the others right, for u from 0 to n_users, (n_users + 1,).

    A vote counts left as soon as its user goes left. The votes of a pair are sorted by user, so that running sums give
    c_p(left) after each vote; what each vote adds to the gain is summed by user.

    >>> votes = count_votes(np.array([[0, 1], [0, 1], [1, 0]]), np.array([0, 1, 2]))
    >>> threshold_gains(votes, 3)
    array([1, 1, 3, 1])
    """
    order = np.lexsort((votes.user, votes.pair))
    pair, sign = votes.pair[order], votes.sign[order]
    total = np.bincount(votes.pair, weights=votes.sign, minlength=votes.n_pairs).astype(np.int64)
    running = np.cumsum(sign)
    sizes = np.bincount(pair, minlength=votes.n_pairs)
    before_pair = np.repeat(np.r_[0, running][np.cumsum(sizes) - sizes], sizes)
    after = running - before_pair
    before = after - sign
    whole = total[pair]
    added = np.abs(after) + np.abs(whole - after) - np.abs(before) - np.abs(whole - before)
    by_user = np.bincount(votes.user[order], weights=added, minlength=n_users).astype(np.int64)
    return np.asarray(np.abs(total).sum() + np.r_[0, np.cumsum(by_user)])


class UserTree(BaseEstimator):  # type: ignore[misc]
    """A tree over users' features whose leaves are groups of users who agree (dt-pbo G.1).

    Parameters
    ----------
    columns
        Descriptions of the users' features; all numeric if None.
    max_depth
        Depth of the deepest leaf allowed; 5 in the paper.
    min_users
        Smallest number of users in a leaf.

    Attributes
    ----------
    nodes_
        The nodes in pre-order; n_items counts users, n_comparisons their comparisons, score the gain of the split.
    columns_, n_features_in_, n_leaves_
        Descriptions and number of the features, and number of groups.
    searched_
        Numbers of the nodes split by local search, because they hold too many categories to try every subset.

    Examples
    --------
    Users under 40 prefer item 0 to item 1, the others item 1 to item 0.

    >>> age = [[20.0], [30.0], [50.0], [60.0]]
    >>> tree = UserTree(max_depth=1).fit(age, [[0, 1], [0, 1], [1, 0], [1, 0]], [0, 1, 2, 3])
    >>> tree.nodes_[0].threshold
    40.0
    >>> tree.apply([[25.0], [70.0]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [tuple, list, None],
        "max_depth": [Interval(Integral, 0, None, closed="left")],
        "min_users": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, columns: Sequence[Column] | None = None, *, max_depth: int = 5, min_users: int = 1) -> None:
        self.columns = columns
        self.max_depth = max_depth
        self.min_users = min_users

    def fit(self, features: ArrayLike, comparisons: ArrayLike, users: ArrayLike) -> Self:
        """Fit to comparisons (n, 2) of items, winner first, made by users (n,), rows of features (u, d).

        NaN is missing and falls left. Raises ValueError for parameters that are not valid, shapes that do not fit, or
        users that do not exist.
        """
        self._validate_params()
        X = check_items(features)
        self.columns_ = check_columns(self.columns, X.shape[1])
        check_codes(X, self.columns_)
        self.n_features_in_ = X.shape[1]
        pairs = check_comparisons(comparisons, MOST_ITEMS)
        owner = check_rows(users, "users", n_rows=len(X), n=len(pairs))
        self._nodes: list[Node] = []
        self.searched_: set[int] = set()
        self._grow(X, count_votes(pairs, owner))
        leaves = itertools.count()
        self.nodes_ = tuple(
            node if node.column is not None else node.model_copy(update={"leaf": next(leaves)}) for node in self._nodes
        )
        self.n_leaves_ = next(leaves)
        return self

    def apply(self, features: ArrayLike) -> IntArray:
        """The group of each user, (u,)."""
        check_is_fitted(self, "nodes_")
        X = check_items(features, self.n_features_in_)
        check_codes(X, self.columns_)
        return leaf_of(self.nodes_, X)

    def _grow(self, X: FloatArray, votes: Votes) -> None:
        """Grow the nodes in pre-order; a waiting node's votes name its users by their position among them."""
        waiting: list[tuple[int | None, int, IntArray, Votes]] = [(None, 0, np.arange(len(X)), votes)]
        while waiting:
            parent, depth, users, own = waiting.pop()
            number = len(self._nodes)
            node = Node(id=number, parent=parent, depth=depth, n_comparisons=len(own.user), n_items=len(users))
            if parent is not None:
                side = "left" if parent == number - 1 else "right"
                self._nodes[parent] = self._nodes[parent].model_copy(update={side: number})
            best = self._best_split(X[users], own, number) if depth < self.max_depth else None
            if best is not None:
                column, split = best
                node = node.model_copy(
                    update={
                        "column": column,
                        "threshold": split.threshold,
                        "left_levels": split.left_levels,
                        "score": split.gain,
                    }
                )
                left = goes_left(node, X[users, column])
                waiting += [
                    (number, depth + 1, users[those], own.of(np.flatnonzero(those), len(users)))
                    for those in (~left, left)
                ]
            self._nodes.append(node)

    def _best_split(self, X: FloatArray, votes: Votes, number: int) -> tuple[int, _Split] | None:
        """The split of greatest gain; among equals the lowest column, then the lowest threshold or smallest set."""
        best: tuple[int, _Split] | None = None
        for k, column in enumerate(self.columns_):
            values = X[:, k]
            if column.kind is FeatureKind.CATEGORICAL:
                split, searched = self._category_split(values, votes)
            else:
                split, searched = self._threshold_split(values, votes), False
            if split is not None and (best is None or split.gain > best[1].gain):
                best = (k, split)
                (self.searched_.add if searched else self.searched_.discard)(number)
        return best

    def _threshold_split(self, values: FloatArray, votes: Votes) -> _Split | None:
        missing = np.isnan(values)
        order = np.lexsort((values, ~missing))  # the missing first: they fall left
        ordered = values[order]
        counts = np.arange(1, len(order))
        changes = (ordered[1:] > ordered[:-1]) & (counts >= self.min_users) & (len(order) - counts >= self.min_users)
        candidates = np.flatnonzero(changes) + 1
        if not len(candidates):
            return None
        gains = threshold_gains(votes.of(order, len(order)), len(order))
        cut = candidates[np.argmax(gains[candidates])]
        below, above = float(ordered[cut - 1]), float(ordered[cut])
        middle = 0.5 * below + 0.5 * above
        # The middle of two neighbouring floats rounds to one of them; the lower one must still fall left.
        return _Split(int(gains[cut]), middle if middle > below else above, None)

    def _category_split(self, values: FloatArray, votes: Votes) -> tuple[_Split | None, bool]:
        """The best set of levels to send left with the missing values, and whether local search chose it."""
        levels = np.unique(values[~np.isnan(values)]).astype(np.int64)
        if len(levels) < 2:
            return None, False
        place = np.where(np.isnan(values), len(levels), np.searchsorted(levels, np.nan_to_num(values)))
        # Users whose value is missing have the last row. No entry of a level and a pair that nobody voted on is kept.
        keys, entry = np.unique(place[votes.user] * votes.n_pairs + votes.pair, return_inverse=True)
        level, pair = np.divmod(keys, max(votes.n_pairs, 1))
        count = np.bincount(entry, weights=votes.sign, minlength=len(keys)).astype(np.int64)
        known = level < len(levels)
        missing = np.zeros(votes.n_pairs, dtype=np.int64)
        missing[pair[~known]] = count[~known]
        sizes = np.bincount(place, minlength=len(levels) + 1)
        of_sets = _Sets(level[known], pair[known], count[known], missing, sizes[:-1], int(sizes[-1]), self.min_users)
        searched = len(levels) > MOST_LEVELS
        chosen = of_sets.search() if searched else of_sets.best_of_all()
        if chosen is None:
            return None, False
        gain, members = chosen
        return _Split(gain, None, tuple(levels[list(members)].tolist())), searched


@dataclass(frozen=True, eq=False)
class _Sets:
    """The gains of sets of levels that go left.

    level, pair, count: (entries,) c_p of each level's users for the pairs they voted on, sorted by level;
    missing: (pairs,) c_p of users without a value, who go left; sizes: (levels,) users of each level.
    """

    level: IntArray
    pair: IntArray
    count: IntArray
    missing: IntArray
    sizes: IntArray
    n_missing: int
    min_users: int

    def best_of_all(self) -> tuple[int, tuple[int, ...]] | None:
        """The best of all sets; among equals the smallest, then the one with the lowest levels."""
        n = len(self.sizes)
        sets = [members for size in range(1, n) for members in itertools.combinations(range(n), size)]
        indicator = np.zeros((len(sets), n), dtype=np.int64)
        for row, members in enumerate(sets):
            indicator[row, list(members)] = 1
        counts = np.zeros((n, len(self.missing)), dtype=np.int64)
        counts[self.level, self.pair] = self.count
        left = indicator @ counts
        gains = np.abs(left + self.missing).sum(axis=1) + np.abs(counts.sum(axis=0) - left).sum(axis=1)
        gains = np.where(self._too_few(indicator @ self.sizes), -1, gains)
        at = int(np.argmax(gains))
        return (int(gains[at]), sets[at]) if gains[at] >= 0 else None

    def search(self) -> tuple[int, tuple[int, ...]] | None:
        """Start with the best single level; move one level at a time to the other side while the gain rises."""
        n = len(self.sizes)
        is_left = np.zeros(n, dtype=bool)
        gains = self._gains_of_moves(is_left)
        is_left[np.argmax(gains)], best = True, int(gains.max())
        while True:
            gains = self._gains_of_moves(is_left)
            size_after = is_left.sum() + np.where(is_left, -1, 1)
            gains = np.where((size_after > 0) & (size_after < n), gains, -1)
            if gains.max() <= best:
                return (best, tuple(np.flatnonzero(is_left).tolist())) if best >= 0 else None
            moved, best = int(np.argmax(gains)), int(gains.max())
            is_left[moved] = not is_left[moved]

    def _gains_of_moves(self, is_left: BoolArray) -> IntArray:
        """The gain after each level alone has moved to the other side, (levels,); -1 where it leaves too few users.

        A level changes c_p only for the pairs that its users voted on.
        """
        n, n_pairs = len(self.sizes), len(self.missing)
        signed = np.where(is_left[self.level], self.count, 0)
        left = self.missing + np.bincount(self.pair, weights=signed, minlength=n_pairs).astype(np.int64)
        right = self.missing - left + np.bincount(self.pair, weights=self.count, minlength=n_pairs).astype(np.int64)
        step = np.where(is_left[self.level], -self.count, self.count)
        own_left, own_right = left[self.pair], right[self.pair]
        change = np.abs(own_left + step) + np.abs(own_right - step) - np.abs(own_left) - np.abs(own_right)
        gains = np.abs(left).sum() + np.abs(right).sum()
        gains = gains + np.bincount(self.level, weights=change, minlength=n).astype(np.int64)
        n_left = self.sizes[is_left].sum() + np.where(is_left, -self.sizes, self.sizes)
        return np.where(self._too_few(n_left), -1, gains)

    def _too_few(self, n_left: IntArray) -> BoolArray:
        """Whether a side has too few users, where n_left of those with a value go left."""
        return np.asarray((n_left + self.n_missing < self.min_users) | (self.sizes.sum() - n_left < self.min_users))
