"""Asking users who answer by the ranking they gave: ways of asking, and what each finds after every question."""

from __future__ import annotations

from collections.abc import Mapping
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
)
from models.asking.gp_surrogate import GPSurrogate
from models.asking.regret import competition_ranks, rho_regret, top1_error
from models.asking.tree_surrogate import TreeSurrogate
from models.gaussian.preference_gp import unit_scaled
from models.numerics.hashing import mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.base import Record
from models.records.features import Encoded
from models.records.results import MetricRow
from models.trees.growth import Growth
from models.trees.growth_options import Straddlers
from models.trees.splits import TieBreak
from tasks.respondents.protocols import GIVEN_AS, Encoding, Respondents

Model = Literal["preference_tree", "preference_gp"]
MEASURES = ("rho_regret", "top1_error", "found_share")


class Way(Record):
    """A way of asking: the model that learns, how the next question is chosen, and what is recommended.

    acquisition .. recommend are as in `models.asking.active_learning.Strategy`, straddlers .. ratio as in
    `tasks.respondents.protocols.Protocol`; of these a Gaussian process has the encoding only.
    """

    model: Model = "preference_tree"
    acquisition: Acquisition = "qeubo"
    top_leaf_first: bool = True
    repeats: bool = True
    one_leaf: OneLeaf = "random"
    recommend: Recommendation = "first"
    straddlers: Straddlers = "discard"
    tie_break: TieBreak = "lowest"
    encoding: Encoding = "categorical_3"
    ratio: float = 0.25

    def but(self, **choices: Any) -> Way:
        """The same way with other choices."""
        return Way(**{**self.model_dump(), **choices})


TREE = Way()
PLAIN = TREE.but(top_leaf_first=False)
WAYS: Mapping[str, Way] = {
    "tree_top_leaf": TREE,
    "tree_qeubo": PLAIN,
    "tree_random": TREE.but(acquisition="random", top_leaf_first=False),
    "gp_qeubo": Way(model="preference_gp", top_leaf_first=False, encoding="one_hot"),
}
"""The curves of dt-pbo Figures 3 and 7."""

CHOICES: Mapping[str, Way] = {
    "never_twice": TREE.but(repeats=False),
    "recommend_random": TREE.but(recommend="random"),
    "recommend_most_wins": TREE.but(recommend="most_wins"),
    "one_leaf_first": PLAIN.but(one_leaf="first"),
    "plain_never_twice": PLAIN.but(repeats=False),
    "random_never_twice": WAYS["tree_random"].but(repeats=False),
    "tie_break_random": TREE.but(tie_break="random"),
    "tie_break_widest_gap": TREE.but(tie_break="widest_gap"),
    "straddlers_kept": TREE.but(straddlers="keep"),
    "kept_never_twice": TREE.but(straddlers="keep", repeats=False),
    "categorical": TREE.but(encoding="categorical"),
    "codes": TREE.but(encoding="codes"),
    "one_hot": TREE.but(encoding="one_hot"),
    "ratio_low": TREE.but(ratio=0.0625),
    "ratio_high": TREE.but(ratio=1.0),
    "gp_codes": WAYS["gp_qeubo"].but(encoding="codes"),
    "gp_never_twice": WAYS["gp_qeubo"].but(repeats=False),
}
"""What the paper leaves open, one choice at a time."""


def ask(respondents: Respondents, way: Way, *, n_questions: int, seed: int, users: slice = slice(None)) -> pd.DataFrame:
    """Ask some of the users n_questions each; what is asked of one depends on that user and the seed alone.

    One row a user and question, from 0, before the first: question, user_id, rho_regret, top1_error, found (whether the
    one recommended item is the favourite). Raises ValueError unless everyone ranked equally many items, all of them.
    """
    items, ranks = ranked_items(respondents)
    items, ranks, keys = items[users], ranks[users], respondents.user_keys[users]

    def oracle(pairs: IntArray) -> BoolArray:
        told = np.take_along_axis(ranks, pairs, axis=1)
        return np.asarray(told[:, 0] < told[:, 1])

    strategy = Strategy(way.acquisition, way.top_leaf_first, way.repeats, way.one_leaf, way.recommend)
    seeds = mix(seed, keys)
    surrogate = _surrogate(way, respondents.encoded[GIVEN_AS[way.encoding]], items, seeds)
    course = ask_and_learn(surrogate, oracle, seeds, n_questions=n_questions, strategy=strategy)
    return _judged(course, ranks, respondents.user_ids[users])


def _surrogate(way: Way, encoded: Encoded, items: IntArray, seeds: Any) -> Surrogate:
    if way.model == "preference_gp":
        return GPSurrogate(unit_scaled(encoded.items)[items])
    growth = Growth(
        max_categories=3 if way.encoding == "categorical_3" else None,
        straddlers=way.straddlers,
        tie_break=way.tie_break,
    )
    return TreeSurrogate(encoded.items[items], encoded.columns, seeds, growth, way.ratio)


def ranked_items(respondents: Respondents) -> tuple[IntArray, IntArray]:
    """The items each user ranked, (t, m) rows of the items, and their ranks from 1, (t, m), read off the comparisons.

    Raises ValueError unless everyone ranked equally many items, and each user's comparisons are of one strict ranking.
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


def _judged(course: Course, ranks: IntArray, user_ids: tuple[str, ...]) -> pd.DataFrame:
    n_questions, n_users = course.recommended.shape
    found: FloatArray = ranks[np.arange(n_users), course.recommended] == 1
    true = np.broadcast_to(ranks, course.mean.shape)
    return pd.DataFrame(
        {
            "question": np.repeat(np.arange(n_questions), n_users),
            "user_id": np.tile(np.array(user_ids), n_questions),
            "rho_regret": rho_regret(true, competition_ranks(course.mean)).ravel(),
            "top1_error": top1_error(true, course.mean).ravel(),
            "found": found.ravel(),
        }
    )


def summarise(name: str, way: Way, judged: pd.DataFrame) -> pd.DataFrame:
    """Means over users after each question: the way's name and choices, then question, users, and each measure.

    rho_regret and top1_error come with their standard deviation, found_share is the share of users.
    """
    grouped = judged.groupby("question")
    found = pd.DataFrame(
        {
            "question": grouped.size().index,
            "users": grouped.size().to_numpy(),
            "rho_regret": grouped["rho_regret"].mean().to_numpy(),
            "rho_regret_sd": grouped["rho_regret"].std().to_numpy(),
            "top1_error": grouped["top1_error"].mean().to_numpy(),
            "top1_error_sd": grouped["top1_error"].std().to_numpy(),
            "found_share": grouped["found"].mean().to_numpy(),
        }
    )
    choices = pd.DataFrame({"way": name, **way.model_dump()}, index=found.index)
    return pd.concat([choices, found], axis=1)


def course_metrics(study: str, courses: pd.DataFrame, published: Mapping[str, float], source: str) -> list[MetricRow]:
    """The rows of `metrics.json`: each measure after each question.

    published: the published share of users whose favourite is found within 9 questions, by way.
    """
    rows = []
    for measure in MEASURES:
        for row in courses.to_dict("records"):
            told = published.get(row["way"]) if (measure, row["question"]) == ("found_share", 9) else None
            rows.append(
                MetricRow(
                    study=study,
                    model=row["model"],
                    variant=row["way"],
                    metric=measure,
                    split="asked",
                    at=int(row["question"]),
                    value=float(row[measure]),
                    sd=float(row[f"{measure}_sd"]) if f"{measure}_sd" in row else None,
                    n=int(row["users"]),
                    published=told,
                    published_source=source if told is not None else None,
                )
            )
    return rows
