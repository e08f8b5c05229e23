"""Splits that hold out items, not duels: what a model says of items that it has never seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from models.numerics.hashing import HashArray, mix
from models.records.arrays import BoolArray, IntArray
from models.scores.duel_splits import Duels, Split


@dataclass(frozen=True, eq=False)
class ItemSplit:
    """Duels to train on are between two items seen, those to test between two held out; the others are left out.

    choosing: for the choice of settings, pairs of rows to fit and rows to try: the duels to train on, split in the same
    way by items.
    """

    split: Split
    choosing: tuple[tuple[IntArray, IntArray], ...]


def hold_out_items(duels: Duels, groups: int, *, in_turn: bool, seed: int) -> list[ItemSplit]:
    """Hold out one of so many groups of items, or each in turn.

    Groups are of equal size, up to one item. Settings are chosen by holding out a group of the other items, or each in
    turn. The groups depend on the seed and the items' keys, not on the order of rows. A split is left out if it has no
    duels to fit, to try or to test.

    >>> pairs = np.array([[high, low] for high in range(12) for low in range(high)])
    >>> duels = Duels(
    ...     items=np.arange(12.0)[:, None], columns=(), comparisons=pairs, left_wins=np.ones(66, dtype=bool),
    ...     keys=np.arange(66, dtype=np.uint64), contexts=np.zeros((1, 0)), context_columns=(),
    ...     context_of=np.zeros(66, dtype=np.int64),
    ... )
    >>> [found] = hold_out_items(duels, 3, in_turn=False, seed=0)
    >>> len(found.split.train), len(found.split.test)
    (28, 6)
    >>> set(pairs[found.split.train].ravel().tolist()) & set(pairs[found.split.test].ravel().tolist())
    set()
    """
    names = duels.names
    keys = np.arange(names.max(initial=-1) + 1, dtype=np.uint64)
    if duels.item_keys is not None:
        keys[names] = duels.item_keys
    met = names[duels.comparisons]
    everything = np.ones(len(keys), dtype=bool)
    found = []
    for seen, held_out in _parts(keys, everything, groups, in_turn=in_turn, seed=seed):
        train, test = _between(met, seen), _between(met, held_out)
        parts = _parts(keys, seen, groups, in_turn=in_turn, seed=seed)
        rows = [(_between(met, fitted), _between(met, tried)) for fitted, tried in parts]
        choosing = tuple((fitted, tried) for fitted, tried in rows if len(fitted) and len(tried))
        if len(test) and choosing:
            none = np.zeros(0, dtype=np.int64)
            found.append(ItemSplit(Split(train, none, test, duels.left_wins[test]), choosing))
    return found


def _parts(
    keys: HashArray, among: BoolArray, groups: int, *, in_turn: bool, seed: int
) -> Iterator[tuple[BoolArray, BoolArray]]:
    """The items seen and the items held out (n,), of those `among` (n,)."""
    items = np.flatnonzero(among)
    order = items[np.argsort(mix(mix(seed, int(among.sum())), keys[items]), kind="stable")]
    for at in range(groups if in_turn else 1):
        held_out = np.zeros(len(keys), dtype=bool)
        held_out[order[at::groups]] = True
        yield among & ~held_out, held_out


def _between(met: IntArray, items: BoolArray) -> IntArray:
    """The rows of duels (m, 2) between two of the items (n,)."""
    return np.flatnonzero(items[met].all(axis=1))
