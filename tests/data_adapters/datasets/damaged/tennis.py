"""Damaged ATP files, and the expected numbers of rows."""

from __future__ import annotations

from tests.data_adapters.datasets.damaged import Account, Damage, field, line, lines

MATCHES, TOURNAMENTS = "match_scores_1991-2016_UNINDEXED.csv", "tournaments_1877-2017_UNINDEXED.csv"
PLAYERS = "player_overviews_UNINDEXED.csv"

ACCOUNT: Account = {
    "items": lambda read: read[PLAYERS],
    "contexts": lambda read: read[TOURNAMENTS],
    "comparisons": lambda read: sum(rows for file, rows in read.items() if file.startswith("match_scores")),
}

DAMAGED = (
    Damage("another header", PLAYERS, lines(lambda found: [found[0].upper(), *found[1:]]), "line 1: expected the"),
    Damage("player twice", PLAYERS, lines(lambda found: [*found, found[1]]), "column player_id: expected a new value"),
    Damage("no id", PLAYERS, field(2, 0, "", ","), "line 2: column player_id: expected a text"),
    Damage("too heavy", PLAYERS, field(3, 14, "675", ","), r"line 3: column weight_kg: .*\[30, 150\], found '675'"),
    Damage("birth year 0", PLAYERS, field(3, 9, "0", ","), "line 3: column birth_year: .* found '0'"),
    Damage("height in feet", PLAYERS, field(3, 17, "6'1", ","), "line 3: column height_cm: expected a number"),
    Damage("unknown hand", PLAYERS, field(3, 18, "Both", ","), "line 3: column handedness: expected one of .*'Both'"),
    Damage("unknown backhand", PLAYERS, field(3, 19, "2", ","), "line 3: column backhand: expected one of"),
    Damage("player cut off", PLAYERS, lambda content: content[:-3], "expected (20 fields|a line break)"),
    Damage("tournament twice", TOURNAMENTS, lines(lambda found: [*found, found[-1]]), "column tourney_year_id: .*new"),
    Damage("tournament of another year", TOURNAMENTS, field(9, 0, "2020", ","), "line 9: column tourney_year_id"),
    Damage("unknown surface", TOURNAMENTS, line(9, lambda text: text.replace("Clay", "Sand").replace("Hard", "Sand")
           .replace("Grass", "Sand").replace("Carpet", "Sand")), "line 9: column tourney_surface: .*'Sand'"),
    Damage("unknown conditions", TOURNAMENTS, line(9, lambda text: text.replace("oor,", "oors,")),
           "line 9: column tourney_conditions"),
    Damage("quote left open", TOURNAMENTS, line(9, lambda text: text.replace('here"', "here")), "expected after"),
    Damage("no match", MATCHES, lines(lambda found: found[:1]), "expected matches, found none"),
    Damage("matches empty", MATCHES, lambda _: b"", "expected matches, found none"),
    Damage("match field missing", MATCHES, line(7, lambda text: text.rpartition(",")[0]), "line 7: expected 24 fields"),
    Damage("another match header", MATCHES, line(1, lambda text: text.replace("winner_name", "winner")),
           "line 1: column tourney_year_id: expected one that"),
    Damage("unknown winner", MATCHES, field(7, 8, "zzzz", ","), "line 7: column winner_player_id: .*found 'zzzz'"),
    Damage("unknown loser", MATCHES, field(7, 11, "", ","), "line 7: column loser_player_id: .*found ''"),
    Damage("unknown tournament", MATCHES, field(7, 0, "1991-1", ","), "line 7: column tourney_year_id: .*'1991-1'"),
    Damage("beats himself", MATCHES, line(7, lambda text: text.replace(text.split(",")[11], text.split(",")[8])),
           "line 7: column loser_player_id: expected another player than the winner"),
    Damage("match twice", MATCHES, lines(lambda found: [*found, found[8]]),
           r"column match_order: .* new value together with round_order, tourney_year_id \(line 9 has this one\)"),
    Damage("unknown round", MATCHES, field(7, 4, "Last 8", ","), "line 7: column tourney_round_name: expected one of"),
    Damage("round 0", MATCHES, field(7, 5, "0", ","), "line 7: column round_order: .* found '0'"),
    Damage("score no score", MATCHES, field(7, 15, "6-3 6-2", ","), "line 7: column match_score_tiebreaks: .*'6-3"),
    Damage("endless set", MATCHES, field(7, 15, "6" * 30, ","), "line 7: column match_score_tiebreaks: .*found '666"),
    Damage("unknown ending", MATCHES, field(7, 15, "63 (ABN)", ","), r"line 7: column match_score_tiebreaks"),
    Damage("matches cut off", MATCHES, lambda content: content[:-1], "expected a line break after"),
)  # fmt: skip
