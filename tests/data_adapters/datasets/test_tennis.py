"""Tennis: upstream's match file and the rebuilt one are one table, and nothing that is missing is a 0."""

from __future__ import annotations

import csv
import gzip
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.codebooks.tennis import REBUILT_MATCH_COLUMNS
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.pairwise_table import PairwiseTable
from models.records.errors import RawDataError
from models.records.manifest import DroppedRows

TENNIS = adapter("tennis")
MATCHES, REBUILT = "match_scores_1991-2016_UNINDEXED.csv", "match_scores_1991-2016_rebuilt.csv.gz"
TOURNAMENTS, PLAYERS = "tournaments_1877-2017_UNINDEXED.csv", "player_overviews_UNINDEXED.csv"


@pytest.fixture(scope="module")
def real(real_raw: Path) -> PairwiseTable:
    [table] = build(TENNIS, locate(TENNIS, real_raw))
    return table


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated") / "tennis"
    simulate(TENNIS, folder, seed=4, users=120)
    return folder


@pytest.fixture
def copy(simulated: Path, tmp_path: Path) -> Path:
    """A copy of the simulated files that does not say what it is, to be changed."""
    folder = Path(shutil.copytree(simulated, tmp_path / "copy"))
    (folder / "SIMULATED.json").unlink()
    return folder


def built(folder: Path) -> PairwiseTable:
    [table] = build(TENNIS, locate(TENNIS, folder, allow_unpinned=True))
    return table


def rows_of(path: Path, encoding: str = "utf-8") -> list[dict[str, str]]:
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.DictReader(file))


def rebuild(folder: Path) -> None:
    """Replace upstream's match file by one rebuilt from it in the same way as the real one."""
    listed = {row["tourney_year_id"]: row for row in rows_of(folder / TOURNAMENTS)}
    lines = [",".join(REBUILT_MATCH_COLUMNS)]
    for row in rows_of(folder / MATCHES, "latin-1"):
        tournament = listed[row["tourney_year_id"]]
        row |= {name: tournament[name] for name in ("tourney_conditions", "tourney_surface")}
        row["match_score"] = row["match_score_tiebreaks"].replace("(0)", "").replace("(1)", "")
        lines.append(",".join(row[name] for name in REBUILT_MATCH_COLUMNS))
    (folder / REBUILT).write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    (folder / MATCHES).unlink()


def test_the_rebuilt_match_file_gives_the_same_table_as_upstreams(copy: Path):
    upstream = built(copy)
    rebuild(copy)
    rebuilt = built(copy)
    assert REBUILT in rebuilt.manifest.rows_read
    for name, part in upstream.parts.items():
        assert rebuilt.parts[name].equals(part), name


def test_upstreams_match_file_may_come_without_its_header(copy: Path):
    upstream = built(copy)
    path = copy / MATCHES
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    assert built(copy).comparisons.equals(upstream.comparisons)


def test_names_in_upstreams_match_file_are_latin_1_and_decide_nothing(copy: Path, edit):
    upstream = built(copy)
    edit(copy / MATCHES, b",Player ", ",Pläyer ".encode("latin-1"))
    assert built(copy).comparisons.equals(upstream.comparisons)


def test_tournaments_are_found_by_year_and_number_and_not_by_slug(copy: Path, edit):
    upstream = built(copy)
    edit(copy / TOURNAMENTS, b",place-300,", b",nitto-place-300,")
    assert built(copy).comparisons.equals(upstream.comparisons)


def test_a_rebuilt_surface_that_is_not_the_tournaments_is_refused(copy: Path):
    rebuild(copy)
    text = gzip.decompress((copy / REBUILT).read_bytes()).decode().splitlines(keepends=True)
    old = next(surface for surface in ("Hard", "Clay", "Grass", "Carpet") if f",{surface}," in text[3])
    text[3] = text[3].replace(f",{old},", ",Sand,")
    (copy / REBUILT).write_bytes(gzip.compress("".join(text).encode()))
    with pytest.raises(RawDataError, match=r"rebuilt.csv.gz, line 4: column tourney_surface: .* found 'Sand'"):
        built(copy)


def test_the_first_real_match_is_the_final_in_adelaide(real: PairwiseTable):
    final = real.comparisons.slice(0, 1).to_pylist()[0]
    winner, loser = ("left_id", "right_id") if final["left_wins"] else ("right_id", "left_id")
    assert (final["comparison_id"], final[winner], final[loser]) == ("1991-7308-1-1", "k181", "s351")
    assert (final["context_id"], final["round"], final["walkover"]) == ("1991-7308", "Finals", False)
    players = {row["item_id"]: row for row in real.items.to_pylist()}
    assert (players["k181"]["label"], players["s351"]["label"]) == ("Nicklas Kulti", "Michael Stich")
    assert real.contexts.to_pylist()[0] == {"context_id": "1991-7308", "conditions": False, "surface": "Hard"}


def test_zeros_blanks_and_two_impossible_values_are_missing(real: PairwiseTable):
    missing = {name: real.items[name].null_count for name in real.items.column_names[2:]}
    assert missing == {
        "birth_year": 104, "turned_pro": 2_102 + 73, "weight": 1_424 + 55 + 1, "height": 1_479 + 59 + 1,
        "handedness": 2_361, "backhand": 2_361,
    }  # fmt: skip
    assert "turned_pro (73 players), weight_kg (55 players), height_cm (59 players)" in real.manifest.quirks[0]
    assert real.manifest.quirks[1].endswith("missing: weight_kg 675 of pj32, height_cm 3 of rc33")
    players = {row["item_id"]: row for row in real.items.to_pylist()}
    assert (players["pj32"]["weight"], players["rc33"]["height"]) == (None, None)
    assert (players["pj32"]["height"], players["rc33"]["weight"]) == (180, 77)


def test_walkovers_and_retirements_are_kept_and_flagged(real: PairwiseTable):
    flags = {
        name: Counter(real.comparisons[name].to_pylist()) for name in ("walkover", "retirement", "default", "unplayed")
    }
    assert {name: counts[True] for name, counts in flags.items()} == {
        "walkover": 399, "retirement": 2_546, "default": 26, "unplayed": 1,
    }  # fmt: skip
    assert all(counts[None] == 2 for counts in flags.values())


def test_every_listed_player_and_tournament_is_used_or_dropped_by_reason(real: PairwiseTable):
    assert real.manifest.rows_read == {PLAYERS: 10_912, TOURNAMENTS: 4_114, REBUILT: 95_359}
    assert real.manifest.dropped == (
        DroppedRows(table="items", reason="has the key of an earlier row", rows=1),
        DroppedRows(table="items", reason="plays no match", rows=10_912 - 3_483 - 1),
        DroppedRows(table="contexts", reason="has the key of an earlier row", rows=1),
        DroppedRows(table="contexts", reason="no match is known of it", rows=4_114 - 1_882 - 1),
    )


def test_keys_that_come_twice_and_tournaments_without_address_or_surface_have_no_match(real, real_raw: Path):
    tournaments = rows_of(real_raw / "tennis" / "raw" / TOURNAMENTS)
    no_address = {row["tourney_year_id"] for row in tournaments if not row["tourney_url_suffix"]}
    assert sum(not row["tourney_url_suffix"] for row in tournaments) == 33
    used = set(real.contexts["context_id"].to_pylist())
    assert not used & (no_address | {"1975-", "1975-338"})
    assert real.contexts["surface"].null_count == real.contexts["conditions"].null_count == 0
    assert "v007" not in real.items["item_id"].to_pylist()


def test_the_finals_that_were_renamed_are_joined_all_the_same(real: PairwiseTable, real_raw: Path):
    tournaments = rows_of(real_raw / "tennis" / "raw" / TOURNAMENTS)
    renamed = {row["tourney_year_id"] for row in tournaments if row["tourney_slug"] == "nitto-atp-finals"}
    assert sum(context in renamed for context in real.comparisons["context_id"].to_pylist()) == 375 + 15  # 2016's too


def test_qualifying_rounds_are_there_from_2007_on(real: PairwiseTable):
    rows = zip(real.comparisons["context_id"].to_pylist(), real.comparisons["round"].to_pylist(), strict=True)
    years = Counter(context[:4] for context, name in rows if name.endswith("Qualifying"))
    assert (min(years), max(years)) == ("2007", "2016")
    assert sum(years.values()) == 17_375
    assert any("qualifying rounds are there from 2007 on" in quirk for quirk in real.manifest.quirks)


def test_simulated_matches_follow_the_rules_of_their_surface_but_for_the_stated_noise(simulated: Path):
    preference = simulate(TENNIS, simulated.parent / "again", seed=4, users=120)
    [table] = build(TENNIS, locate(TENNIS, simulated))
    players = {row["item_id"]: row for row in table.items.to_pylist()}
    agreement = []
    for row in table.comparisons.to_pylist():
        first = preference.types[preference.type_of[row["context_id"]]][0]
        left, right = (players[row[side]][first.feature] for side in ("left_id", "right_id"))
        if left is None or right is None:
            continue
        if first.cut is not None:
            left, right = left >= first.cut, right >= first.cut
        if left != right:
            agreement.append(((left > right) == (first.prefers == "high")) == row["left_wins"])
    assert len(agreement) > 800
    assert np.mean(agreement) == pytest.approx(1 - preference.noise, abs=0.03)


def test_simulated_files_have_upstreams_gaps_and_repeated_keys(simulated: Path):
    [table] = build(TENNIS, locate(TENNIS, simulated))
    players, tournaments = rows_of(simulated / PLAYERS), rows_of(simulated / TOURNAMENTS)
    assert [row["player_id"] for row in players].count("v007") == 2
    assert [row["tourney_year_id"] for row in tournaments].count("1975-") == 2
    assert {"", "0"} <= {row["weight_kg"] for row in players}
    assert 0 < table.items["weight"].null_count < table.items.num_rows / 2
    assert table.items.num_rows == 120
