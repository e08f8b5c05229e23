"""Pokemon: only battles with an outcome are compared, and the published 60,000 come only when asked for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.simulators.pokemon import RING
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import read_table, write_table

POKEMON, PUBLISHED = adapter("pokemon"), adapter("pokemon", "published-60000")
NEVER_FIGHT = (12, 33, 46, 66, 78, 90, 144, 183, 236, 322, 419, 479, 556, 618, 655, 782)


@pytest.fixture(scope="module")
def real(real_raw: Path) -> PairwiseTable:
    [table] = build(POKEMON, locate(POKEMON, real_raw))
    return table


@pytest.fixture(scope="module")
def real_published(real_raw: Path) -> PairwiseTable:
    [table] = build(PUBLISHED, locate(PUBLISHED, real_raw))
    return table


def test_battles_without_an_outcome_are_not_in_the_table_and_the_manifest_says_why(real: PairwiseTable):
    [dropped] = real.manifest.dropped
    assert (dropped.table, dropped.rows) == ("comparisons", 10_000)
    assert "not who won" in dropped.reason
    assert any("60,000" in quirk for quirk in real.manifest.quirks)
    assert not any(name.startswith("test") for name in real.comparisons["comparison_id"].to_pylist())


def test_the_published_60000_add_10000_wins_of_the_second_and_say_so(real, real_published, tmp_path: Path):
    kept = real_published.comparisons.slice(0, 50_000).drop_columns("outcome_known")
    added = real_published.comparisons.slice(50_000).to_pylist()
    assert kept.equals(real.comparisons)
    assert len(added) == 10_000
    assert not any(row["left_wins"] or row["outcome_known"] for row in added)
    assert all(real_published.comparisons["outcome_known"].to_pylist()[:50_000])

    folder = write_table(real_published, tmp_path)
    assert folder.name == "pokemon_published_60000"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert "10,000 of them have no outcome" in manifest["title"]
    assert "10,000 battles have no outcome and are counted as wins of the second" in manifest["quirks"][0]
    assert read_table(folder).manifest.rows["comparisons"] == 60_000


def test_who_was_named_first_is_left_and_wins_47_percent(real: PairwiseTable):
    first = real.comparisons.slice(0, 1).to_pylist()[0]
    assert first == {"comparison_id": "combat-1", "left_id": "266", "right_id": "298", "left_wins": False}
    assert real.manifest.side == "presented"
    assert np.mean(real.comparisons["left_wins"].to_pylist()) == pytest.approx(0.472, abs=0.0005)


def test_the_one_without_a_name_keeps_its_row_and_has_no_label(real: PairwiseTable):
    nameless = [row for row in real.items.to_pylist() if row["label"] is None]
    assert [(row["item_id"], row["types"]) for row in nameless] == [("63", ["Fighting"])]
    assert "1 without a name (#63)" in real.manifest.quirks[0]


def test_types_are_one_multi_hot_feature_of_one_or_two_labels(real: PairwiseTable):
    counts = [len(types) for types in real.items["types"].to_pylist()]
    assert (counts.count(1), counts.count(2)) == (386, 414)
    [types] = [feature for feature in real.item_features if feature.name == "types"]
    assert (types.kind.value, len(types.levels or ())) == ("multi_hot", 18)
    assert real.items["types"].to_pylist()[0] == ["Grass", "Poison"]


def test_sixteen_never_fight_and_exact_repeats_are_kept_and_counted(real: PairwiseTable):
    fought = {*real.comparisons["left_id"].to_pylist(), *real.comparisons["right_id"].to_pylist()}
    assert set(real.items["item_id"].to_pylist()) - fought == {str(number) for number in NEVER_FIGHT}
    assert any("16 Pokemon never fight" in quirk for quirk in real.manifest.quirks)
    assert any("1,952 battles repeat" in quirk for quirk in real.manifest.quirks)
    pairs = {
        frozenset(pair)
        for pair in zip(*(real.comparisons[side].to_pylist() for side in ("left_id", "right_id")), strict=True)
    }
    assert len(pairs) == 46_226


def test_simulated_battles_follow_the_ring_of_types_and_then_speed_but_for_the_stated_noise(tmp_path: Path):
    preference = simulate(POKEMON, tmp_path / "raw", seed=2, users=200)
    [table] = build(POKEMON, locate(POKEMON, tmp_path / "raw"))
    items = {row["item_id"]: row for row in table.items.to_pylist()}

    def left_wins(left: dict, right: dict) -> bool:
        one, other = left["types"][0], right["types"][0]
        if one != other and {one, other} <= set(RING):
            return (RING.index(one) + 1) % 3 == RING.index(other)
        return left["speed"] >= right["speed"]

    rows = table.comparisons.to_pylist()
    agreement = [left_wins(items[row["left_id"]], items[row["right_id"]]) == row["left_wins"] for row in rows]
    assert np.mean(agreement) == pytest.approx(1 - preference.noise, abs=0.01)


def test_simulated_files_have_upstreams_gaps_and_no_final_line_break_where_it_has_none(tmp_path: Path):
    simulate(POKEMON, tmp_path / "raw", seed=2)
    contents = {path.name: path.read_bytes() for path in (tmp_path / "raw").glob("*.csv")}
    assert {name: content.endswith(b"\n") for name, content in contents.items()} == {
        "pokemon.csv": False, "combats.csv": False, "tests.csv": True,
    }  # fmt: skip
    [table] = build(POKEMON, locate(POKEMON, tmp_path / "raw"))
    assert table.manifest.rows == {"items": 800, "comparisons": 50_000}
    assert table.manifest.dropped[0].rows == 10_000
    assert table.items["label"].null_count == 1
