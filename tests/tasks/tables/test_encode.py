"""Tables encoded as arrays: every kind of feature, missing values, winners first."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.schema import table_schema
from models.records.features import Feature, FeatureKind
from models.records.manifest import Licence, Manifest
from tasks.tables.encode import encode, encode_contexts, encode_users

FEATURES = (
    Feature(name="price", kind=FeatureKind.NUMERIC, description="price", unit="EUR"),
    Feature(name="size", kind=FeatureKind.ORDINAL, description="size", levels=("small", "medium", "large")),
    Feature(name="fresh", kind=FeatureKind.BINARY, description="fresh", levels=("no", "yes")),
    Feature(name="group", kind=FeatureKind.CATEGORICAL, description="group", levels=("fish", "rice", "egg")),
    Feature(name="risk", kind=FeatureKind.MULTI_HOT, description="risk", levels=("bones", "raw")),
)


@pytest.fixture
def table() -> PairwiseTable:
    items = pa.table(
        {
            "item_id": ["a", "b", "c"],
            "price": [1.5, None, 3.0],
            "size": ["large", "small", None],
            "fresh": [True, None, False],
            "group": ["egg", None, "fish"],
            "risk": [["raw", "bones"], [], None],
        },
        schema=table_schema("items", FEATURES),
    )
    comparisons = pa.table(
        {
            "comparison_id": ["1", "2"],
            "left_id": ["a", "b"],
            "right_id": ["c", "a"],
            "left_wins": [True, False],
            "user_id": ["u2", "u1"],
        },
        schema=table_schema("comparisons", (), optional=["user_id"]),
    )
    users = pa.table({"user_id": ["u1", "u2"]}, schema=table_schema("users", ()))
    manifest = Manifest(
        name="menu",
        title="A menu",
        citation="none",
        licence=Licence(name="none", terms="none"),
        adapter_version="1",
        simulated=True,
        unpinned=False,
        side="random",
        raw_files=(),
        rows_read={},
        rows={},
    )
    return PairwiseTable(items=items, comparisons=comparisons, users=users, contexts=None, manifest=manifest)


def test_each_kind_becomes_its_columns_and_missing_is_nan(table: PairwiseTable) -> None:
    encoded = encode(table)
    names = ["price", "size", "fresh", "group", "risk=bones", "risk=raw"]
    assert [column.name for column in encoded.columns] == names
    assert [column.feature for column in encoded.columns][-2:] == ["risk", "risk"]
    assert encoded.columns[0].unit == "EUR"
    nan = np.nan
    expected = [[1.5, 2, 1, 2, 1, 1], [nan, 0, nan, nan, 0, 0], [3, nan, 0, 0, nan, nan]]
    np.testing.assert_array_equal(encoded.items, np.array(expected, dtype=float))


def test_comparisons_are_rows_winner_first_with_their_users(table: PairwiseTable) -> None:
    encoded = encode(table)
    assert encoded.comparisons.tolist() == [[0, 2], [0, 1]]
    assert encoded.users is not None
    assert encoded.users.tolist() == [1, 0]


def test_categories_can_be_given_as_codes_or_one_column_a_level(table: PairwiseTable) -> None:
    codes = encode(table, categorical={"group": "codes"})
    assert codes.columns[3].kind is FeatureKind.ORDINAL
    np.testing.assert_array_equal(codes.items[:, 3], [2.0, np.nan, 0.0])
    one_hot = encode(table, categorical={"group": "one_hot"})
    assert [column.name for column in one_hot.columns[3:6]] == ["group=fish", "group=rice", "group=egg"]
    np.testing.assert_array_equal(one_hot.items[:, 3:6], [[0, 0, 1], [np.nan] * 3, [1, 0, 0]])


def test_users_have_features_too(table: PairwiseTable) -> None:
    features, columns = encode_users(table)
    assert features.shape == (2, 0)
    assert columns == ()
    with pytest.raises(ValueError, match="menu has no users"):
        encode_users(dataclasses.replace(table, users=None))


def test_only_categorical_features_can_be_encoded_otherwise(table: PairwiseTable) -> None:
    with pytest.raises(KeyError, match="price"):
        encode(table, categorical={"price": "codes"})


def test_contexts_become_a_matrix_with_a_row_for_each_comparison(table):
    features = (
        Feature(name="indoor", kind=FeatureKind.BINARY, description="indoor", levels=("no", "yes")),
        Feature(name="surface", kind=FeatureKind.CATEGORICAL, description="surface", levels=("clay", "grass")),
    )
    contexts = pa.table(
        {"context_id": ["t2", "t1"], "indoor": [True, None], "surface": ["grass", "clay"]},
        schema=table_schema("contexts", features),
    )
    comparisons = table.comparisons.append_column("context_id", pa.array(["t1", "t2"]))
    played = dataclasses.replace(table, contexts=contexts, comparisons=comparisons)
    found, columns, context_of = encode_contexts(played)
    np.testing.assert_array_equal(found, [[1.0, 1.0], [np.nan, 0.0]])
    assert [column.name for column in columns] == ["indoor", "surface"]
    np.testing.assert_array_equal(context_of, [1, 0])
    with pytest.raises(ValueError, match="the table menu has no contexts"):
        encode_contexts(table)
