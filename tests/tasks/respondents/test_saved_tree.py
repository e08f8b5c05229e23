"""Saved trees: read back as written, edited, and refused if they do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import read_table, write_table
from models.records.errors import TableError, UsageError
from tasks.respondents.saved_tree import MadeFrom, SavedTree


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    simulate(adapter("sushi"), folder / "raw", seed=1, users=20)
    for table in build(adapter("sushi"), locate(adapter("sushi"), folder / "raw")):
        write_table(table, folder)
    return folder


def made_from(tables: Path, user: str | None) -> MadeFrom:
    return MadeFrom(table=tables / "sushi", table_name="sushi", user=user, test_share=0.2, seed=0)


@pytest.fixture
def user(tables: Path) -> str:
    return str(read_table(tables / "sushi").users["user_id"][3].as_py())


def test_a_users_tree_is_fitted_to_36_of_her_45_pairs_and_read_back_as_it_was(
    tables: Path, user: str, tmp_path: Path
) -> None:
    kept = SavedTree.fit(made_from(tables, user))
    assert (len(kept.train), len(kept.test)) == (36, 9)
    kept.write(tmp_path / "tree.json")
    again = SavedTree.read(tmp_path / "tree.json")
    assert again.tree.to_dict() == kept.tree.to_dict()
    assert (again.test == kept.test).all()
    assert [path.name for path in tmp_path.iterdir()] == ["tree.json"]


def test_everybodys_tree_holds_out_a_fifth_of_each_users_pairs(tables: Path) -> None:
    kept = SavedTree.fit(made_from(tables, None), max_depth=2)
    assert (len(kept.train), len(kept.test)) == (20 * 36, 20 * 9)
    assert len({tuple(pair) for pair in np.sort(kept.test, axis=1)}) > 9, "not the same nine pairs of everybody"


def test_edits_are_made_in_the_order_thresholds_merges_pins(tables: Path, user: str) -> None:
    kept = SavedTree.fit(made_from(tables, user))
    split = next(node for node in kept.tree.nodes_[1:] if node.threshold is not None)
    edited = kept.edited(thresholds={split.id: split.threshold + 0.01}, merged=[split.id], pins=[(1, 0)])
    assert edited.tree.n_leaves_ < kept.tree.n_leaves_
    assert edited.tree.pins_ == ((1, 0),)
    assert edited.tree.leaf_mean_[1] >= edited.tree.leaf_mean_[0] - 1e-8
    assert set(edited.accuracies()) == {"fitted", "held out"}


def test_what_does_not_fit_is_refused(tables: Path, user: str, tmp_path: Path) -> None:
    kept = SavedTree.fit(made_from(tables, user))
    with pytest.raises(UsageError, match="there is no node 999"):
        kept.edited(thresholds={}, merged=[999], pins=[])
    with pytest.raises(UsageError, match="has no user nobody: it has 20"):
        SavedTree.fit(made_from(tables, "nobody"))
    kept.write(tmp_path / "tree.json")
    with pytest.raises(TableError, match="holds the table sushi_b, but the tree was made from sushi"):
        SavedTree.read(tmp_path / "tree.json", table=tables / "sushi_b")
    for text in ("{}", "not json", json.dumps({"made_from": {}, "tree": {}})):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(UsageError, match="holds no preference tree"):
            SavedTree.read(tmp_path / "bad.json")
