"""Results about asking users: names that its writers and readers share, and records of its conclusions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from models.records.base import Record

TREE_TOP_LEAF, TREE_QEUBO, TREE_RANDOM, GP_QEUBO = "tree_top_leaf", "tree_qeubo", "tree_random", "gp_qeubo"
"""The ways of asking of dt-pbo Figures 3 and 7."""

NEVER_TWICE, PLAIN_NEVER_TWICE, RANDOM_NEVER_TWICE = "never_twice", "plain_never_twice", "random_never_twice"
GP_NEVER_TWICE, KEPT_NEVER_TWICE = "gp_never_twice", "kept_never_twice"
RECOMMEND_RANDOM, RECOMMEND_MOST_WINS, ONE_LEAF_FIRST = "recommend_random", "recommend_most_wins", "one_leaf_first"
TIE_BREAK_RANDOM, TIE_BREAK_WIDEST_GAP, STRADDLERS_KEPT = "tie_break_random", "tie_break_widest_gap", "straddlers_kept"
CATEGORICAL, CODES, GP_CODES, ONE_HOT = "categorical", "codes", "gp_codes", "one_hot"
RATIO_LOW, RATIO_HIGH = "ratio_low", "ratio_high"
CHANGED_FROM: Mapping[str, tuple[str, ...]] = {
    TREE_TOP_LEAF: (
        NEVER_TWICE, RECOMMEND_RANDOM, RECOMMEND_MOST_WINS, TIE_BREAK_RANDOM, TIE_BREAK_WIDEST_GAP, STRADDLERS_KEPT,
        KEPT_NEVER_TWICE, CATEGORICAL, CODES, ONE_HOT, RATIO_LOW, RATIO_HIGH,
    ),
    TREE_QEUBO: (ONE_LEAF_FIRST, PLAIN_NEVER_TWICE),
    TREE_RANDOM: (RANDOM_NEVER_TWICE,),
    GP_QEUBO: (GP_CODES, GP_NEVER_TWICE),
}  # fmt: skip
"""Variants that change one choice the paper leaves open, by the way of asking that each of them changes."""

WITH_HISTORY, WITHOUT_HISTORY = "with_history", "without_history"
"""Asking new users with and without the answers of earlier ones."""

TABLE, WAY, QUESTION = "table", "way", "question"
"""Columns of the tables of courses, beside the measures."""

RHO_REGRET, TOP1_ERROR, FOUND_SHARE = "rho_regret", "top1_error", "found_share"
MEASURES = (RHO_REGRET, TOP1_ERROR, FOUND_SHARE)


def sd_of(measure: str) -> str:
    """The column that holds a measure's standard deviation over users.

    >>> sd_of(RHO_REGRET)
    'rho_regret_sd'
    """
    return f"{measure}_sd"


BANDIT = 9
"""Questions after which a bandit that keeps the winner of ten items has found the favourite (dt-pbo, section 4.2)."""

COURSES = "active_learning"
CHANGES = "asking_changes"
COMPARED = "asking_compared"
HISTORY = "history"
"""Files of results, without their ending."""


class AskingCompared(Record):
    """Comparison of the ways of asking after `BANDIT` questions.

    lower_regret: the way with the lower rho-regret: the tree with the top-leaf rule or the Gaussian process.
    top_leaf_finds: whether the top-leaf rule finds more or fewer favourites than plain qEUBO; top_leaf_regret: whether
    its regret is higher or lower.
    random_ranks_best: whether random pairs have a lower regret than both other ways of asking with a tree.
    bandit: share of favourites found by a bandit that keeps the winner, after 0 to `BANDIT` questions.
    """

    lower_regret: str
    top_leaf_finds: Literal["more", "fewer"]
    top_leaf_regret: Literal["higher", "lower"]
    random_ranks_best: bool
    bandit: tuple[float, ...]
