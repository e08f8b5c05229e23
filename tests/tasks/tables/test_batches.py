"""Trees fitted from Parquet, in one process and on a cluster, equal those fitted in memory, node for node."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from models.records.errors import TableError
from models.trees.preference_tree import PreferenceTree
from tasks.tables import batches as module
from tasks.tables.batches import DaskBatches, ParquetBatches


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table of 3,000 comparisons among 40 items, in row groups of 700."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, 40, 3000)
    right = (left + rng.integers(1, 40, 3000)) % 40
    ids = np.array([f"item {number}" for number in range(40)])
    pq.write_table(pa.table({"item_id": ids}), tmp_path / "items.parquet")
    left_wins = left + rng.normal(0, 9, 3000) > right
    comparisons = pa.table({"left_id": ids[left], "right_id": ids[right], "left_wins": left_wins})
    pq.write_table(comparisons, tmp_path / "comparisons.parquet", row_group_size=700)
    return tmp_path


ITEMS = np.random.default_rng(1).normal(size=(40, 3)) + np.arange(40)[:, None] / 10


def test_rows_are_winner_first(folder: Path) -> None:
    table = pq.read_table(folder / "comparisons.parquet").to_pylist()
    winners = [row["left_id"] if row["left_wins"] else row["right_id"] for row in table]
    rows = np.vstack(list(ParquetBatches.of_table(folder)))
    assert [f"item {row}" for row in rows[:, 0]] == winners


def test_a_tree_from_parquet_is_the_one_from_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 300)
    on_disk = ParquetBatches.of_table(folder)
    assert max(map(len, on_disk)) <= 300
    whole = PreferenceTree(max_depth=4).fit(ITEMS, np.vstack(list(on_disk)))
    assert PreferenceTree(max_depth=4).fit_batches(ITEMS, on_disk).to_dict() == whole.to_dict()


def test_a_tree_from_a_cluster_is_the_one_from_memory(folder: Path) -> None:
    distributed = pytest.importorskip("distributed")
    on_disk = ParquetBatches.of_table(folder)
    assert len(on_disk.parts()) == 5
    whole = PreferenceTree(max_depth=4).fit(ITEMS, np.vstack(list(on_disk)))
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        tree = PreferenceTree(max_depth=4).fit_batches(ITEMS, DaskBatches(client, on_disk))
    assert tree.to_dict() == whole.to_dict()


def test_an_id_of_no_item_is_named(folder: Path) -> None:
    pq.write_table(pa.table({"item_id": [f"item {number}" for number in range(39)]}), folder / "items.parquet")
    with pytest.raises(TableError, match="1 ids belong to no item, such as item 39"):
        ParquetBatches.of_table(folder).total(len)


@pytest.mark.parametrize(
    ("column", "value", "complaint"),
    [
        ("left_wins", None, "column left_wins: 1 missing values"),
        ("left_id", None, "column left_id: 1 missing values"),
        ("left_id", "right", "1 comparisons of an item with itself, such as item"),
    ],
)
def test_what_is_no_comparison_is_refused(folder: Path, column: str, value: str | None, complaint: str) -> None:
    table = pq.read_table(folder / "comparisons.parquet")
    values = table[column].to_pylist()
    values[1500] = table["right_id"][1500].as_py() if value == "right" else value
    position = table.column_names.index(column)
    pq.write_table(table.set_column(position, column, pa.array(values)), folder / "comparisons.parquet")
    with pytest.raises(TableError, match=complaint):
        ParquetBatches.of_table(folder).total(len)


def test_items_that_come_twice_and_files_that_are_cut_off_are_refused(folder: Path) -> None:
    content = (folder / "comparisons.parquet").read_bytes()
    (folder / "comparisons.parquet").write_bytes(content[:-100])
    with pytest.raises(TableError, match="is not a whole Parquet file"):
        ParquetBatches.of_table(folder).total(len)
    pq.write_table(pa.table({"item_id": ["item 1", "item 1"]}), folder / "items.parquet")
    with pytest.raises(TableError, match="a different item_id in each row"):
        ParquetBatches.of_table(folder)
