"""The pairwise table: schemas that explain themselves, checks that name what is wrong, folders that appear whole."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_adapters.catalogue import adapter
from data_adapters.files import whole_folder as whole_folder_module
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.checks import check_table
from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import read_table, write_table
from data_adapters.table.schema import feature_field, features_in
from data_adapters.table.side import coin_of
from models.records.errors import OutputError, RawDataError, TableError
from models.records.features import Feature, FeatureKind

SUSHI = adapter("sushi")


@pytest.fixture(scope="module")
def sushi(simulated_sushi: Path) -> PairwiseTable:
    return build(SUSHI, locate(SUSHI, simulated_sushi))[0]


@pytest.fixture
def toy_table(toy, tmp_path: Path) -> PairwiseTable:
    simulate(toy, tmp_path / "toy-raw", seed=1)
    [table] = build(toy, locate(toy, tmp_path / "toy-raw"))
    return table


def with_column(table: PairwiseTable, part: str, name: str, values: list) -> PairwiseTable:
    old = table.parts[part]
    position = old.column_names.index(name)
    field = old.schema.field(position)
    return replace(table, **{part: old.set_column(position, field, pa.array(values, field.type))})


# --------------------------------------------------------------------------------------- schema, round trip

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
limits = st.none() | st.floats(allow_nan=False, allow_infinity=False)
numeric_features = st.builds(
    Feature, name=texts, kind=st.just(FeatureKind.NUMERIC), description=texts, unit=st.none() | texts,
    minimum=limits, maximum=limits,
)  # fmt: skip
labelled_features = st.builds(
    Feature, name=texts, kind=st.sampled_from(["ordinal", "categorical", "multi_hot"]), description=texts,
    levels=st.lists(texts, min_size=1, max_size=4, unique=True).map(tuple),
)  # fmt: skip


@given(numeric_features | labelled_features)
def test_a_features_arrow_field_says_all_the_feature_does(feature: Feature):
    assert features_in(pa.schema([feature_field(feature)])) == (feature,)


def test_every_kind_of_column_survives_the_round_trip(toy_table: PairwiseTable, tmp_path: Path, toy):
    back = read_table(write_table(toy_table, tmp_path))
    assert back.item_features == toy.dataset.items
    assert back.context_features == toy.dataset.contexts
    assert back.comparison_features == toy.dataset.comparisons
    assert back.items.to_pylist() == [
        {"item_id": "ada", "age": 1.0, "size": "small", "tame": True, "colour": "red", "diet": ["meat", "leaves"]},
        {"item_id": "bob, the elder", "age": None, "size": None, "tame": None, "colour": "blue", "diet": []},
        {"item_id": "cy", "age": 3.0, "size": "large", "tame": False, "colour": None, "diet": None},
    ]
    assert back.comparisons.column_names == [
        "comparison_id", "left_id", "right_id", "left_wins", "context_id", "task_index", "walkover", "left_rank",
        "right_rank",
    ]  # fmt: skip
    assert back.comparisons["right_rank"].to_pylist() == [None, 3.0, 7.0]
    assert back.users is None


def test_rows_without_outcome_are_counted_to_the_last_one(toy_table: PairwiseTable):
    manifest = toy_table.manifest
    dropped = sum(drop.rows for drop in manifest.dropped if drop.table == "comparisons")
    assert manifest.rows_read["matches.csv.gz"] == manifest.rows["comparisons"] + dropped == 4


def test_a_parquet_file_explains_itself_without_the_manifest(sushi: PairwiseTable, tmp_path: Path):
    schema = pq.read_schema(write_table(sushi, tmp_path) / "items.parquet")
    assert schema.metadata[b"simulated"] == b"true"
    assert b"Kamishima" in schema.metadata[b"citation"]
    assert b"may not be passed on" in schema.metadata[b"licence"]
    lightness = schema.field("lightness").metadata
    assert (lightness[b"kind"], lightness[b"minimum"], lightness[b"maximum"]) == (b"numeric", b"0.0", b"4.0")
    assert json.loads(schema.field("style").metadata[b"levels"]) == ["maki", "other"]


# -------------------------------------------------------------------------------------------------- checks


@pytest.mark.parametrize(
    ("part", "column", "wrong", "message"),
    [
        ("comparisons", "left_id", ["77", "78"], "comparisons.left_id: 2 ids that point to none of the items: 77, 78."),
        ("comparisons", "user_id", ["x"], "comparisons.user_id: 1 ids that point to none of the users: x."),
        ("comparisons", "left_wins", [None] * 3, "comparisons.left_wins: 3 missing values: None, None, None."),
        ("items", "item_id", ["1"], "items.item_id: 1 values that come more than once: 1."),
        ("items", "lightness", [4.5, -1.0], "items.lightness: 1 values below 0: -1.0."),
        ("items", "lightness", [4.5], "items.lightness: 1 values above 4: 4.5."),
        ("items", "lightness", [np.inf, np.nan],
         "items.lightness: 2 values that are not finite numbers (missing is null): inf, nan."),
        ("items", "minor_group", ["fish"] * 7, "items.minor_group: 7 labels that are none of the levels: "
         "fish, fish, fish, fish, fish and so on."),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_its_count_and_the_first_five(sushi, part, column, wrong, message):
    values = sushi.parts[part][column].to_pylist()
    with pytest.raises(TableError) as refusal:
        check_table(with_column(sushi, part, column, wrong + values[len(wrong) :]))
    assert str(refusal.value) == message


def test_a_self_comparison_is_refused_by_its_id(sushi: PairwiseTable):
    rights = sushi.comparisons["right_id"].to_pylist()
    lefts = sushi.comparisons["left_id"].to_pylist()
    first = sushi.comparisons["comparison_id"][0]
    with pytest.raises(TableError, match=f"1 comparisons of an item with itself: {first}"):
        check_table(with_column(sushi, "comparisons", "left_id", rights[:1] + lefts[1:]))


def test_a_context_or_multi_hot_label_that_is_none_is_refused(toy_table: PairwiseTable):
    with pytest.raises(TableError, match=r"context_id: 1 ids that point to none of the contexts: ice"):
        check_table(with_column(toy_table, "comparisons", "context_id", ["ice", "clay", "clay"]))
    with pytest.raises(TableError, match=r"items.diet: 1 labels that are none of the levels"):
        check_table(with_column(toy_table, "items", "diet", [["meat", "stones"], None, []]))


def test_a_missing_column_and_a_wrong_type_are_refused(sushi: PairwiseTable):
    with pytest.raises(TableError, match="items: the column item_id is missing"):
        check_table(replace(sushi, items=sushi.items.drop_columns(["item_id"])))
    with pytest.raises(TableError, match=r"items.item_id: expected the type string, found int64"):
        check_table(replace(sushi, items=sushi.items.set_column(0, "item_id", pa.array(range(10)))))


def test_a_reading_whose_columns_are_not_the_declared_ones_is_refused(toy, tmp_path: Path):
    simulate(toy, tmp_path / "raw", seed=1)
    [reading] = toy.read(locate(toy, tmp_path / "raw"))
    fewer = replace(toy, read=lambda _: (replace(reading, items={"item_id": ["a"]}),))
    with pytest.raises(TableError, match=r"toy.items: columns .*'age'.* not declared, or the reverse"):
        build(fewer, locate(toy, tmp_path / "raw"))
    mistyped = replace(toy, read=lambda _: (replace(reading, items={**reading.items, "age": ["old"] * 3}),))
    with pytest.raises(TableError, match=r"toy.items.age: expected double"):
        build(mistyped, locate(toy, tmp_path / "raw"))


# ------------------------------------------------------------------------------------------------ the side


def test_the_coin_of_an_id_never_changes_whatever_stands_around_it():
    ids = pa.array(["", "a", "a-6371-0-1", "é", "a-6371-0-2", "m1"])
    coins = [True, False, False, False, True, False]
    assert coin_of(ids).tolist() == coins
    assert coin_of(ids.slice(2, 3)).tolist() == coins[2:5]


def test_coins_are_fair_and_independent_for_ids_that_differ_in_one_digit():
    coins = coin_of(pa.array([f"a-{user}-0-1" for user in range(20_000)]))
    assert abs(coins.mean() - 0.5) < 0.015
    assert abs((coins[1:] == coins[:-1]).mean() - 0.5) < 0.015


# ------------------------------------------------------------------------------------------------- folders


def test_writing_again_replaces_the_table_and_leaves_nothing_aside(sushi: PairwiseTable, tmp_path: Path):
    write_table(sushi, tmp_path)
    write_table(sushi, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["sushi"]
    assert {path.name for path in (tmp_path / "sushi").iterdir()} == {
        "items.parquet", "users.parquet", "comparisons.parquet", "manifest.json",
    }  # fmt: skip


def test_a_folder_of_something_else_is_not_replaced(sushi: PairwiseTable, tmp_path: Path):
    (tmp_path / "sushi").mkdir()
    (tmp_path / "sushi" / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match=r"sushi is there already and was not written by prefstudy"):
        write_table(sushi, tmp_path)
    assert (tmp_path / "sushi" / "thesis.txt").read_text() == "years of work"
    assert [path.name for path in tmp_path.iterdir()] == ["sushi"]


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_output_folder_is_refused_saying_which_and_what_to_do(sushi, tmp_path, monkeypatch, code):
    def refuse(self: Path, *args: object, **kwargs: object) -> None:
        raise OSError(code, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(OutputError) as refusal:
        write_table(sushi, tmp_path)
    assert str(tmp_path / "sushi") in str(refusal.value)
    assert "Read-only file system" in str(refusal.value)
    assert "--out" in str(refusal.value)


def test_a_file_in_the_place_of_the_output_folder_is_refused(sushi: PairwiseTable, tmp_path: Path):
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match="out/sushi"):
        write_table(sushi, tmp_path / "out")


@pytest.mark.parametrize("earlier", [False, True])
def test_a_full_disk_leaves_nothing_new_under_the_final_name(sushi, tmp_path, monkeypatch, earlier):
    if earlier:
        write_table(sushi, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    written = Counter()

    def fill(table: pa.Table, path: Path, **options: object) -> None:
        written["files"] += 1
        path.write_bytes(b"PAR1")
        if written["files"] == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", fill)
    with pytest.raises(OutputError, match="No space left on device"):
        write_table(sushi, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_rename_that_fails_puts_the_earlier_table_back(sushi: PairwiseTable, tmp_path: Path, monkeypatch):
    write_table(sushi, tmp_path)
    rename, calls = Path.rename, Counter()

    def second_fails(self: Path, target: Path) -> Path:
        calls["rename"] += 1
        if calls["rename"] == 2:
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    monkeypatch.setattr(whole_folder_module, "_exchange", lambda *_: False)  # as on a system that cannot exchange
    with pytest.raises(OutputError, match="Input/output error"):
        write_table(sushi, tmp_path)
    assert read_table(tmp_path / "sushi").items.equals(sushi.items)


def test_a_killed_writer_leaves_nothing_under_the_final_name(tmp_path: Path):
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from data_adapters.files.whole_folder import whole_folder
        with whole_folder(Path(sys.argv[1]) / "final", marker="done", ours=["done"]) as aside:
            (aside / "done").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert killed.returncode == -9
    assert not (tmp_path / "final").exists()


# ------------------------------------------------------------------------------------------------- reading


def test_a_folder_without_a_manifest_is_no_table(tmp_path: Path):
    with pytest.raises(TableError, match=r"no manifest.json. Make one: prefstudy data build"):
        read_table(tmp_path)


def test_a_parquet_file_changed_or_gone_after_writing_is_refused(sushi: PairwiseTable, tmp_path: Path):
    folder = write_table(sushi, tmp_path)
    pq.write_table(sushi.items.slice(0, 5), folder / "items.parquet")
    with pytest.raises(TableError, match=r"items.parquet was changed after it was written"):
        read_table(folder)
    (folder / "items.parquet").unlink()
    with pytest.raises(TableError, match=r"items.parquet is missing"):
        read_table(folder)


def test_a_manifest_with_an_unknown_key_or_without_items_is_refused(sushi: PairwiseTable, tmp_path: Path):
    path = write_table(sushi, tmp_path) / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"colour": "red"}))
    with pytest.raises(TableError, match=r"manifest.json: colour: Extra inputs are not permitted"):
        read_table(path.parent)
    path.write_text(json.dumps(manifest | {"table_sha256": {}}))
    with pytest.raises(TableError, match="lists no comparisons and no items"):
        read_table(path.parent)


def test_damage_is_named_by_the_raw_data_and_not_the_table(toy, tmp_path: Path):
    simulate(toy, tmp_path / "raw", seed=1)
    path = tmp_path / "raw" / "matches.csv.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(RawDataError, match="the gzip file is damaged or cut off"):
        locate(toy, tmp_path / "raw")
