"""Numbers of a finished run with their intervals, and differences between two of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from models.records.arrays import FloatArray
from models.records.duel_results import AUC, COMPARISONS, RANKABILITY, RUNS, SPEC_R, SPLIT_FIRST, SpecRInterval
from models.records.results import MetricRow
from models.records.studies.asking_results import COURSES, FOUND_SHARE, MEASURES, QUESTION, WAY, sd_of
from models.records.studies.benchmark_results import OTHER_FUNCTIONS, SPEED
from models.records.studies.respondent_results import GP_MODEL, N_USERS, USER_ID, USERS, VARIANT
from models.scores.comparing import Difference, mean_ratio
from models.scores.duel_comparisons import Comparisons
from models.scores.intervals import OTHER_USERS, mean_interval
from models.scores.repeated_splits import mean_over_splits
from models.shap.findings import OTHER_MATCHES
from reports.page.finished_run import FinishedRun
from tasks.claims.computed import COMPUTED, compute
from tasks.claims.declared import Pair, Place

OTHER_TOURNAMENTS = "other tournaments"
GP_USERS = "gp_users"
ASKED = "asked"


class Values(NamedTuple):
    """A number of each unit: of each run, or of each user. over: what an interval of their mean is over."""

    by_unit: Mapping[Any, float]
    over: str


def find(run: FinishedRun | None, pair: Pair) -> Difference | None:
    """The first number minus the second, or the first alone, with a 95% interval; None if the run does not have it.

    run: None for numbers that are computed without one.

    The difference of two means over the same runs or users is paired. Two means of which only the spread was kept are
    taken for independent, which widens the interval of two ways of asking the same users.
    """
    if pair.second is None:
        return _alone(run, pair.first)
    if run and (told := _advantage(run, pair.first, pair.second)):
        return told
    values, others = (run and _values(run, each) for each in (pair.first, pair.second))
    if run and values and others and values.by_unit.keys() == others.by_unit.keys():
        return _mean(
            run, Values({unit: value - others.by_unit[unit] for unit, value in values.by_unit.items()}, values.over)
        )
    return _independent(_alone(run, pair.first), _alone(run, pair.second))


def _advantage(run: FinishedRun, first: Place, second: Place) -> Difference | None:
    """The advantage of one model of duels over another, if the run tells it."""
    if not _has(run, f"{COMPARISONS}.json") or any(
        (place.metric, place.variant) != (AUC, SPLIT_FIRST) for place in (first, second)
    ):
        return None
    found: Comparisons = run.document(COMPARISONS, Comparisons)
    for each in (*found.gains, *found.of_highest):
        if (each.model, each.other) == (first.model, second.model):
            return each.difference
        if (each.model, each.other) == (second.model, first.model):
            return each.difference.reversed
    return None


def _independent(first: Difference | None, second: Difference | None) -> Difference | None:
    if first is None or second is None or first.estimate is None or second.estimate is None:
        return None
    estimate = first.estimate - second.estimate
    reach = 0.0
    for each in (first, second):
        if each.lower is None or each.upper is None:
            return Difference(estimate=estimate, over=first.over)
        reach = float(np.hypot(reach, (each.upper - each.lower) / 2))
    return Difference(estimate=estimate, lower=estimate - reach, upper=estimate + reach, over=first.over)


def _alone(run: FinishedRun | None, place: Place) -> Difference | None:
    if place.split == COMPUTED:
        return compute(place)
    return None if run is None else _measured(run, place)


def _measured(run: FinishedRun, place: Place) -> Difference | None:
    """The number with the interval that the run tells, or else the one that follows from its spread."""
    if place.metric == SPEC_R:
        return _rankability(run)
    if place.metric == SPEED:
        return _speed(run, place)
    row = _row(run, place)
    if row is not None and row.value is not None and row.lower is not None and row.upper is not None:
        return Difference(estimate=row.value, lower=row.lower, upper=row.upper, over=row.over or "")
    values = _values(run, place)
    if values is not None:
        return _mean(run, values)
    if row is not None and row.value is not None:
        return _over_users(row.value, _sd(row.metric, row.value, row.sd), row.n)
    return _from_courses(run, place)


def _rankability(run: FinishedRun) -> Difference | None:
    if not _has(run, f"{RANKABILITY}.json"):
        return None
    found = run.document(RANKABILITY, SpecRInterval)
    over = OTHER_TOURNAMENTS if "contexts" in run.record.data[0].rows else OTHER_MATCHES
    return Difference(estimate=found.spec_r, lower=found.lower, upper=found.upper, over=over)


def _speed(run: FinishedRun, place: Place) -> Difference | None:
    """How many times as fast a model is as the one that the place names as its variant, over all functions timed."""
    seconds = {(each.function, each.model): each.seconds[-1] for each in run.record.courses}
    both = [
        (seconds[function, place.variant], fast)
        for (function, model), fast in seconds.items()
        if model == place.model and (function, place.variant) in seconds
    ]
    if not both or np.min(both) <= 0:
        return None
    return mean_ratio(*np.array(both, dtype=np.float64).T, over=OTHER_FUNCTIONS)


def _row(run: FinishedRun, place: Place) -> MetricRow | None:
    wanted = (place.model, place.variant, place.metric, place.split, place.at)
    rows = (row for row in run.metrics if (row.model, row.variant, row.metric, row.split, row.at) == wanted)
    return next(rows, None)


def _from_courses(run: FinishedRun, place: Place) -> Difference | None:
    """A way of asking that is not among the paper's curves stands in the table of all ways only."""
    if place.split != ASKED or not _has(run, f"{COURSES}.parquet"):
        return None
    table = run.table(COURSES, (WAY, QUESTION, N_USERS, *MEASURES))
    rows = table[(table[WAY] == place.variant) & (table[QUESTION] == place.at)]
    for row in rows.to_dict("records"):
        value = float(row[place.metric])
        return _over_users(value, _sd(place.metric, value, row.get(sd_of(place.metric))), int(row[N_USERS]))
    return None


def _sd(metric: str, value: float, sd: float | None) -> float | None:
    """The spread over users; that of a share of users follows from the share."""
    return float(np.sqrt(value * (1 - value))) if metric == FOUND_SHARE else sd


def _over_users(value: float, sd: float | None, n: int | None) -> Difference:
    if sd is None or n is None or n < 2:
        return Difference(estimate=value, over=OTHER_USERS)
    interval = mean_interval(np.array([value]), np.array([sd]), np.array([n]))
    return Difference(estimate=value, lower=float(interval.lower[0]), upper=float(interval.upper[0]), over=OTHER_USERS)


def _mean(run: FinishedRun, values: Values) -> Difference:
    numbers: FloatArray = np.array(list(values.by_unit.values()), dtype=np.float64)
    known = numbers[~np.isnan(numbers)]
    if values.over == OTHER_USERS:
        if not len(known):
            return Difference(estimate=None, over=values.over)
        sd = float(known.std(ddof=1)) if len(known) > 1 else None
        return _over_users(float(known.mean()), sd, len(known))
    found = mean_over_splits(numbers, _tested_ratio(run.record.config))
    return Difference(estimate=found.mean, lower=found.lower, upper=found.upper, over=values.over)


def _tested_ratio(config: Mapping[str, Any]) -> float:
    """Tested over training data of a run, as `mean_over_splits` counts it."""
    if folds := config.get("folds"):
        return float(folds / (folds - 1))
    return float(config["test_share"] / (1 - config["test_share"] - config["validation_share"]))


def _values(run: FinishedRun, place: Place) -> Values | None:
    """The number of each run, or of each user; None if the run kept only their mean."""
    if _has(run, f"{RUNS}.parquet"):
        table = run.table(RUNS, ("run", VARIANT, "model"))
        rows = table[(table[VARIANT] == place.variant) & (table["model"] == place.model)]
        return _column(rows, "run", place.metric, OTHER_MATCHES)
    if place.split == ASKED:
        return None
    name = GP_USERS if place.model == GP_MODEL else USERS
    if not _has(run, f"{name}.parquet"):
        return None
    table = run.table(name, (USER_ID,))
    rows = table if name == GP_USERS else table[table[VARIANT] == place.variant]
    measure = place.metric if place.metric in rows else f"{place.split}_{place.metric}"
    return _column(rows, USER_ID, measure, OTHER_USERS)


def _column(rows: pd.DataFrame, unit: str, measure: str, over: str) -> Values | None:
    if rows.empty or measure not in rows:
        return None
    return Values(dict(zip(rows[unit].tolist(), rows[measure].astype(float).tolist(), strict=True)), over)


def _has(run: FinishedRun, name: str) -> bool:
    return (run.path / "results" / name).is_file()
