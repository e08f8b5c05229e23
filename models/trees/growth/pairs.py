"""The comparisons of growing trees, level by level: held in memory, or counted in passes over batches.

A level holds entries: items in nodes. Of its pairs it needs only the number in each node, the wins minus losses of each
entry and, after the split, the entries used by pairs that stay within a child. All of these add up over batches, so a
tree grown out of core, or from parts of the data on many machines, is the same node for node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice
from operator import add
from typing import Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.numerics.validation import check_comparisons
from models.records.arrays import BoolArray, IntArray

T = TypeVar("T")
Surplus = IntArray | NDArray[np.int32]


class Pairs(Protocol):
    """The pairs of a level."""

    @property
    def n_pairs(self) -> IntArray:
        """(nodes,) the number of pairs in each node."""

    def surplus(self, column: int) -> Surplus:
        """(entries,) wins minus losses of each entry, over the pairs not masked on `column` (dt-pbo Eq. 12)."""

    def follow(self, child: IntArray, column: IntArray) -> Followed:
        """Send the pairs to the children. child: (entries,) child of each entry, -1 in a leaf; column: (nodes,)."""


class Followed(Protocol):
    """Pairs assigned to the children of a level; children are numbered left, right, left, right, ..."""

    @property
    def uses(self) -> BoolArray:
        """(2, entries) whether pairs of a left child, and of a right child, use each entry."""

    def settle(self, successor: NDArray[np.int32], items: IntArray, place: IntArray) -> Pairs:
        """The next level's pairs.

        successor: (2, entries) the next level's entry for each entry in a left child, and in a right child; one row if
            no entry goes to both.
        items: (next entries,) their items; place: (children,) the next level's node of each child, -1 without pairs.
        """


@dataclass(frozen=True, eq=False)
class PairsInMemory:
    """Pairs as entries: winners, losers and node (pairs,); masked (d, pairs) if straddlers are kept, else None.

    A kept straddler follows its winner. It is masked on the columns it was kept across (dt-pbo C.2).
    """

    winners: IntArray
    losers: IntArray
    node: IntArray
    n_entries: int
    n_nodes: int
    masked: BoolArray | None

    @property
    def n_pairs(self) -> IntArray:
        """(nodes,) the number of pairs in each node."""
        return np.bincount(self.node, minlength=self.n_nodes)

    def surplus(self, column: int) -> Surplus:
        """See `Pairs`."""
        if self.masked is None:
            return self._surplus
        counts = ~self.masked[column]
        return self._wins_minus_losses(self.winners[counts], self.losers[counts])

    @cached_property
    def _surplus(self) -> Surplus:
        return self._wins_minus_losses(self.winners, self.losers)

    def _wins_minus_losses(self, winners: IntArray, losers: IntArray) -> Surplus:
        """In 32 bits if no sum over pairs can overflow: each column then reads half the memory."""
        surplus = np.bincount(winners, minlength=self.n_entries) - np.bincount(losers, minlength=self.n_entries)
        return surplus.astype(np.int32) if len(winners) <= np.iinfo(np.int32).max else surplus

    def follow(self, child: IntArray, column: IntArray) -> _FollowedInMemory:
        """See `Pairs`."""
        pair_child = child.take(self.winners)  # a straddler follows its winner
        straddles = pair_child != child.take(self.losers)
        stays = pair_child >= 0
        if self.masked is None:
            kept = np.flatnonzero(stays & ~straddles)
            return _FollowedInMemory(self.winners[kept], self.losers[kept], pair_child[kept], None, len(child))
        masked = self.masked[:, stays]
        at = np.flatnonzero(straddles[stays])
        masked[column[self.node[stays][at]], at] = True
        return _FollowedInMemory(self.winners[stays], self.losers[stays], pair_child[stays], masked, len(child))


@dataclass(frozen=True, eq=False)
class _FollowedInMemory:
    winners: IntArray
    losers: IntArray
    child: IntArray
    masked: BoolArray | None
    n_entries: int

    @property
    def uses(self) -> BoolArray:
        uses = np.zeros((2, self.n_entries), dtype=bool)
        side = self.child % 2
        uses[side, self.winners] = True
        uses[side, self.losers] = True
        return uses

    def settle(self, successor: NDArray[np.int32], items: IntArray, place: IntArray) -> PairsInMemory:
        flat = successor.ravel()
        row = 0 if len(successor) == 1 else self.child % 2 * self.n_entries
        return PairsInMemory(
            winners=flat.take(row + self.winners).astype(np.int64),
            losers=flat.take(row + self.losers).astype(np.int64),
            node=place.take(self.child),
            n_entries=len(items),
            n_nodes=int(place.max()) + 1,
            masked=self.masked,
        )


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of one pass over the pairs within nodes: surplus and appearance of each item, pairs of each node."""

    surplus: IntArray
    appears: BoolArray
    n_pairs: IntArray

    def __add__(self, other: Self) -> Tally:
        """Add two tallies of the same nodes."""
        return Tally(self.surplus + other.surplus, self.appears | other.appears, self.n_pairs + other.n_pairs)


def tally(comparisons: IntArray, *, node_of_item: IntArray, n_nodes: int) -> Tally:
    """Count the comparisons (n, 2) with both items in one node; node_of_item: (m,), -1 outside all nodes.

    >>> found = tally(np.array([[0, 1], [2, 0]]), node_of_item=np.array([0, 0, 1]), n_nodes=2)
    >>> found.surplus, found.n_pairs  # the second pair straddles the nodes
    (array([ 1, -1,  0]), array([1, 0]))
    """
    node = node_of_item.take(comparisons[:, 0])
    within = np.flatnonzero((node >= 0) & (node == node_of_item.take(comparisons[:, 1])))
    winners, losers = comparisons[:, 0].take(within), comparisons[:, 1].take(within)
    won = np.bincount(winners, minlength=len(node_of_item))
    lost = np.bincount(losers, minlength=len(node_of_item))
    return Tally(won - lost, won + lost > 0, np.bincount(node.take(within), minlength=n_nodes))


@runtime_checkable
class Batches(Protocol):
    """Comparisons in parts that can be read any number of times, on this machine or on others."""

    def total(self, measure: Callable[[IntArray], T]) -> T:
        """Sum `measure` over the parts (n, 2)."""


@dataclass(frozen=True)
class ArrayBatches:
    """Batches of comparisons among n_items items, from an iterable that starts again each time.

    >>> ArrayBatches([np.array([[0, 1]]), np.array([[2, 1], [2, 0]])], n_items=3).total(len)
    3
    """

    arrays: Iterable[ArrayLike]
    n_items: int

    def total(self, measure: Callable[[IntArray], T]) -> T:
        """See `Batches`. Raises ValueError for a generator, for no batch at all, and for impossible comparisons."""
        batches = iter(self.arrays)
        if batches is self.arrays:
            raise ValueError("batches are read several times: pass a list, for example, not a generator")
        found = [measure(check_comparisons(batch, self.n_items)) for batch in islice(batches, 1)]
        if not found:
            raise ValueError("there are no batches of comparisons")
        return reduce(add, (measure(check_comparisons(batch, self.n_items)) for batch in batches), found[0])


@dataclass(frozen=True, eq=False)
class PairsInBatches:
    """Pairs that are counted in passes over batches and never held in memory. Discards straddlers."""

    batches: Batches
    level_items: IntArray
    counted: Tally

    @classmethod
    def at_root(cls, batches: Batches, tree_of_item: IntArray, n_trees: int) -> tuple[Self, IntArray]:
        """The pairs of the root level, and the items they use."""
        counted = batches.total(partial(tally, node_of_item=tree_of_item, n_nodes=n_trees))
        items = np.flatnonzero(counted.appears)
        return cls(batches, items, counted), items

    @property
    def n_pairs(self) -> IntArray:
        """(nodes,) the number of pairs in each node."""
        return self.counted.n_pairs

    def surplus(self, column: int) -> IntArray:
        """See `Pairs`."""
        return self.counted.surplus.take(self.level_items)

    def follow(self, child: IntArray, column: IntArray) -> _FollowedInBatches:
        """See `Pairs`; takes one pass over the batches."""
        child_of_item = np.full(len(self.counted.surplus), -1)
        child_of_item[self.level_items] = child
        counted = self.batches.total(partial(tally, node_of_item=child_of_item, n_nodes=int(child.max()) + 1))
        return _FollowedInBatches(self.batches, self.level_items, child, counted)


@dataclass(frozen=True, eq=False)
class _FollowedInBatches:
    batches: Batches
    level_items: IntArray
    child: IntArray
    counted: Tally

    @property
    def uses(self) -> BoolArray:
        used = self.counted.appears.take(self.level_items)
        right = self.child % 2 == 1
        return np.stack([used & ~right, used & right])

    def settle(self, successor: NDArray[np.int32], items: IntArray, place: IntArray) -> PairsInBatches:
        n_pairs = np.zeros(int(place.max()) + 1, dtype=np.int64)
        held = np.flatnonzero(self.counted.n_pairs)
        n_pairs[place[held]] = self.counted.n_pairs[held]
        return PairsInBatches(self.batches, items, Tally(self.counted.surplus, self.counted.appears, n_pairs))
