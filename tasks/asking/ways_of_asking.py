"""The ways of asking users, who answer by the ranking they gave, and the measures of each after every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from models.asking.active_learning import (
    Acquisition,
    Course,
    OneLeaf,
    Recommendation,
    Strategy,
    Surrogate,
    ask_and_learn,
    ranking_oracle,
)
from models.asking.forest_surrogate import ForestSurrogate
from models.asking.gp_surrogate import GPSurrogate
from models.asking.regret import rho_regret, top1_error
from models.asking.tree_surrogate import TreeSurrogate
from models.gaussian.preference_gp import unit_scaled
from models.numerics.hashing import mix
from models.records.arrays import FloatArray, IntArray
from models.records.base import Record
from models.records.features import Encoded
from models.records.results import MetricRow
from models.records.studies.asking_results import (
    ASK_AGAIN,
    CATEGORICAL,
    CODES,
    FOREST_ASK_AGAIN,
    FOREST_QEUBO,
    FOUND_SHARE,
    GP_ASK_AGAIN,
    GP_CODES,
    GP_QEUBO,
    KEPT_ASK_AGAIN,
    MEASURES,
    ONE_HOT,
    ONE_LEAF_FIRST,
    PLAIN_ASK_AGAIN,
    QUESTION,
    RANDOM_ASK_AGAIN,
    RATIO_HIGH,
    RATIO_LOW,
    RECOMMEND_MOST_WINS,
    RECOMMEND_RANDOM,
    RHO_REGRET,
    STRADDLERS_KEPT,
    TIE_BREAK_RANDOM,
    TIE_BREAK_WIDEST_GAP,
    TOP1_ERROR,
    TREE_QEUBO,
    TREE_RANDOM,
    TREE_TOP_LEAF,
    WAY,
    sd_of,
)
from models.records.studies.respondent_results import N_USERS, USER_ID, VARIANT
from models.scores.ranks import competition_ranks
from models.trees.growth.grow import Growth
from models.trees.growth.options import StraddlersSetting
from models.trees.growth.splits import TieBreak
from tasks.respondents.protocols import TABLE_ENCODINGS, Encoding, Respondents

Model = Literal["preference_tree", "preference_forest", "preference_gp"]

FOUND = "found"
"""Column: whether the recommended item is the user's favourite."""


class Way(Record):
    """A way of asking: the model that learns, how the next question is chosen, and what is recommended.

    acquisition .. recommend are as in `models.asking.active_learning.Strategy`, straddlers .. ratio as in
    `tasks.respondents.protocols.Protocol`; a Gaussian process uses only the encoding of these.
    """

    model: Model = "preference_tree"
    acquisition: Acquisition = "qeubo"
    top_leaf_first: bool = True
    repeats: bool = False
    one_leaf: OneLeaf = "random"
    recommend: Recommendation = "first"
    straddlers: StraddlersSetting = "discard"
    tie_break: TieBreak = "lowest"
    encoding: Encoding = "categorical_3"
    ratio: float = 0.25

    def but(self, **choices: Any) -> Way:
        """The same way with other choices."""
        return Way(**{**self.model_dump(), **choices})


TREE = Way()
PLAIN = TREE.but(top_leaf_first=False)
WAYS: Mapping[str, Way] = {
    TREE_TOP_LEAF: TREE,
    TREE_QEUBO: PLAIN,
    TREE_RANDOM: TREE.but(acquisition="random", top_leaf_first=False),
    GP_QEUBO: Way(model="preference_gp", top_leaf_first=False, encoding="one_hot"),
    FOREST_QEUBO: PLAIN.but(model="preference_forest", tie_break="random", encoding="one_hot"),
}
"""The curves of dt-pbo Figures 3 and 7, and a forest."""

CHOICES: Mapping[str, Way] = {
    ASK_AGAIN: TREE.but(repeats=True),
    RECOMMEND_RANDOM: TREE.but(recommend="random"),
    RECOMMEND_MOST_WINS: TREE.but(recommend="most_wins"),
    ONE_LEAF_FIRST: PLAIN.but(one_leaf="first"),
    PLAIN_ASK_AGAIN: PLAIN.but(repeats=True),
    RANDOM_ASK_AGAIN: WAYS[TREE_RANDOM].but(repeats=True),
    TIE_BREAK_RANDOM: TREE.but(tie_break="random"),
    TIE_BREAK_WIDEST_GAP: TREE.but(tie_break="widest_gap"),
    STRADDLERS_KEPT: TREE.but(straddlers="keep"),
    KEPT_ASK_AGAIN: TREE.but(straddlers="keep", repeats=True),
    CATEGORICAL: TREE.but(encoding="categorical"),
    CODES: TREE.but(encoding="codes"),
    ONE_HOT: TREE.but(encoding="one_hot"),
    RATIO_LOW: TREE.but(ratio=0.0625),
    RATIO_HIGH: TREE.but(ratio=1.0),
    GP_CODES: WAYS[GP_QEUBO].but(encoding="codes"),
    GP_ASK_AGAIN: WAYS[GP_QEUBO].but(repeats=True),
    FOREST_ASK_AGAIN: WAYS[FOREST_QEUBO].but(repeats=True),
}
"""Ways of asking in which one choice that the paper leaves open is changed."""


def ask(respondents: Respondents, way: Way, *, n_questions: int, seed: int, users: slice = slice(None)) -> pd.DataFrame:
    """Ask some of the users n_questions each; a user's questions depend on that user and the seed alone.

    Returns one row for each user and question, 0 being before the first: question, user_id, rho_regret, top1_error and
    found (whether the recommended item is the favourite). Raises ValueError unless all users ranked equally many items.
    """
    items, ranks = ranked_items(respondents)
    items, ranks, keys = items[users], ranks[users], respondents.user_keys[users]

    strategy = Strategy(way.acquisition, way.top_leaf_first, way.repeats, way.one_leaf, way.recommend)
    seeds = mix(seed, keys)
    surrogate = _surrogate(way, respondents.encoded[TABLE_ENCODINGS[way.encoding]], items, seeds)
    course = ask_and_learn(surrogate, ranking_oracle(ranks), seeds, n_questions=n_questions, strategy=strategy)
    return judge_course(course, ranks, respondents.user_ids[users])


def _surrogate(way: Way, encoded: Encoded, items: IntArray, seeds: Any) -> Surrogate:
    if way.model == "preference_gp":
        return GPSurrogate(unit_scaled(encoded.items)[items])
    growth = Growth(
        max_categories=3 if way.encoding == "categorical_3" else None,
        straddlers=way.straddlers,
        tie_break=way.tie_break,
    )
    if way.model == "preference_forest":
        return ForestSurrogate(encoded.items[items], encoded.columns, seeds, growth=growth, ratio=way.ratio)
    return TreeSurrogate(encoded.items[items], encoded.columns, seeds, growth, way.ratio)


def ranked_items(respondents: Respondents) -> tuple[IntArray, IntArray]:
    """The items each user ranked, (t, m) row numbers, and their ranks from 1, (t, m), read off the comparisons.

    Raises ValueError unless all users ranked equally many items, and each user's comparisons form a strict ranking.
    """
    n_users, n_items = len(respondents.user_ids), len(respondents.table.items)
    seen = np.unique(respondents.users[:, None] * n_items + respondents.comparisons)
    owner, item = np.divmod(seen, n_items)
    sizes = np.bincount(owner, minlength=n_users)
    if len(np.unique(sizes)) != 1:
        raise ValueError(f"the users of {respondents.table.name} ranked between {sizes.min()} and {sizes.max()} items")
    losers = np.searchsorted(seen, respondents.users * n_items + respondents.comparisons[:, 1])
    ranks = 1 + np.bincount(losers, minlength=len(seen)).reshape(n_users, -1)
    whole = (np.sort(ranks, axis=1) == np.arange(1, ranks.shape[1] + 1)).all(axis=1)
    if not whole.all():
        first = respondents.user_ids[int(np.argmin(whole))]
        raise ValueError(f"the comparisons of {int((~whole).sum())} users are not a ranking, the first is {first}")
    return item.reshape(n_users, -1), ranks


def judge_course(course: Course, ranks: IntArray, user_ids: Sequence[str]) -> pd.DataFrame:
    """The measures of each user after each question, as `ask` returns them.

    ranks: true ranks from 1, (t, m).
    """
    n_questions, n_users = course.recommended.shape
    found: FloatArray = ranks[np.arange(n_users), course.recommended] == 1
    true = np.broadcast_to(ranks, course.mean.shape)
    return pd.DataFrame(
        {
            QUESTION: np.repeat(np.arange(n_questions), n_users),
            USER_ID: np.tile(np.array(user_ids), n_questions),
            RHO_REGRET: rho_regret(true, competition_ranks(course.mean)).ravel(),
            TOP1_ERROR: top1_error(true, course.mean).ravel(),
            FOUND: found.ravel(),
        }
    )


def means_over_users(judged: pd.DataFrame) -> pd.DataFrame:
    """One row for each question, from the measures of each user.

    rho_regret and top1_error come with their standard deviation, found_share is the share of users.
    """
    grouped = judged.groupby(QUESTION)
    return pd.DataFrame(
        {
            QUESTION: grouped.size().index,
            N_USERS: grouped.size().to_numpy(),
            RHO_REGRET: grouped[RHO_REGRET].mean().to_numpy(),
            sd_of(RHO_REGRET): grouped[RHO_REGRET].std().to_numpy(),
            TOP1_ERROR: grouped[TOP1_ERROR].mean().to_numpy(),
            sd_of(TOP1_ERROR): grouped[TOP1_ERROR].std().to_numpy(),
            FOUND_SHARE: grouped[FOUND].mean().to_numpy(),
        }
    )


def summarise(name: str, way: Way, judged: pd.DataFrame) -> pd.DataFrame:
    """Means over users after each question, with the name and choices of the way of asking."""
    found = means_over_users(judged)
    choices = pd.DataFrame({WAY: name, **way.model_dump()}, index=found.index)
    return pd.concat([choices, found], axis=1)


def course_metrics(study: str, courses: pd.DataFrame) -> list[MetricRow]:
    """The rows of `metrics.json`: each measure after each question.

    courses: a row for each model, variant and question, with `users` and the measures.
    """
    return [
        MetricRow(
            study=study,
            model=row["model"],
            variant=row[VARIANT],
            metric=measure,
            split="asked",
            at=int(row[QUESTION]),
            value=float(row[measure]),
            sd=float(row[sd_of(measure)]) if sd_of(measure) in row else None,
            n=int(row[N_USERS]),
        )
        for measure in MEASURES
        for row in courses.to_dict("records")
    ]
