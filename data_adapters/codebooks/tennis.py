"""ATP World Tour tennis data: the files, their columns and codes, and their known slips."""

from __future__ import annotations

PLAYER_FILE = "player_overviews_UNINDEXED.csv"
TOURNAMENT_FILE = "tournaments_1877-2017_UNINDEXED.csv"
MATCH_FILE = "match_scores_1991-2016_UNINDEXED.csv"
REBUILT_MATCH_FILE = "match_scores_1991-2016_rebuilt.csv.gz"

PLAYER_COLUMNS = (
    "player_id", "player_slug", "first_name", "last_name", "player_url", "flag_code", "residence", "birthplace",
    "birthdate", "birth_year", "birth_month", "birth_day", "turned_pro", "weight_lbs", "weight_kg", "height_ft",
    "height_inches", "height_cm", "handedness", "backhand",
)  # fmt: skip
TOURNAMENT_COLUMNS = (
    "tourney_year", "tourney_order", "tourney_name", "tourney_id", "tourney_slug", "tourney_location",
    "tourney_dates", "tourney_month", "tourney_day", "tourney_singles_draw", "tourney_doubles_draw",
    "tourney_conditions", "tourney_surface", "tourney_fin_commit", "tourney_url_suffix", "singles_winner_name",
    "singles_winner_url", "singles_winner_player_slug", "singles_winner_player_id", "doubles_winner_1_name",
    "doubles_winner_1_url", "doubles_winner_1_player_slug", "doubles_winner_1_player_id", "doubles_winner_2_name",
    "doubles_winner_2_url", "doubles_winner_2_player_slug", "doubles_winner_2_player_id", "tourney_year_id",
)  # fmt: skip
MATCH_COLUMNS = (
    "tourney_year_id", "tourney_order", "tourney_slug", "tourney_url_suffix", "tourney_round_name", "round_order",
    "match_order", "winner_name", "winner_player_id", "winner_slug", "loser_name", "loser_player_id", "loser_slug",
    "winner_seed", "loser_seed", "match_score_tiebreaks", "winner_sets_won", "loser_sets_won", "winner_games_won",
    "loser_games_won", "winner_tiebreaks_won", "loser_tiebreaks_won", "match_id", "match_stats_url_suffix",
)  # fmt: skip
REBUILT_MATCH_COLUMNS = (
    "tourney_year_id", "tourney_url_suffix", "tourney_conditions", "tourney_surface", "tourney_round_name",
    "round_order", "match_order", "winner_player_id", "loser_player_id", "match_score",
)  # fmt: skip
OPPONENTS = ("winner_player_id", "loser_player_id")
MATCH_ENCODING = "ISO-8859-1"
"""The encoding of upstream's match file, from its datapackage.json; the other files are UTF-8."""

PHYSIQUE = {
    "birth_year": ("birth_year", ("",), (1850, 2010)),
    "turned_pro": ("turned_pro", ("", "0"), (1900, 2020)),
    "weight": ("weight_kg", ("", "0"), (30, 150)),
    "height": ("height_cm", ("", "0"), (140, 230)),
}
"""Each numeric feature of a player: its column, the texts that mean missing, and its limits."""
HANDS = {"Right-Handed": "right", "Left-Handed": "left", "Ambidextrous": "both"}
BACKHANDS = {"One-Handed Backhand": "one-handed", "Two-Handed Backhand": "two-handed"}
SURFACES = ("Hard", "Clay", "Grass", "Carpet")
ROUNDS = (
    "Finals", "Olympic Bronze", "Semi-Finals", "Quarter-Finals", "Round Robin", "Round of 16", "Round of 32",
    "Round of 64", "Round of 128", "3rd Round Qualifying", "2nd Round Qualifying", "1st Round Qualifying",
)  # fmt: skip

SCORE_COLUMN = {MATCH_FILE: "match_score_tiebreaks", REBUILT_MATCH_FILE: "match_score"}
ENDINGS = {"walkover": "(W/O)", "retirement": "(RET)", "default": "(DEF)", "unplayed": "(UNP)"}
"""Marks at the end of the score of a match that was not finished."""
SCORE = r"^(\d{1,4}(\(\d{1,2}\) ?| ))*(\d{1,4})?(\((W/O|RET|DEF|UNP)\))?$"
"""The games of each set (7068 is 70 to 68), with the points of a tie-break or without, then at most one such mark."""

REPEATED_PLAYERS, REPEATED_TOURNAMENTS = ("v007",), ("1975-",)
"""Keys that occur twice upstream; no match refers to them."""
SLIPS = {("pj32", "weight_kg"): "675", ("rc33", "height_cm"): "3"}
"""Impossible values, by player and column."""
