"""BradleyTerry2's `chameleons`: the file in R's format, the same three tables as CSV, and their columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from models.records.arrays import IntArray

RDA_FILE, R_OBJECT = "chameleons.rda", "chameleons"
"""The file, and the list of three data frames in it."""
CSV_FILES = {
    "winner": "chameleons_winner.csv", "loser": "chameleons_loser.csv", "predictors": "chameleons_predictors.csv",
}  # fmt: skip

PRIOR_WINS = {"won_last": "prev.wins.1", "wins_of_last_two": "prev.wins.2", "prior_wins": "prev.wins.all"}
PREDICTORS = {
    "casque_height": "ch.res", "jaw_length": "jl.res", "tail_length": "tl.res", "condition": "mass.res",
    "body_length": "SVL", "main_patch": "prop.main", "flank_patch": "prop.patch",
}  # fmt: skip
COLUMNS = {
    "winner": ("contest", "ID", *PRIOR_WINS.values()),
    "loser": ("contest", "ID", *PRIOR_WINS.values()),
    "predictors": ("ID", *PREDICTORS.values()),
}
"""The columns of each table. The first column of each is the row names in R."""

MISSING_CONTEST = 16
"""Number of the contest that the authors left out on purpose."""
SLIPS = {("13", "C24"), ("53", "C04"), ("65", "C04"), ("78", "C04"), ("86", "C04")}
"""Contests and males whose prev.wins.all is not the number of his wins in the contests before."""


def count_prior_wins(winners: Sequence[str], losers: Sequence[str]) -> tuple[dict[str, IntArray], dict[str, IntArray]]:
    """The prior wins, (n,) each, of the winners and of the losers of contests in their order.

    >>> of_winners, of_losers = count_prior_wins(["C01", "C02"], ["C02", "C01"])
    >>> of_winners["prior_wins"], of_losers["prior_wins"]
    (array([0, 0]), array([0, 1]))
    """
    history: defaultdict[str, list[int]] = defaultdict(list)
    before: tuple[list[list[int]], list[list[int]]] = ([], [])
    for pair in zip(winners, losers, strict=True):
        for side, male in zip(before, pair, strict=True):
            side.append(history[male].copy())
        for male, won in zip(pair, (1, 0), strict=True):
            history[male].append(won)
    of_winners, of_losers = (
        {
            "won_last": np.array([sum(won[-1:]) for won in side], dtype=np.int64),
            "wins_of_last_two": np.array([sum(won[-2:]) for won in side], dtype=np.int64),
            "prior_wins": np.array([sum(won) for won in side], dtype=np.int64),
        }
        for side in before
    )
    return of_winners, of_losers
