"""ATP World Tour: 95,359 singles matches of 1991 to 2016, the players' physique, and where they played."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_adapters.codebooks.tennis import (
    BACKHANDS,
    ENDINGS,
    HANDS,
    MATCH_COLUMNS,
    MATCH_ENCODING,
    MATCH_FILE,
    OPPONENTS,
    PHYSIQUE,
    PLAYER_COLUMNS,
    PLAYER_FILE,
    REBUILT_MATCH_COLUMNS,
    REBUILT_MATCH_FILE,
    REPEATED_PLAYERS,
    REPEATED_TOURNAMENTS,
    ROUNDS,
    SCORE,
    SCORE_COLUMN,
    SLIPS,
    SURFACES,
    TOURNAMENT_COLUMNS,
    TOURNAMENT_FILE,
)
from data_adapters.simulators.tennis import simulate
from data_adapters.source import strict
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Counts, Dataset, RawFile, binary, categorical, numeric
from data_adapters.source.faults import read_all
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Columns, Reading
from data_adapters.table.side import coin_of
from models.records.arrays import BoolArray, FloatArray
from models.records.card import counted
from models.records.manifest import DroppedRows, Licence

UPSTREAM = (
    "https://raw.githubusercontent.com/datasets/atp-world-tour-tennis-data/e9f9046847e9ea6926b7f2db0d3eeb97e5eaacae/csv"
)
PLAYERS = RawFile(
    name=PLAYER_FILE,
    sha256="3d124153b1499f37a1d48710830609e42fa216e616460e381827923be92c070e",
    bytes=1_557_430,
    url=f"{UPSTREAM}/5_players/{PLAYER_FILE}",
)
TOURNAMENTS = RawFile(
    name=TOURNAMENT_FILE,
    sha256="47e31b7d1c44003fa699c68ceaeb332a56ca0983d627d5acc19bfa5e11ba7700",
    bytes=1_412_907,
    url=f"{UPSTREAM}/1_tournaments/{TOURNAMENT_FILE}",
)
MATCHES = RawFile(name=MATCH_FILE, url=f"{UPSTREAM}/2_match_scores/{MATCH_FILE}")
REBUILT_MATCHES = RawFile(
    name=REBUILT_MATCH_FILE,
    sha256="f00f90b370fd982e8946934c1f5989b8a30bec1fda4df94a5cf6dadede44278d",
    bytes=983_676,
)

TENNIS = Dataset(
    name="tennis",
    title="Tennis matches of the ATP World Tour, 1991-2016",
    citation="ATP World Tour tennis data, https://datahub.io/core/atp-world-tour-tennis-data",
    licence=Licence(
        name="CC BY 4.0",
        terms="Free to use, change and pass on if the source is named and changes are told.",
        url="https://creativecommons.org/licenses/by/4.0/",
    ),
    raw=(MATCHES, TOURNAMENTS, PLAYERS),
    other_forms=((REBUILT_MATCHES, TOURNAMENTS, PLAYERS),),
    side="random",
    item_texts={"label": "name"},
    items=(
        numeric("birth_year", "year of birth", minimum=1850, maximum=2010),
        numeric("turned_pro", "year of becoming a professional", minimum=1900, maximum=2020),
        numeric("weight", "weight", unit="kg", minimum=30, maximum=150),
        numeric("height", "height", unit="cm", minimum=140, maximum=230),
        categorical("handedness", "hand that holds the racket", tuple(HANDS.values())),
        categorical("backhand", "hands that play a backhand", tuple(BACKHANDS.values())),
    ),
    contexts=(
        binary("conditions", "whether it was played under a roof", false="outdoor", true="indoor"),
        categorical("surface", "what was played on", SURFACES),
    ),
    comparisons=(
        categorical("round", "round of the tournament", ROUNDS),
        binary("walkover", "whether the loser did not start", false="no", true="walkover"),
        binary("retirement", "whether the loser gave up during the match", false="no", true="retirement"),
        binary("default", "whether the loser was disqualified", false="no", true="default"),
        binary("unplayed", "whether the match is marked as not played", false="no", true="unplayed"),
    ),
    published={"tennis": Counts(items=3_483, comparisons=95_359, contexts=1_882)},
)


def read(raw: RawFolder) -> tuple[Reading, ...]:
    """The matches, their players and their tournaments. Raises RawDataError."""
    listed_players = _read_players(raw.file(PLAYER_FILE))
    listed_tournaments = _read_tournaments(raw.file(TOURNAMENT_FILE))
    players = _without_repeats(listed_players, "player_id", REPEATED_PLAYERS)
    tournaments = _without_repeats(listed_tournaments, "tourney_year_id", REPEATED_TOURNAMENTS)
    items, contexts = _items(players), _contexts(tournaments)
    file = MATCH_FILE if raw.has(MATCH_FILE) else REBUILT_MATCH_FILE
    matches = _read_matches(raw.file(file), items, contexts)
    comparisons = _comparisons(matches)
    plays = _among(items["item_id"], {*matches.texts["winner_player_id"], *matches.texts["loser_player_id"]})
    used = _among(contexts["context_id"], set(matches.texts["tourney_year_id"]))
    return (
        Reading(
            name="tennis",
            items={name: values[plays] for name, values in items.items()},
            contexts={name: values[used] for name, values in contexts.items()},
            comparisons=comparisons,
            rows_read={
                PLAYER_FILE: len(listed_players.rows.lines),
                TOURNAMENT_FILE: len(listed_tournaments.rows.lines),
                file: len(matches.rows.lines),
            },
            dropped=(
                *_dropped("items", listed_players, plays, "plays no match"),
                *_dropped("contexts", listed_tournaments, used, "no match is known of it"),
            ),
            quirks=_quirks(file, players.only(plays), comparisons),
        ),
    )


def _read_players(path: Path) -> strict.Columns:
    columns = strict.read_rows(path, separator=",", quoted=True).after_header(PLAYER_COLUMNS).columns(PLAYER_COLUMNS)
    columns.text("player_id")
    return columns


def _read_tournaments(path: Path) -> strict.Columns:
    rows = strict.read_rows(path, separator=",", quoted=True).after_header(TOURNAMENT_COLUMNS)
    columns = rows.columns(TOURNAMENT_COLUMNS)
    parts = zip(*(columns.texts[name] for name in ("tourney_year", "tourney_id", "tourney_year_id")), strict=True)
    agree = np.array([f"{year}-{number}" == key for year, number, key in parts], dtype=np.bool_)
    columns.require("tourney_year_id", agree, "the year and the tourney_id, joined by a hyphen")
    return columns


def _without_repeats(columns: strict.Columns, key: str, known: tuple[str, ...]) -> strict.Columns:
    """The rows without repeats of the keys that upstream is known to have twice. Any other repeat is an error."""
    seen: set[str] = set()
    keep = []
    for text in columns.texts[key]:
        keep.append(text not in known or text not in seen)
        seen.add(text)
    kept = columns.only(np.array(keep, dtype=np.bool_))
    kept.require_unique(key)
    return kept


def _items(players: strict.Columns) -> Columns:
    names = ("first_name", "last_name")
    found = read_all({
        **{name: partial(players.text, name) for name in names},
        **{name: partial(_number, players, *described) for name, described in PHYSIQUE.items()},
        "handedness": partial(players.labels, "handedness", HANDS | {"": None}),
        "backhand": partial(players.labels, "backhand", BACKHANDS | {"": None}),
    })  # fmt: skip
    first, last = (found.pop(name) for name in names)
    return {
        "item_id": np.array(players.texts["player_id"], dtype=object),
        "label": np.array([" ".join(name) for name in zip(first, last, strict=True)], dtype=object),
        **found,
    }


def _number(players: strict.Columns, column: str, missing: Sequence[str], limits: tuple[float, float]) -> FloatArray:
    """One number of each player, (n,); NaN if it is missing or a known slip."""
    pairs = zip(players.texts["player_id"], players.texts[column], strict=True)
    texts = ["" if SLIPS.get((player, column)) == text else text for player, text in pairs]
    without_slips = replace(players, texts={column: texts})
    return without_slips.numbers_or_missing(column, missing=missing, minimum=limits[0], maximum=limits[1])


def _contexts(tournaments: strict.Columns) -> Columns:
    """Conditions and surface. One tournament, earlier than all matches, has neither."""
    surfaces = {surface: surface for surface in SURFACES} | {"": None}
    conditions = {"Outdoor": False, "Indoor": True, "": None}
    found = read_all({
        "conditions": partial(tournaments.labels, "tourney_conditions", conditions),
        "surface": partial(tournaments.labels, "tourney_surface", surfaces),
    })  # fmt: skip
    return {"context_id": np.array(tournaments.texts["tourney_year_id"], dtype=object), **found}


def _read_matches(path: Path, items: Columns, contexts: Columns) -> strict.Columns:
    columns = _rebuilt_matches(path, contexts) if path.name == REBUILT_MATCH_FILE else _upstream_matches(path)
    columns.rows.require_some("matches")
    tournaments, players = set(contexts["context_id"]), set(items["item_id"])
    winners, losers = (np.array(columns.texts[column], dtype=object) for column in OPPONENTS)
    score = SCORE_COLUMN[path.name]
    well_formed = pc.match_substring_regex(pa.array(columns.texts[score], pa.string()), SCORE)
    require: dict[str, tuple[BoolArray, str]] = {
        "tourney_year_id": (
            _among(columns.texts["tourney_year_id"], tournaments),
            f"one that {TOURNAMENT_FILE} lists",
        ),
        **{name: (_among(columns.texts[name], players), f"one that {PLAYER_FILE} lists") for name in OPPONENTS},
        score: (
            well_formed.to_numpy(zero_copy_only=False),
            f"the games of each set, then {', '.join(ENDINGS.values())} or nothing",
        ),
    }
    read_all({
        **{column: partial(columns.require, column, *required) for column, required in require.items()},
        "another": partial(columns.require, OPPONENTS[1], winners != losers, "another player than the winner"),
        **{column: partial(columns.integers, column, minimum=1) for column in ("round_order", "match_order")},
        "unique": partial(columns.require_unique, "match_order", "round_order", "tourney_year_id"),
        "round": partial(columns.labels, "tourney_round_name", {name: name for name in ROUNDS}),
    })  # fmt: skip
    return columns


def _upstream_matches(path: Path) -> strict.Columns:
    """Upstream's file, which has a header in some releases and none in others."""
    rows = strict.read_rows(path, separator=",", quoted=True, encoding=MATCH_ENCODING)
    if rows.fields[:1] == [list(MATCH_COLUMNS)]:
        rows = rows.after_header(MATCH_COLUMNS)
    return rows.columns(MATCH_COLUMNS)


def _rebuilt_matches(path: Path, contexts: Columns) -> strict.Columns:
    rows = strict.read_rows(path, separator=",", quoted=True).after_header(REBUILT_MATCH_COLUMNS)
    columns = rows.columns(REBUILT_MATCH_COLUMNS)
    surfaces = dict(zip(contexts["context_id"], contexts["surface"], strict=True))
    listed = [surfaces.get(tournament) for tournament in columns.texts["tourney_year_id"]]
    columns.require(
        "tourney_surface",
        np.array(columns.texts["tourney_surface"], dtype=object) == listed,
        f"the surface that {TOURNAMENT_FILE} lists for the tournament",
    )
    return columns


def _comparisons(matches: strict.Columns) -> Columns:
    tournament, winner, loser = (pa.array(matches.texts[name]) for name in ("tourney_year_id", *OPPONENTS))
    orders = (pa.array(matches.texts[name]) for name in ("round_order", "match_order"))
    comparison_id = pc.binary_join_element_wise(tournament, *orders, "-")
    left_wins = coin_of(comparison_id)
    scores = pa.array(matches.texts[SCORE_COLUMN[matches.rows.name]])
    scored = pc.not_equal(scores, "")
    return {
        "comparison_id": comparison_id,
        "left_id": pc.if_else(left_wins, winner, loser),
        "right_id": pc.if_else(left_wins, loser, winner),
        "left_wins": left_wins,
        "context_id": tournament,
        "round": matches.labels("tourney_round_name", {name: name for name in ROUNDS}),
        **{name: pc.if_else(scored, pc.ends_with(scores, mark), None) for name, mark in ENDINGS.items()},
    }


def _among(values: Sequence[str], known: Set[str]) -> BoolArray:
    return np.array([value in known for value in values], dtype=np.bool_)


def _dropped(table: str, listed: strict.Columns, kept: BoolArray, reason: str) -> tuple[DroppedRows, ...]:
    """Counts of rows that repeat a key, and of rows that no match refers to; kept: (n,) the rows with a match."""
    repeats = len(listed.rows.lines) - len(kept)
    return (
        DroppedRows(table=table, reason="has the key of an earlier row", rows=repeats),
        DroppedRows(table=table, reason=reason, rows=int((~kept).sum())),
    )


def _quirks(file: str, players: strict.Columns, comparisons: Columns) -> tuple[str, ...]:
    zeros = [
        f"{column} ({counted(players.texts[column].count('0'), 'players')})"
        for column, missing, _ in PHYSIQUE.values()
        if "0" in missing
    ]
    slips = [
        f"{column} {text} of {player}"
        for (player, column), text in SLIPS.items()
        if (player, text) in zip(players.texts["player_id"], players.texts[column], strict=True)
    ]
    qualifying = {
        tournament[:4]
        for tournament, name in zip(comparisons["context_id"].to_pylist(), comparisons["round"], strict=True)
        if name.endswith("Qualifying")
    }
    endings = {name: pc.sum(comparisons[name]).as_py() or 0 for name in ENDINGS}
    unscored = pc.sum(pc.is_null(comparisons["walkover"])).as_py()
    return (
        f"{PLAYER_FILE}: 0 means missing in {', '.join(zeros)}",
        f"{PLAYER_FILE}: values that cannot be, and count as missing: {', '.join(slips) or 'none'}",
        f"{file}: kept and flagged are {', '.join(f'{n:,} as {name}' for name, n in endings.items())}; "
        f"without a score, and so with missing flags: {unscored:,}",
        f"{TOURNAMENT_FILE}: pref-shap's 4,114 contexts (Table 2) are all its tournaments; here are those with a match",
        f"{file}: matches of qualifying rounds are {f'there from {min(qualifying)} on' if qualifying else 'not there'}",
        *(
            ("rebuilt from upstream's yearly files: without seeds, and without the points of tie-breaks",)
            if file == REBUILT_MATCH_FILE
            else ()
        ),
    )


ADAPTER = Adapter(dataset=TENNIS, version="1", read=read, simulate=simulate)
