"""Asking cohorts of users with and without the answers of earlier users (dt-pbo, Figure 17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE

from models.asking.active_learning import Course, ranking_oracle
from models.asking.user_history import HistoryRule, Population, cohorts, learn_in_cohorts, learn_without_history
from models.numerics.hashing import mix
from models.records.arrays import IntArray
from models.records.base import Record
from models.records.results import MetricRow
from models.records.studies.asking_results import (
    HISTORY,
    TABLE,
    WAY,
    WITH_HISTORY,
    WITHOUT_HISTORY,
)
from tasks.asking.ways_of_asking import course_metrics, judge_course, means_over_users, ranked_items
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
    found = [_means(way, course, ranks, respondents.user_ids, later) for way, course in courses.items()]
    return pd.concat(found, ignore_index=True).assign(table=respondents.table.name)


def _means(way: str, course: Course, ranks: IntArray, user_ids: Sequence[str], later: slice) -> pd.DataFrame:
    """Means over the users of the later cohorts, with the name of the way."""
    shown = replace(course, mean=course.mean[:, later], recommended=course.recommended[:, later])
    found = means_over_users(judge_course(shown, ranks[later], user_ids[later]))
    found.insert(0, WAY, way)
    return found


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
