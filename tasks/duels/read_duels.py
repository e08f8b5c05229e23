"""Reading a pairwise table as duels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import read_table
from models.numerics.hashing import hash_texts
from models.records.arrays import BoolArray, FloatArray
from models.records.features import Column, Feature, FeatureKind
from models.scores.duel_splits import Duels
from tasks.tables.encode import encode, encode_contexts


def read_duels(table_folder: Path, *, leave_out: Sequence[str] = (), sides: Sequence[str] = ()) -> Duels:
    """Read a table from its folder.

    leave_out: features of the items that models do not get. sides: features of a comparison, left_NAME and right_NAME,
    that describe its two items at the time; each item of a duel then has a row of its own with these features added.
    """
    table = read_table(table_folder)
    encoded = encode(table)
    kept = [at for at, column in enumerate(encoded.columns) if column.feature not in leave_out]
    items, columns = encoded.items[:, kept], tuple(encoded.columns[at] for at in kept)
    comparisons, left_wins = encoded.comparisons, table.comparisons["left_wins"].to_numpy()
    item_keys = hash_texts([str(item) for item in encoded.item_ids])
    if sides:
        winners, losers = (_side_features(table, sides, left_wins == won) for won in (True, False))
        n = len(comparisons)
        met = np.vstack([np.hstack([items[comparisons[:, 0]], winners]), np.hstack([items[comparisons[:, 1]], losers])])
        item_keys = item_keys[comparisons.T.ravel()]
        items, comparisons = met, np.stack([np.arange(n), np.arange(n) + n], axis=1)
        columns = (*columns, *(_side_column(table, name) for name in sides))
    contexts, context_of = np.zeros((1, 0)), np.zeros(len(comparisons), dtype=np.int64)
    context_columns: tuple[Column, ...] = ()
    if table.contexts is not None:
        contexts, context_columns, context_of = encode_contexts(table)
    keys = hash_texts(table.comparisons["comparison_id"].to_pylist())
    return Duels(items, columns, comparisons, left_wins, keys, contexts, context_columns, context_of, item_keys)


def _side_features(table: PairwiseTable, names: Sequence[str], is_left: BoolArray) -> FloatArray:
    """Features of the left items where `is_left` (m,) and of the right items elsewhere: (m, names)."""

    def values(name: str) -> FloatArray:
        return np.asarray(table.comparisons[name].cast(pa.float64()).to_numpy(), dtype=np.float64)

    return np.stack([np.where(is_left, values(f"left_{name}"), values(f"right_{name}")) for name in names], axis=1)


def _side_column(table: PairwiseTable, name: str) -> Column:
    feature: Feature = next(feature for feature in table.comparison_features if feature.name == f"left_{name}")
    if feature.kind not in {FeatureKind.NUMERIC, FeatureKind.BINARY}:
        raise ValueError(f"{feature.name} is {feature.kind}: only numeric and binary features can belong to a side")
    return Column(name=name, feature=name, kind=feature.kind, levels=feature.levels, unit=feature.unit)
