"""Sushi: rankings become pairs, set A's items are found in set B, and what is simulated is what was planted."""

from __future__ import annotations

import shutil
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.codebooks.sushi import ITEM_FILE, ORDER_FILES, PUBLISHED_COLUMNS
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate, simulated_record
from data_adapters.table.pairwise_table import PairwiseTable
from models.records.errors import RawDataError

SUSHI = adapter("sushi")


@pytest.fixture(scope="module")
def tables(simulated_sushi: Path) -> tuple[PairwiseTable, PairwiseTable]:
    set_a, set_b = build(SUSHI, locate(SUSHI, simulated_sushi))
    return set_a, set_b


@pytest.fixture(scope="module")
def real(real_raw: Path) -> tuple[PairwiseTable, PairwiseTable]:
    set_a, set_b = build(SUSHI, locate(SUSHI, real_raw))
    return set_a, set_b


def pairs_of(table: PairwiseTable) -> dict[str, set[tuple[str, str]]]:
    """Each user's (winner, loser) pairs."""
    pairs: dict[str, set[tuple[str, str]]] = {}
    for row in table.comparisons.to_pylist():
        winner, loser = (row["left_id"], row["right_id"]) if row["left_wins"] else (row["right_id"], row["left_id"])
        pairs.setdefault(row["user_id"], set()).add((winner, loser))
    return pairs


def test_a_ranking_is_its_45_pairs_winner_above_loser(tables, simulated_sushi: Path):
    users = [line.split("\t")[0] for line in (simulated_sushi / "sushi3.udata").read_text().splitlines()]
    for table, letter in zip(tables, "ab", strict=True):
        orders = (simulated_sushi / f"sushi3{letter}.5000.10.order").read_text().splitlines()[1:]
        expected = {user: set(combinations(line.split()[2:], 2)) for user, line in zip(users, orders, strict=True)}
        assert pairs_of(table) == expected


def test_a_comparison_id_tells_user_and_items_but_not_who_won(tables):
    for row in tables[0].comparisons.to_pylist():
        low, high = sorted([row["left_id"], row["right_id"]], key=int)
        assert row["comparison_id"] == f"a-{row['user_id']}-{low}-{high}"


def test_set_a_items_are_found_in_set_b_by_name(tables):
    set_a, set_b = (table.items.drop_columns(["item_id"]).to_pylist() for table in tables)
    assert [set_b[item] for item in (0, 1, 2, 3, 4, 6, 7, 8, 26, 29)] == set_a


def test_table_6_features_have_the_papers_kinds():
    kinds = {feature.name: feature.kind.value for feature in SUSHI.dataset.items}
    assert kinds == {
        "style": "binary",
        "major_group": "binary",
        "minor_group": "categorical",
        "lightness": "numeric",
        "eating_frequency": "numeric",
        "normalised_price": "numeric",
    }


def test_real_toro_is_oilier_and_dearer_than_kappa_maki(real):
    rows = {row["label"]: row for row in real[0].items.to_pylist()}
    toro, kappa = rows["toro"], rows["kappa_maki"]
    assert toro["lightness"] < 1 < kappa["lightness"]
    assert toro["normalised_price"] > 4 > kappa["normalised_price"]
    assert (toro["minor_group"], kappa["minor_group"]) == ("red-meat fish", "vegetables")
    assert (toro["style"], kappa["style"], toro["major_group"], kappa["major_group"]) == (True, False, False, True)


def test_the_first_real_users_ranking_is_the_one_in_the_file(real):
    wins = pairs_of(real[0])["6371"]
    ranking = sorted(map(str, range(10)), key=lambda item: -sum(winner == item for winner, _ in wins))
    assert ranking == ["5", "0", "3", "4", "6", "9", "8", "1", "7", "2"]


def test_real_counts_reported_elsewhere_are_found(real):
    set_b = real[1].comparisons
    pairs = {
        frozenset(pair) for pair in zip(*(set_b[side].to_pylist() for side in ("left_id", "right_id")), strict=True)
    }
    assert len(pairs) == 4_809
    assert "for 10 of 10 items" in real[0].manifest.quirks[0]


def test_the_90_items_that_are_not_in_set_a_are_accounted_for(tables):
    set_a, set_b = (table.manifest for table in tables)
    assert set_a.rows_read["sushi3.idata"] == set_a.rows["items"] + sum(drop.rows for drop in set_a.dropped)
    assert (set_b.rows["items"], set_b.dropped) == (100, ())


def test_simulated_rankings_follow_the_planted_rules_but_for_the_stated_noise(tmp_path: Path):
    preference = simulate(SUSHI, tmp_path / "raw", seed=5, users=400)
    table, _ = build(SUSHI, locate(SUSHI, tmp_path / "raw"))
    items = {row["item_id"]: row for row in table.items.to_pylist()}

    def agrees(user: str, winner: str, loser: str) -> bool:
        for rule in preference.types[preference.type_of[user]]:
            answers = [items[item][rule.feature] for item in (winner, loser)]
            if rule.cut is not None:
                answers = [answer >= rule.cut for answer in answers]
            if answers[0] != answers[1]:
                return (answers[0] > answers[1]) == (rule.prefers == "high")
        return True

    agreement = [agrees(user, *pair) for user, pairs in pairs_of(table).items() for pair in pairs]
    swapped_pairs = 9 * preference.noise / 45
    assert np.mean(agreement) == pytest.approx(1 - swapped_pairs, abs=0.005)


def test_each_planted_first_question_halves_set_a_and_no_two_alike(tables, simulated_sushi: Path):
    record = simulated_record(simulated_sushi)
    assert record is not None
    halves = set()
    for rules in record.preference.types.values():
        answers = tables[0].items[rules[0].feature].to_numpy() >= rules[0].cut
        assert answers.sum() == 5
        halves |= {tuple(answers), tuple(~answers)}
    assert len(halves) == 2 * len(record.preference.types)


def test_simulated_people_have_the_taste_their_home_and_age_decide_nine_times_in_ten(tables, simulated_sushi: Path):
    record = simulated_record(simulated_sushi)
    assert record is not None
    ruled = {
        user["user_id"]: ("rich" if not user["east_west_child"] else "thrifty" if user["age"] < "30" else "familiar")
        for user in tables[0].users.to_pylist()
    }
    share = np.mean([record.preference.type_of[user] == taste for user, taste in ruled.items()])
    assert 0.8 < share < 1


def test_two_published_rank_columns_that_changed_places_are_refused(sushi_copy: Path, monkeypatch: pytest.MonkeyPatch):
    (sushi_copy / "SIMULATED.json").unlink()
    path = sushi_copy / ORDER_FILES["a"]
    header, *lines = [line.split(" ") for line in path.read_text().splitlines()]
    digests = tuple(sha256("\n".join(column).encode()).hexdigest()[:12] for column in zip(*lines, strict=True))
    monkeypatch.setitem(PUBLISHED_COLUMNS, ORDER_FILES["a"], digests)
    quirks = build(SUSHI, locate(SUSHI, sushi_copy, allow_unpinned=True))[0].manifest.quirks
    assert not any(quirk.startswith(f"{ORDER_FILES['a']}: not as published") for quirk in quirks)
    assert any(quirk.startswith(f"{ORDER_FILES['b']}: not as published, by their digests, are the") for quirk in quirks)
    swapped = [[*line[:5], line[6], line[5], *line[7:]] for line in lines]
    path.write_text("".join(" ".join(line) + "\n" for line in (header, *swapped)))
    with pytest.raises(RawDataError, match="column rank 4 holds what the published file has in column rank 5"):
        build(SUSHI, locate(SUSHI, sushi_copy, allow_unpinned=True))


def test_the_digests_of_columns_are_those_of_the_published_files(real_raw: Path, tmp_path: Path):
    folder = Path(shutil.copytree(locate(SUSHI, real_raw).path, tmp_path / "raw", copy_function=shutil.copyfile))
    folder.chmod(0o700)
    with (folder / ITEM_FILE).open("a") as file:
        file.write("\n")
    with pytest.raises(RawDataError, match="empty line"):
        build(SUSHI, locate(SUSHI, folder, allow_unpinned=True))
    (folder / ITEM_FILE).write_text((folder / ITEM_FILE).read_text().rstrip("\n").replace("\n", "\r\n") + "\r\n")
    quirks = build(SUSHI, locate(SUSHI, folder, allow_unpinned=True))[0].manifest.quirks
    assert not any("not as published" in quirk for quirk in quirks)
