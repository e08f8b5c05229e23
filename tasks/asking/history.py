"""Asking cohorts of users with and without the answers of earlier users (dt-pbo, Figure 17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE

from models.asking.active_learning import Course, Strategy, ranking_oracle
from models.asking.user_history import HistoryRule, Population, cohorts, learn_in_cohorts, learn_without_history
from models.numerics.hashing import mix
from models.records.arrays import FloatArray, IntArray
from models.records.base import Record
from models.records.results import MetricRow
from models.records.studies.asking_results import (
    ASKED_AGAIN,
    HISTORY,
    HISTORY_DIFFERENCES,
    TABLE,
    TIED_FAVOURITE,
    WAY,
    WITH_HISTORY,
    WITHOUT_HISTORY,
)
from models.scores.accuracy import TIE_TOLERANCE
from tasks.asking.comparing_courses import paired_differences
from tasks.asking.ways_of_asking import course_metrics, judge_course, means_over_users, ranked_items
from tasks.respondents.protocols import Respondents, read_respondents
from tasks.runs.progress import advance
from tasks.runs.results import add_metrics, write_parquet
from tasks.tables.encode import encode_users

LEARNING = "Learn from earlier users"
LATER_USERS = "other users who come after these"


class Cohorts(Record):
    """Number of users, users per cohort, questions per user, and seed."""

    users: int
    cohort: int
    questions: int
    seed: int


class Histories(NamedTuple):
    """Users asked with and without earlier users' answers.

    courses: a row for each way and question; differences: a row for each question and measure, with minus without.
    """

    courses: pd.DataFrame
    differences: pd.DataFrame


def history_courses(respondents: Respondents, plan: Cohorts) -> Histories:
    """Regret, error and favourites found with and without earlier users' answers, and the differences between the two.

    Each is measured twice: where no pair is asked twice, and where a pair may be asked again. The courses have table;
    asked_again; way; question; users: number in all cohorts but the first, which has no earlier users; rho_regret,
    top1_error and found_share: means over these users, the first two with their standard deviation; tied_favourite.
    Item trees have at most five questions in both ways. With fewer users than two cohorts, the first half is the first
    cohort.
    """
    items, ranks = ranked_items(respondents)
    features, columns = encode_users(respondents.table)
    encoded = respondents.encoded["categories"]
    seeds = mix(plan.seed, respondents.user_keys)
    population = Population(features[: len(items)], columns, encoded.items, encoded.columns, items, seeds)
    rule = HistoryRule(cohort=min(plan.cohort, len(items) // 2))
    oracles = [ranking_oracle(ranks[users]) for users in cohorts(len(items), rule.cohort)]
    later = slice(rule.cohort, None)
    found, differences = [], []
    for again in (False, True):
        asked: dict[str, Any] = {"n_questions": plan.questions, "strategy": Strategy(repeats=again)}
        courses: Mapping[str, Course] = {
            WITH_HISTORY: learn_in_cohorts(population, oracles, rule=rule, **asked),
            WITHOUT_HISTORY: learn_without_history(
                population, ranking_oracle(ranks), item_depth=rule.item_depth, **asked
            ),
        }
        shown = {way: _later(course, later) for way, course in courses.items()}
        judged = {way: judge_course(course, ranks[later], respondents.user_ids[later]) for way, course in shown.items()}
        for way, each in judged.items():
            tied = {TIED_FAVOURITE: tied_favourites(shown[way], ranks[later])}
            found.append(means_over_users(each).assign(**{ASKED_AGAIN: again, WAY: way}, **tied))
        rows = paired_differences(
            judged[WITH_HISTORY], judged[WITHOUT_HISTORY], range(plan.questions + 1), over=LATER_USERS
        )
        differences.append(pd.DataFrame(rows).assign(**{ASKED_AGAIN: again}))
    name = {TABLE: respondents.table.name}
    return Histories(*(pd.concat(frames, ignore_index=True).assign(**name) for frames in (found, differences)))


def _later(course: Course, later: slice) -> Course:
    return replace(course, mean=course.mean[:, later], recommended=course.recommended[:, later])


def tied_favourites(course: Course, ranks: IntArray) -> FloatArray:
    """After each question, the share of users whose favourite is predicted level with another of their items, (q + 1,).

    ranks: true ranks from 1, (t, m).

    >>> mean = np.array([[[0.5, 0.5, 0.1], [0.9, 0.2, 0.2]]])
    >>> course = Course(mean, recommended=np.zeros((1, 2), dtype=int), answers=np.zeros((0, 2, 2), dtype=int))
    >>> tied_favourites(course, np.array([[1, 2, 3], [1, 2, 3]]))
    array([0.5])
    """
    favourite = ranks.argmin(axis=1)[None, :, None]
    own = np.take_along_axis(course.mean, np.broadcast_to(favourite, (*course.mean.shape[:2], 1)), axis=2)
    level = (np.abs(course.mean - own) <= TIE_TOLERANCE).sum(axis=2)
    return np.asarray((level > 1).mean(axis=1))


def history_metrics(study: str, courses: pd.DataFrame) -> list[MetricRow]:
    """The rows of `metrics.json`: the model is user_tree, the variant names the table, the way, and asking again."""
    again = courses[ASKED_AGAIN].map({False: "", True: "_ask_again"})
    return course_metrics(study, courses.assign(model="user_tree", variant=courses[TABLE] + "_" + courses[WAY] + again))


@task(name="learn from earlier users", cache_policy=NO_CACHE)
def learn_from_history(study: str, tables: Sequence[Path], plan: Cohorts, results: Path) -> None:
    """Write the courses on each table to `history.parquet`, their differences to `history_differences.parquet`.

    The courses are added to `metrics.json` too.
    """
    found = []
    for folder in tables:
        found.append(history_courses(read_respondents(folder, plan.users), plan))
        advance(LEARNING)
    courses, differences = (pd.concat(frames, ignore_index=True) for frames in zip(*found, strict=True))
    write_parquet(results / f"{HISTORY}.parquet", pa.Table.from_pandas(courses, preserve_index=False))
    write_parquet(results / f"{HISTORY_DIFFERENCES}.parquet", pa.Table.from_pandas(differences, preserve_index=False))
    add_metrics(results / "metrics.json", history_metrics(study, courses))
