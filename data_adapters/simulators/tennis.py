"""Simulated ATP files in upstream's format: invented players; clay has other winners than the other surfaces."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from data_adapters.codebooks.tennis import (
    BACKHANDS,
    ENDINGS,
    HANDS,
    MATCH_COLUMNS,
    MATCH_ENCODING,
    MATCH_FILE,
    PLAYER_COLUMNS,
    PLAYER_FILE,
    REPEATED_PLAYERS,
    REPEATED_TOURNAMENTS,
    SURFACES,
    TOURNAMENT_COLUMNS,
    TOURNAMENT_FILE,
)
from data_adapters.source.planted import Preference, Rule
from models.records.arrays import BoolArray, IntArray

PUBLISHED_PLAYERS, MATCHES_A_PLAYER, MATCHES_A_TOURNAMENT = 3_483, 27.4, 50
NEVER_PLAYED = 0.2
"""Listed players without a match, as a share of those with one."""

TALL = 185
NOISE = 0.1
TYPES = {
    "clay": (Rule(feature="birth_year", prefers="low"), Rule(feature="weight", prefers="high")),
    "fast": (Rule(feature="height", cut=TALL, prefers="high"), Rule(feature="turned_pro", prefers="low")),
}
WORDS = (
    f"On clay the older player wins (birth_year), of two of one age the heavier. On every other surface a player of "
    f"{TALL} cm or more beats a smaller one (height), and otherwise wins who turned pro earlier. In {NOISE:.0%} of all "
    f"matches it is the other way round. Conditions, hands and the round do not matter. What the file leaves out of a "
    f"player decides all the same."
)
ROUNDS = ("Finals", "Semi-Finals", "Quarter-Finals", "Round of 16", "Round of 32", "Round of 64", "Round of 128")


@dataclass(frozen=True)
class Players:
    """The features of the players, (n,) each."""

    ids: list[str]
    birth_year: IntArray
    turned_pro: IntArray
    weight: IntArray
    height: IntArray


def simulate(folder: Path, *, seed: int, users: int | None) -> Preference:
    """Write the three files in upstream's format into `folder`; `users`: number of players with a match."""
    rng = np.random.default_rng(seed)
    n_playing = max(users or PUBLISHED_PLAYERS, 2)
    players = _players(rng, round(n_playing * (1 + NEVER_PLAYED)))
    _write(folder / PLAYER_FILE, PLAYER_COLUMNS, _player_rows(rng, players), line_break="\r\n")

    pairs = _pairs(rng, n_playing, round(n_playing * MATCHES_A_PLAYER))
    n_tournaments = -(-len(pairs) // MATCHES_A_TOURNAMENT)
    surface = rng.integers(len(SURFACES), size=n_tournaments)
    tournaments = [(1991 + number * 26 // n_tournaments, str(300 + number)) for number in range(n_tournaments)]
    rows = [
        _tournament_row(rng, year, number, SURFACES[code])
        for (year, number), code in zip(tournaments, surface, strict=True)
    ]
    _write(folder / TOURNAMENT_FILE, TOURNAMENT_COLUMNS, [*_earlier_tournaments(), *rows], line_break="\r\n")

    on_clay = surface[np.arange(len(pairs)) // MATCHES_A_TOURNAMENT] == SURFACES.index("Clay")
    first_wins = _first_wins(players, pairs, on_clay) ^ (rng.random(len(pairs)) < NOISE)
    winner_first = np.where(first_wins[:, None], pairs, pairs[:, ::-1])
    _write(folder / MATCH_FILE, MATCH_COLUMNS, _match_rows(rng, players, tournaments, winner_first), line_break="\n")
    type_of = {
        f"{year}-{number}": "clay" if SURFACES[code] == "Clay" else "fast"
        for (year, number), code in zip(tournaments, surface, strict=True)
    }
    return Preference(words=WORDS, types=TYPES, type_of=type_of, noise=NOISE)


def _players(rng: np.random.Generator, n: int) -> Players:
    born = rng.integers(1955, 1997, size=n)
    return Players(
        ids=[np.base_repr(10 * 36**3 + number, 36).lower() for number in range(n)],
        birth_year=born,
        turned_pro=born + rng.integers(16, 24, size=n),
        weight=rng.integers(60, 105, size=n),
        height=rng.integers(165, 206, size=n),
    )


def _player_rows(rng: np.random.Generator, players: Players) -> list[list[object]]:
    """Upstream's columns, with its gaps: blank, or 0 for weight, height and turned_pro."""
    n = len(players.ids)
    gaps = rng.choice(3, size=(n, 3), p=[0.7, 0.27, 0.03])
    blank = rng.random((n, 3)) < [0.03, 0.3, 0.3]
    hands = rng.choice(list(HANDS), size=n, p=[0.85, 0.14, 0.01])
    backhands = rng.choice(list(BACKHANDS), size=n)
    rows: list[list[object]] = []
    for row, player in enumerate(players.ids):
        known = (players.turned_pro[row], players.weight[row], players.height[row])
        turned_pro, weight, height = (
            ("", value, 0)[(1, 0, 2)[gap]] for value, gap in zip(known, gaps[row], strict=True)
        )
        born = "" if blank[row, 0] else players.birth_year[row]
        rows.append(
            [player, f"player-{player}", "Player", player, f"/en/players/{player}/overview", "", "", "", "", born, "",
             "", turned_pro, "", weight, "", "", height, "" if blank[row, 1] else hands[row],
             "" if blank[row, 2] else backhands[row]]
        )  # fmt: skip
    rows += [[player, "", "Listed", "Twice", *[""] * 16] for player in REPEATED_PLAYERS for _ in range(2)]
    return rows


def _earlier_tournaments() -> list[list[object]]:
    """Tournaments before the first match: a repeated key, and one tournament without conditions and surface."""
    keys = [("", key) for key in REPEATED_TOURNAMENTS for _ in range(2)]
    rows: list[list[object]] = [
        ["1975", "1", "Twice", number, *[""] * 7, "Outdoor", "Clay", *[""] * 14, key] for number, key in keys
    ]
    return [*rows, ["1975", "2", "Nowhere", "338", *[""] * 23, "1975-338"]]


def _tournament_row(rng: np.random.Generator, year: int, number: str, surface: str) -> list[object]:
    conditions = ("Outdoor", "Indoor")[rng.integers(2)]
    place = f"place-{number}"
    return [year, "1", place.title(), number, place, "Somewhere, Nowhere", f"{year}.01.01", "1", "1", "32", "16",
            conditions, surface, "", _address(year, number), *[""] * 12, f"{year}-{number}"]  # fmt: skip


def _address(year: int, number: str) -> str:
    return f"/en/scores/archive/place-{number}/{number}/{year}/results"


def _pairs(rng: np.random.Generator, n_players: int, n: int) -> IntArray:
    """Two different players each, (n, 2); every player plays."""
    half = n_players // 2
    rounds = [rng.permutation(n_players)[: 2 * half].reshape(half, 2) for _ in range(-(-n // half))]
    return np.concatenate(rounds)[:n]


def _first_wins(players: Players, pairs: IntArray, on_clay: BoolArray) -> BoolArray:
    """Whether the first of each pair (n, 2) wins by the rules, (n,)."""
    older, heavier = (-players.birth_year[pairs], players.weight[pairs])
    tall, earlier = (players.height[pairs] >= TALL).astype(np.int64), -players.turned_pro[pairs]
    clay_score, fast_score = older * 1_000 + heavier, tall * 10_000 + earlier
    score = np.where(on_clay[:, None], clay_score, fast_score)
    return score[:, 0] >= score[:, 1]


def _match_rows(
    rng: np.random.Generator, players: Players, tournaments: Sequence[tuple[int, str]], pairs: IntArray
) -> Iterable[list[object]]:
    """The matches, (n, 2) winner first, from each tournament's final backwards through its rounds."""
    ending = rng.choice([*ENDINGS.values(), "", "blank"], size=len(pairs), p=[0.01, 0.03, 0.005, 0.005, 0.945, 0.005])
    games = rng.integers(5, size=(len(pairs), 2))
    for match, ((one, other), mark, (first, second)) in enumerate(zip(pairs, ending, games, strict=True)):
        (year, number), place = tournaments[match // MATCHES_A_TOURNAMENT], match % MATCHES_A_TOURNAMENT + 1
        round_order = place.bit_length()
        winner, loser = players.ids[one], players.ids[other]
        sets = {"(W/O)": [], "(RET)": [f"6{first}", "10"], "blank": []}.get(mark, [f"6{first}", f"76({second})"])
        score = " ".join([*sets, mark] if mark.startswith("(") else sets)
        yield [
            f"{year}-{number}", "1", f"place-{number}", _address(year, number), ROUNDS[round_order - 1], round_order,
            place - 2 ** (round_order - 1) + 1, f"Player {winner}", winner, f"player-{winner}", f"Player {loser}",
            loser, f"player-{loser}", "", "", score, len(sets), 0, 13 if len(sets) == 2 else 0, first + second, 0, 0,
            f"{year}-{number}-{winner}-{loser}", "",
        ]  # fmt: skip


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], *, line_break: str) -> None:
    with path.open("w", encoding=MATCH_ENCODING if path.name == MATCH_FILE else "utf-8", newline="") as file:
        csv.writer(file, lineterminator=line_break).writerows([header, *rows])
