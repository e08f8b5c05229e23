"""Duels as preference models take them, and how they are split: before any mirroring, or as published, after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import read_table
from models.numerics.hashing import HashArray, hash_texts, mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.errors import UsageError
from models.records.features import Column, Feature, FeatureKind
from tasks.tables.encode import encode, encode_contexts

SplitProtocol = Literal["split_first", "mirrored_first", "as_published"]
"""Duels are split as they are; or each is there twice, with its sides changed, and all are split (pref-shap).

as_published: the latter, of a table that has also the duels which were published and never had an outcome.
"""
PROTOCOLS: tuple[SplitProtocol, ...] = ("split_first", "mirrored_first")


@dataclass(frozen=True, eq=False)
class Duels:
    """Comparisons (m, 2), rows of items (n, d), winner first; in the contexts of rows context_of of contexts (q, e).

    left_wins: (m,) whether the winner stood left; keys: (m,) lasting numbers of the comparisons. A table without
    contexts has none, of no columns.
    """

    items: FloatArray
    columns: tuple[Column, ...]
    comparisons: IntArray
    left_wins: BoolArray
    keys: HashArray
    contexts: FloatArray
    context_columns: tuple[Column, ...]
    context_of: IntArray

    @property
    def contextual(self) -> bool:
        """Whether anything is known of the contexts."""
        return bool(self.context_columns)


def read_duels(table_folder: Path, *, leave_out: Sequence[str] = (), sides: Sequence[str] = ()) -> Duels:
    """Read a table from its folder.

    leave_out: features of the items that models do not get. sides: features of a comparison, left_NAME and right_NAME,
    that belong to the two that met; an item then is one of them as it was in that duel.
    """
    table = read_table(table_folder)
    encoded = encode(table)
    kept = [at for at, column in enumerate(encoded.columns) if column.feature not in leave_out]
    items, columns = encoded.items[:, kept], tuple(encoded.columns[at] for at in kept)
    comparisons, left_wins = encoded.comparisons, table.comparisons["left_wins"].to_numpy()
    if sides:
        winners, losers = (_of_side(table, sides, left_wins == won) for won in (True, False))
        n = len(comparisons)
        met = np.vstack([np.hstack([items[comparisons[:, 0]], winners]), np.hstack([items[comparisons[:, 1]], losers])])
        items, comparisons = met, np.stack([np.arange(n), np.arange(n) + n], axis=1)
        columns = (*columns, *(_side_column(table, name) for name in sides))
    contexts, context_of = np.zeros((1, 0)), np.zeros(len(comparisons), dtype=np.int64)
    context_columns: tuple[Column, ...] = ()
    if table.contexts is not None:
        contexts, context_columns, context_of = encode_contexts(table)
    keys = hash_texts(table.comparisons["comparison_id"].to_pylist())
    return Duels(items, columns, comparisons, left_wins, keys, contexts, context_columns, context_of)


def _of_side(table: PairwiseTable, names: Sequence[str], is_left: BoolArray) -> FloatArray:
    """The features of those who stood left where `is_left` (m,), and right elsewhere, (m, names)."""

    def values(name: str) -> FloatArray:
        return np.asarray(table.comparisons[name].cast(pa.float64()).to_numpy(), dtype=np.float64)

    return np.stack([np.where(is_left, values(f"left_{name}"), values(f"right_{name}")) for name in names], axis=1)


def _side_column(table: PairwiseTable, name: str) -> Column:
    feature: Feature = next(feature for feature in table.comparison_features if feature.name == f"left_{name}")
    if feature.kind not in {FeatureKind.NUMERIC, FeatureKind.BINARY}:
        raise ValueError(f"{feature.name} is {feature.kind}: only numbers and yes or no can be features of a side")
    return Column(name=name, feature=name, kind=feature.kind, levels=feature.levels, unit=feature.unit)


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of the duels; under `split_first` each is there once, else twice.

    left_wins: (test,) of the sides as they are there. validation is empty where there are too few duels to keep some
    for it.
    """

    train: IntArray
    validation: IntArray
    test: IntArray
    left_wins: BoolArray


def hold_out(duels: Duels, protocol: SplitProtocol, *, validation_share: float, test_share: float, seed: int) -> Split:
    """Split the duels once. Who is held out depends on the seed and the comparison's id, not on the order of rows.

    Raises UsageError if none is held out for testing.
    """
    rows, left_wins = _shuffled(duels, protocol, seed)
    n_test, n_validation = (round(share * len(rows)) for share in (test_share, validation_share))
    if not n_test:
        raise UsageError(f"test_share = {test_share:g}: that is none of {len(rows):,} duels. Hold out more.")
    test, validation, train = np.split(rows, [n_test, n_test + n_validation])
    return Split(np.sort(train), np.sort(validation), test, left_wins[:n_test])


def in_folds(duels: Duels, protocol: SplitProtocol, n_folds: int, *, seed: int) -> list[Split]:
    """Split the duels into folds, each of which is tested once. Raises UsageError if that leaves a fold without any."""
    if len(duels.keys) < n_folds:
        raise UsageError(f"folds = {n_folds:,}: there are {len(duels.keys):,} duels. Take as many folds at most.")
    rows, left_wins = _shuffled(duels, protocol, seed)
    fold = np.arange(len(rows)) % n_folds
    none = np.zeros(0, dtype=np.int64)
    return [Split(np.sort(rows[fold != at]), none, rows[fold == at], left_wins[fold == at]) for at in range(n_folds)]


def _shuffled(duels: Duels, protocol: SplitProtocol, seed: int) -> tuple[IntArray, BoolArray]:
    """The rows of the duels by lot, and whether left wins."""
    times = 1 if protocol == "split_first" else 2
    rows, mirrored = np.tile(np.arange(len(duels.keys)), times), np.repeat(np.arange(times), len(duels.keys))
    order = np.argsort(mix(mix(seed, duels.keys[rows]), mirrored), kind="stable")
    return rows[order], (duels.left_wins[rows] ^ (mirrored == 1))[order]
