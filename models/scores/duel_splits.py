"""Duels as arrays, and how they are split: before mirroring, or after it as published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.numerics.hashing import HashArray, mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.duel_results import SPLIT_FIRST, SplitProtocol
from models.records.errors import UsageError
from models.records.features import Column


@dataclass(frozen=True, eq=False)
class Duels:
    """m comparisons of n items with d features, in q contexts with e features.

    items: (n, d). comparisons: (m, 2) rows of items, winner first. left_wins: (m,) whether the winner stood left.
    keys: (m,) numbers that identify the comparisons. contexts: (q, e), context_of: (m,) rows of contexts; a table
    without contexts has one context of no features.
    item_keys: (n,) numbers that identify the items, where several rows can be one item; None if each is its own.
    """

    items: FloatArray
    columns: tuple[Column, ...]
    comparisons: IntArray
    left_wins: BoolArray
    keys: HashArray
    contexts: FloatArray
    context_columns: tuple[Column, ...]
    context_of: IntArray
    item_keys: HashArray | None = None

    @property
    def names(self) -> IntArray:
        """(n,) which item each row is, numbered in the order of their keys."""
        if self.item_keys is None:
            return np.arange(len(self.items))
        return np.unique(self.item_keys, return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of the duels; each occurs once under `split_first`, else twice.

    left_wins: (test,) whether the winner stands left in each test row; a mirrored duel has its sides swapped.
    validation may be empty.
    """

    train: IntArray
    validation: IntArray
    test: IntArray
    left_wins: BoolArray


def hold_out(duels: Duels, protocol: SplitProtocol, *, validation_share: float, test_share: float, seed: int) -> Split:
    """Split the duels once into training, validation and test rows.

    The split depends on the seed and the comparisons' keys, not on the order of rows.
    Raises UsageError if no duel is held out for testing.

    >>> duels = Duels(
    ...     items=np.eye(2), columns=(), comparisons=np.array([[0, 1]] * 10), left_wins=np.ones(10, dtype=bool),
    ...     keys=np.arange(10, dtype=np.uint64), contexts=np.zeros((1, 0)), context_columns=(),
    ...     context_of=np.zeros(10, dtype=np.int64),
    ... )
    >>> split = hold_out(duels, "split_first", validation_share=0.1, test_share=0.2, seed=0)
    >>> len(split.train), len(split.validation), len(split.test)
    (7, 1, 2)
    """
    rows, left_wins = _shuffled(duels, protocol, seed)
    n_test, n_validation = (round(share * len(rows)) for share in (test_share, validation_share))
    if not n_test:
        raise UsageError(f"test_share = {test_share:g} holds out none of {len(rows):,} duels. Set a larger share.")
    test, validation, train = np.split(rows, [n_test, n_test + n_validation])
    return Split(np.sort(train), np.sort(validation), test, left_wins[:n_test])


def in_folds(duels: Duels, protocol: SplitProtocol, n_folds: int, *, seed: int) -> list[Split]:
    """Split the duels into folds and test each fold once, without validation rows.

    Raises UsageError if there are fewer duels than folds.

    >>> duels = Duels(
    ...     items=np.eye(2), columns=(), comparisons=np.array([[0, 1]] * 6), left_wins=np.ones(6, dtype=bool),
    ...     keys=np.arange(6, dtype=np.uint64), contexts=np.zeros((1, 0)), context_columns=(),
    ...     context_of=np.zeros(6, dtype=np.int64),
    ... )
    >>> folds = in_folds(duels, "split_first", 3, seed=0)
    >>> [(len(fold.train), len(fold.test)) for fold in folds]
    [(4, 2), (4, 2), (4, 2)]
    """
    if len(duels.keys) < n_folds:
        raise UsageError(f"folds = {n_folds:,} exceeds the number of duels. Set {len(duels.keys):,} at most.")
    rows, left_wins = _shuffled(duels, protocol, seed)
    fold = np.arange(len(rows)) % n_folds
    none = np.zeros(0, dtype=np.int64)
    return [Split(np.sort(rows[fold != at]), none, rows[fold == at], left_wins[fold == at]) for at in range(n_folds)]


def _shuffled(duels: Duels, protocol: SplitProtocol, seed: int) -> tuple[IntArray, BoolArray]:
    """The rows of the duels in random order, and whether the winner stands left."""
    times = 1 if protocol == SPLIT_FIRST else 2
    rows, mirrored = np.tile(np.arange(len(duels.keys)), times), np.repeat(np.arange(times), len(duels.keys))
    order = np.argsort(mix(mix(seed, duels.keys[rows]), mirrored), kind="stable")
    return rows[order], (duels.left_wins[rows] ^ (mirrored == 1))[order]
