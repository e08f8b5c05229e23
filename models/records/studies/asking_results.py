"""Results about asking users: names that its writers and readers share, and records of its conclusions."""

from __future__ import annotations

from collections.abc import Mapping

from models.records.base import Record

TREE_TOP_LEAF, TREE_QEUBO, TREE_RANDOM, GP_QEUBO = "tree_top_leaf", "tree_qeubo", "tree_random", "gp_qeubo"
"""The ways of asking of dt-pbo Figures 3 and 7."""
FOREST_QEUBO = "forest_qeubo"
"""A way of asking that the paper does not have: a forest of bootstrapped trees."""

ASK_AGAIN, PLAIN_ASK_AGAIN, RANDOM_ASK_AGAIN = "ask_again", "plain_ask_again", "random_ask_again"
GP_ASK_AGAIN, FOREST_ASK_AGAIN, KEPT_ASK_AGAIN = "gp_ask_again", "forest_ask_again", "kept_ask_again"
RECOMMEND_RANDOM, RECOMMEND_MOST_WINS, ONE_LEAF_FIRST = "recommend_random", "recommend_most_wins", "one_leaf_first"
TIE_BREAK_RANDOM, TIE_BREAK_WIDEST_GAP, STRADDLERS_KEPT = "tie_break_random", "tie_break_widest_gap", "straddlers_kept"
CATEGORICAL, CODES, GP_CODES, ONE_HOT = "categorical", "codes", "gp_codes", "one_hot"
RATIO_LOW, RATIO_HIGH = "ratio_low", "ratio_high"
CHANGED_FROM: Mapping[str, tuple[str, ...]] = {
    TREE_TOP_LEAF: (
        ASK_AGAIN, RECOMMEND_RANDOM, RECOMMEND_MOST_WINS, TIE_BREAK_RANDOM, TIE_BREAK_WIDEST_GAP, STRADDLERS_KEPT,
        KEPT_ASK_AGAIN, CATEGORICAL, CODES, ONE_HOT, RATIO_LOW, RATIO_HIGH,
    ),
    TREE_QEUBO: (ONE_LEAF_FIRST, PLAIN_ASK_AGAIN),
    TREE_RANDOM: (RANDOM_ASK_AGAIN,),
    GP_QEUBO: (GP_CODES, GP_ASK_AGAIN),
    FOREST_QEUBO: (FOREST_ASK_AGAIN,),
}  # fmt: skip
"""Variants that change one choice the paper leaves open, by the way of asking that each of them changes."""

COMPARED_WITH: Mapping[str, tuple[str, ...]] = {
    GP_QEUBO: (TREE_TOP_LEAF, FOREST_QEUBO), TREE_QEUBO: (TREE_TOP_LEAF,), TREE_TOP_LEAF: (TREE_RANDOM, FOREST_QEUBO),
}  # fmt: skip
"""Ways of asking that the report compares with another, by that other."""

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
HISTORY, HISTORY_DIFFERENCES = "history", "history_differences"
"""Files of results, without their ending."""

BASE, MEASURE = "base", "measure"
ESTIMATE, LOWER, UPPER, OVER = "estimate", "lower", "upper", "over"
DIFFERENCE = (ESTIMATE, LOWER, UPPER, OVER)
"""Columns of the tables of differences between two ways of asking, paired over users: `way` minus `base`."""

ASKED_AGAIN, TIED_FAVOURITE = "asked_again", "tied_favourite"
"""Columns of the courses with and without earlier users: whether a pair may be asked again, and the share of users
whose favourite has the same predicted utility as another of their items."""


class AskingCompared(Record):
    """What the ways of asking are compared with.

    bandit: share of favourites found by a bandit that keeps the winner, after 0 to `BANDIT` questions.
    """

    bandit: tuple[float, ...]
