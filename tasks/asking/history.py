"""Asking cohorts of users with and without the answers of earlier users (dt-pbo, Figure 17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE

from models.asking.active_learning import Course, ranking_oracle
from models.asking.regret import rho_regret, top1_error
from models.asking.user_history import HistoryRule, Population, cohorts, learn_in_cohorts, learn_without_history
from models.numerics.hashing import mix
from models.records.arrays import IntArray
from models.records.base import Record
from models.records.results import MetricRow
from models.records.studies.asking_results import (
    FOUND_SHARE,
    HISTORY,
    QUESTION,
    RHO_REGRET,
    TABLE,
    TOP1_ERROR,
    WAY,
    WITH_HISTORY,
    WITHOUT_HISTORY,
)
from models.scores.ranks import competition_ranks
from tasks.asking.ways_of_asking import course_metrics, ranked_items
from tasks.respondents.protocols import Respondents, read_respondents
from tasks.runs.progress import advance
from tasks.runs.results import add_metrics, write_parquet
from tasks.tables.encode import encode_users

LEARNING = "Learn from earlier users"


class Cohorts(Record):
    """Number of users, users per cohort, questions per user, and seed."""

    users: int
    cohort: int
    questions: int
    seed: int


def history_courses(respondents: Respondents, plan: Cohorts) -> pd.DataFrame:
    """Regret, error and favourites found with and without earlier users' answers: one row for each way and question.

    table; way; question; users: number in all cohorts but the first, which has no earlier users; rho_regret, top1_error
    and found_share: means over these users, the first two with their standard deviation. Item trees have at most five
    questions in both ways. With fewer users than two cohorts, the first half is the first cohort.
    """
    items, ranks = ranked_items(respondents)
    features, columns = encode_users(respondents.table)
    encoded = respondents.encoded["categories"]
    population = Population(
        features[: len(items)],
        columns,
        encoded.items,
        encoded.columns,
        items,
        mix(plan.seed, respondents.user_keys),
    )
    rule = HistoryRule(cohort=min(plan.cohort, len(items) // 2))
    oracles = [ranking_oracle(ranks[users]) for users in cohorts(len(items), rule.cohort)]
    courses: Mapping[str, Course] = {
        WITH_HISTORY: learn_in_cohorts(population, oracles, n_questions=plan.questions, rule=rule),
        WITHOUT_HISTORY: learn_without_history(
            population, ranking_oracle(ranks), n_questions=plan.questions, item_depth=rule.item_depth
        ),
    }
    later = slice(rule.cohort, None)
    found = [_means(way, course, ranks, later) for way, course in courses.items()]
    return pd.concat(found, ignore_index=True).assign(table=respondents.table.name)


def _means(way: str, course: Course, ranks: IntArray, later: slice) -> pd.DataFrame:
    mean, true = course.mean[:, later], np.broadcast_to(ranks[later], course.mean[:, later].shape)
    regret, error = rho_regret(true, competition_ranks(mean)), top1_error(true, mean)
    users = np.arange(true.shape[1])
    found = true[0][users, course.recommended[:, later]] == 1
    return pd.DataFrame(
        {
            WAY: way,
            QUESTION: np.arange(len(mean)),
            "users": true.shape[1],
            RHO_REGRET: regret.mean(axis=1),
            f"{RHO_REGRET}_sd": regret.std(axis=1, ddof=1),
            TOP1_ERROR: error.mean(axis=1),
            f"{TOP1_ERROR}_sd": error.std(axis=1, ddof=1),
            FOUND_SHARE: found.mean(axis=1),
        }
    )


def history_metrics(study: str, courses: pd.DataFrame) -> list[MetricRow]:
    """The rows of `metrics.json`: the model is user_tree, the variant names the table and the way."""
    return course_metrics(study, courses.assign(model="user_tree", variant=courses[TABLE] + "_" + courses[WAY]))


@task(name="learn from earlier users", cache_policy=NO_CACHE)
def learn_from_history(study: str, tables: Sequence[Path], plan: Cohorts, results: Path) -> None:
    """Write the courses on each table to `history.parquet`, and add them to `metrics.json`."""
    courses = []
    for folder in tables:
        courses.append(history_courses(read_respondents(folder, plan.users), plan))
        advance(LEARNING)
    found = pd.concat(courses, ignore_index=True)
    write_parquet(results / f"{HISTORY}.parquet", pa.Table.from_pandas(found, preserve_index=False))
    add_metrics(results / "metrics.json", history_metrics(study, found))
