"""A pairwise table as arrays for the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_adapters.table.pairwise_table import PairwiseTable
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column, Encoded, Feature, FeatureKind

CategoricalEncoding = Literal["categories", "codes", "one_hot"]


def encode(table: PairwiseTable, *, categorical: Mapping[str, CategoricalEncoding] | None = None) -> Encoded:
    """Items as a numeric matrix with its columns, comparisons as rows of it, winner first.

    categorical: the encoding of a categorical feature, by name: `categories` (the default), `codes` read as numbers, or
    `one_hot`, one binary column for each level.
    Raises KeyError for a name that is not a categorical feature of the items.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from data_adapters.catalogue import adapter
    >>> from data_adapters.source.build import build
    >>> from data_adapters.source.locate import locate
    >>> from data_adapters.source.simulation import simulate
    >>> with TemporaryDirectory() as name:
    ...     known = simulate(adapter("chameleon"), Path(name), seed=0, users=12)
    ...     [table] = build(adapter("chameleon"), locate(adapter("chameleon"), Path(name), allow_unpinned=False))
    >>> encoded = encode(table)
    >>> encoded.items.shape == (12, len(encoded.columns)), encoded.comparisons.shape[1]
    (True, 2)
    """
    wanted = dict(categorical or {})
    unknown = wanted.keys() - {f.name for f in table.item_features if f.kind is FeatureKind.CATEGORICAL}
    if unknown:
        raise KeyError(f"no categorical features of the items of {table.name}: {', '.join(sorted(unknown))}")
    items, columns = _encode_features(table.items, table.item_features, wanted)
    item_ids, comparisons = table.items["item_id"], table.comparisons
    left, right = _rows_of(comparisons["left_id"], item_ids), _rows_of(comparisons["right_id"], item_ids)
    left_wins = comparisons["left_wins"].to_numpy()
    user_ids = None if table.users is None else table.users["user_id"]
    return Encoded(
        items=items,
        columns=columns,
        item_ids=item_ids.to_numpy(),
        comparisons=np.where(left_wins[:, None], np.stack([left, right], 1), np.stack([right, left], 1)),
        users=None if user_ids is None else _rows_of(comparisons["user_id"], user_ids),
        user_ids=None if user_ids is None else user_ids.to_numpy(),
    )


def encode_users(table: PairwiseTable) -> tuple[FloatArray, tuple[Column, ...]]:
    """The users' features, (u, d), in the order of `Encoded.user_ids`, and their columns.

    Raises ValueError if the table has no users.
    """
    if table.users is None:
        raise ValueError(f"the table {table.name} has no users")
    return _encode_features(table.users, table.user_features, {})


def encode_contexts(table: PairwiseTable) -> tuple[FloatArray, tuple[Column, ...], IntArray]:
    """The contexts' features, (q, d), their columns, and the row of each comparison's context, (n,).

    Raises ValueError if the table has no contexts.
    """
    if table.contexts is None:
        raise ValueError(f"the table {table.name} has no contexts")
    contexts, columns = _encode_features(table.contexts, table.context_features, {})
    return contexts, columns, _rows_of(table.comparisons["context_id"], table.contexts["context_id"])


def _encode_features(
    rows: pa.Table, features: Sequence[Feature], categorical: Mapping[str, CategoricalEncoding]
) -> tuple[FloatArray, tuple[Column, ...]]:
    blocks: list[FloatArray] = [np.zeros((len(rows), 0))]
    columns: list[Column] = []
    for feature in features:
        block, described = _encode_feature(rows[feature.name], feature, categorical.get(feature.name, "categories"))
        blocks.append(block)
        columns += described
    return np.hstack(blocks), tuple(columns)


def _rows_of(ids: pa.ChunkedArray, known: pa.ChunkedArray) -> IntArray:
    rows: IntArray = pc.index_in(ids, value_set=known.combine_chunks()).to_numpy().astype(np.int64)
    return rows


def _encode_feature(
    values: pa.ChunkedArray, feature: Feature, encoding: CategoricalEncoding
) -> tuple[FloatArray, list[Column]]:
    """The columns of one feature: (m, columns) and their descriptions."""
    levels = feature.levels or ()
    if feature.kind is FeatureKind.MULTI_HOT:
        return _multi_hot(values, feature.name, levels)
    if feature.kind in {FeatureKind.NUMERIC, FeatureKind.BINARY}:
        numbers = values.cast(pa.float64())
    else:
        numbers = pc.index_in(values, value_set=pa.array(levels, pa.string()), skip_nulls=True).cast(pa.float64())
    block = numbers.to_numpy().astype(np.float64)
    if feature.kind is FeatureKind.CATEGORICAL and encoding == "one_hot":
        one_hot = np.where(np.isnan(block)[:, None], np.nan, block[:, None] == np.arange(len(levels)))
        return one_hot, _level_columns(feature.name, levels)
    kind = FeatureKind.ORDINAL if encoding == "codes" and feature.kind is FeatureKind.CATEGORICAL else feature.kind
    column = Column(name=feature.name, feature=feature.name, kind=kind, levels=feature.levels, unit=feature.unit)
    return block[:, None], [column]


def _multi_hot(values: pa.ChunkedArray, name: str, levels: tuple[str, ...]) -> tuple[FloatArray, list[Column]]:
    lists = values.combine_chunks()
    block = np.zeros((len(lists), len(levels)))
    block[pc.is_null(lists).to_numpy(zero_copy_only=False)] = np.nan
    held = pc.index_in(pc.list_flatten(lists), value_set=pa.array(levels, pa.string()))
    block[pc.list_parent_indices(lists).to_numpy(), held.to_numpy()] = 1.0
    return block, _level_columns(name, levels)


def _level_columns(name: str, levels: tuple[str, ...]) -> list[Column]:
    return [
        Column(name=f"{name}={level}", feature=name, kind=FeatureKind.BINARY, levels=("no", "yes")) for level in levels
    ]
