"""Chameleons: contests in order with each male's wins before, alike from R's file and from the three CSVs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import rdata

from data_adapters.catalogue import adapter
from data_adapters.codebooks.chameleon import COLUMNS, CSV_FILES, count_prior_wins
from data_adapters.source.build import build
from data_adapters.source.locate import check, locate
from data_adapters.source.simulation import simulate
from data_adapters.table.pairwise_table import PairwiseTable
from models.records.errors import RawDataError

CHAMELEON = adapter("chameleon")


@pytest.fixture(scope="module")
def real(real_raw: Path) -> PairwiseTable:
    [table] = build(CHAMELEON, locate(CHAMELEON, real_raw))
    return table


@pytest.fixture
def simulated(tmp_path: Path) -> Path:
    simulate(CHAMELEON, tmp_path / "rda", seed=3)
    return tmp_path / "rda"


@pytest.fixture
def csvs(simulated: Path, tmp_path: Path) -> Path:
    """The simulated file's tables as the three CSVs."""
    folder = tmp_path / "csv"
    folder.mkdir()
    for name, frame in rdata.read_rda(simulated / "chameleons.rda")["chameleons"].items():
        frame.to_csv(folder / CSV_FILES[str(name)], index_label=COLUMNS[str(name)][0], lineterminator="\n")
    return folder


def test_the_csvs_give_the_same_table_as_the_file_in_rs_format(simulated: Path, csvs: Path):
    [from_rda] = build(CHAMELEON, locate(CHAMELEON, simulated))
    [from_csv] = build(CHAMELEON, locate(CHAMELEON, csvs, allow_unpinned=True))
    assert from_csv.items.equals(from_rda.items)
    assert from_csv.comparisons.equals(from_rda.comparisons)
    assert from_csv.manifest.rows_read == {
        "chameleons_winner.csv": 106, "chameleons_loser.csv": 106, "chameleons_predictors.csv": 35,
    }  # fmt: skip


def test_the_real_csvs_give_the_same_table_too(real, real_raw: Path, tmp_path: Path):
    for file in CSV_FILES.values():
        (tmp_path / file).write_bytes((real_raw / "chameleon" / "raw" / file).read_bytes())
    raw = locate(CHAMELEON, tmp_path)
    [from_csv] = build(CHAMELEON, raw)
    assert not raw.unpinned
    assert from_csv.items.equals(real.items)
    assert from_csv.comparisons.equals(real.comparisons)


def test_contest_16_is_missing_and_the_others_keep_their_numbers_and_order(real: PairwiseTable):
    numbers = [int(name.removeprefix("contest-")) for name in real.comparisons["comparison_id"].to_pylist()]
    assert numbers == [number for number in range(1, 108) if number != 16]
    assert real.comparisons["task_index"].to_pylist() == list(range(106))
    assert any("contest 16" in quirk for quirk in real.manifest.quirks)


def test_one_pair_of_the_105_met_twice(real: PairwiseTable):
    rows = real.comparisons.to_pylist()
    assert len({frozenset((row["left_id"], row["right_id"])) for row in rows}) == 105
    assert "pairs of males that met more than once: 1" in real.manifest.quirks


def test_the_35_males_are_numbered_with_gaps_and_have_no_gaps_in_their_traits(real: PairwiseTable):
    males = real.items["item_id"].to_pylist()
    assert (len(males), males[0], males[-1]) == (35, "C01", "C41")
    assert all(real.items[feature.name].null_count == 0 for feature in real.item_features)
    assert real.items.to_pylist()[0] == {
        "item_id": "C01", "casque_height": 0.94, "jaw_length": 0.52, "tail_length": -1.58, "condition": -0.45,
        "body_length": 72.8, "main_patch": pytest.approx(35.66853756), "flank_patch": pytest.approx(50.1848799),
    }  # fmt: skip


def test_prior_wins_go_with_the_male_whichever_side_he_stands_on(real: PairwiseTable):
    [contest] = [row for row in real.comparisons.to_pylist() if row["comparison_id"] == "contest-53"]
    side = "left" if contest["left_id"] == "C04" else "right"
    assert contest[f"{side}_id"] == "C04"
    assert (contest[f"{side}_won_last"], contest[f"{side}_wins_of_last_two"], contest[f"{side}_prior_wins"]) == (
        True,
        2,
        3,
    )


def test_five_numbers_of_prior_wins_are_known_not_to_add_up_and_no_other(real: PairwiseTable):
    [quirk] = [quirk for quirk in real.manifest.quirks if quirk.startswith("prev.wins.all: 5 numbers")]
    assert "contest 13 (C24: 3, not 0)" in quirk
    assert [f"contest {number} (C04: 3, not 2)" in quirk for number in (53, 65, 78, 86)] == [True] * 4


def test_prior_wins_are_counted_over_the_contests_before():
    of_winners, of_losers = count_prior_wins(["a", "a", "b", "a"], ["b", "c", "a", "b"])
    assert of_winners["prior_wins"].tolist() == [0, 1, 0, 2]
    assert of_losers["prior_wins"].tolist() == [0, 0, 2, 1]
    assert of_winners["won_last"].tolist() == [0, 1, 0, 0]
    assert of_losers["wins_of_last_two"].tolist() == [0, 0, 2, 1]


def test_the_winner_stands_left_or_right_by_the_coin_alone(real: PairwiseTable, real_raw: Path):
    winners = pd.read_csv(real_raw / "chameleon" / "raw" / "chameleons_winner.csv")["ID"].tolist()
    rows = real.comparisons.to_pylist()
    assert [row["left_id"] if row["left_wins"] else row["right_id"] for row in rows] == winners
    assert real.manifest.side == "random"


def test_a_damaged_csv_is_refused_by_line(csvs: Path, edit):
    edit(csvs / "chameleons_loser.csv", b"\n5,", b"\n6,")
    with pytest.raises(RawDataError, match=r"^chameleons_loser.csv, line 6: column contest: .* found '6'"):
        build(CHAMELEON, locate(CHAMELEON, csvs, allow_unpinned=True))


def test_missing_files_are_those_of_the_form_with_most_files(csvs: Path):
    (csvs / "chameleons_loser.csv").unlink()
    assert [found.state for found in check(CHAMELEON, csvs)] == ["altered", "missing", "altered"]
    with pytest.raises(RawDataError, match=r"chameleons_loser.csv missing"):
        locate(CHAMELEON, csvs)
    with pytest.raises(RawDataError, match=r"\(chameleons.rda; or chameleons_winner.csv, .*\)"):
        locate(CHAMELEON, csvs.parent / "elsewhere")


def test_simulated_contests_follow_the_planted_rules_but_for_the_stated_noise(tmp_path: Path):
    preference = simulate(CHAMELEON, tmp_path / "raw", seed=5, users=400)
    [table] = build(CHAMELEON, locate(CHAMELEON, tmp_path / "raw"))
    items = {row["item_id"]: row for row in table.items.to_pylist()}

    def rank(male: str) -> tuple[bool, float]:
        return items[male]["casque_height"] >= 0, items[male]["flank_patch"]

    rows = [row for row in table.comparisons.to_pylist() if rank(row["left_id"]) != rank(row["right_id"])]
    agreement = [(rank(row["left_id"]) > rank(row["right_id"])) == row["left_wins"] for row in rows]
    assert np.mean(agreement) == pytest.approx(1 - preference.noise, abs=0.02)
