"""The worth of each feature: each user's tree fitted and scored without it (the analysis of dt-pbo, Table 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE

from models.records.features import Encoded
from models.records.results import MetricRow
from models.records.studies.respondent_results import (
    DELTA_ACCURACY,
    ESTIMATE,
    LEAVES,
    LEFT_OUT,
    LEFT_OUT_INTERVALS,
    N_USERS,
    POSSIBLE,
    REMOVED,
    SPLITS,
    TEST,
    TEST_DELTA,
    TREE_MODEL,
)
from models.scores.intervals import mean_interval
from tasks.respondents.many_trees import possible_shares
from tasks.respondents.protocols import Protocol, Respondents, read_respondents, score_protocol
from tasks.respondents.scoring import Trial
from tasks.runs.progress import advance
from tasks.runs.results import add_metrics, write_parquet

LEAVING_OUT = "Leave one feature out"
IN_POINTS = 100.0


def feature_names(respondents: Respondents) -> tuple[str, ...]:
    """The items' features, in the table's order."""
    return tuple(feature.name for feature in respondents.table.item_features)


def without_feature(respondents: Respondents, name: str) -> Respondents:
    """The same respondents, among items that lack a feature, with all of its columns."""
    return replace(respondents, encoded={way: _drop(encoded, name) for way, encoded in respondents.encoded.items()})


def _drop(encoded: Encoded, name: str) -> Encoded:
    kept = [at for at, column in enumerate(encoded.columns) if column.feature != name]
    return replace(encoded, items=encoded.items[:, kept], columns=tuple(encoded.columns[at] for at in kept))


def leave_each_out(respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float) -> pd.DataFrame:
    """Fit and score each user's tree without each feature in turn: one row for each feature.

    removed; train_delta, test_delta: mean over users of accuracy without the feature minus with all, in points;
    train_delta_sd, test_delta_sd: standard deviations of these differences; train_accuracy, test_accuracy, leaves:
    means without the feature; users: number of users in the means; possible: share of the trees that could ask about
    the feature. Where none could, the changes are missing. Every tree sees the same comparisons.
    """
    whole = score_protocol(respondents, protocol, seed=seed, test_share=test_share)
    possible = possible_shares(respondents, protocol, seed=seed, test_share=test_share)
    rows = []
    for name in feature_names(respondents):
        left = score_protocol(without_feature(respondents, name), protocol, seed=seed, test_share=test_share)
        row: dict[str, str | float | int] = {REMOVED: name}
        for part in SPLITS:
            column = f"{part}_accuracy"
            change = IN_POINTS * (left[column] - whole[column]) if possible[name] else left[column] * np.nan
            row |= {
                f"{part}_delta": float(change.mean()),
                f"{part}_delta_sd": float(change.std()),
                column: float(left[column].mean()),
            }
        users = int(np.isfinite(left[f"{TEST}_accuracy"]).sum())
        rows.append({**row, LEAVES: float(left[LEAVES].mean()), N_USERS: users, POSSIBLE: possible[name]})
        advance(LEAVING_OUT)
    return pd.DataFrame(rows)


def delta_metrics(study: str, found: pd.DataFrame) -> Sequence[MetricRow]:
    """The changes as rows of `metrics.json`: delta_accuracy in points; the variant names the removed feature.

    A feature that no tree could ask about has no rows.
    """
    return [
        MetricRow(
            study=study,
            model=TREE_MODEL,
            variant=str(row[REMOVED]),
            metric=DELTA_ACCURACY,
            split=part,
            value=float(row[f"{part}_delta"]),
            sd=float(row[f"{part}_delta_sd"]),
            n=int(row[N_USERS]),
        )
        for _, row in found.iterrows()
        if row[POSSIBLE]
        for part in SPLITS
    ]


def delta_intervals(found: pd.DataFrame) -> pd.DataFrame:
    """The change of each feature in held-out accuracy, in points, with its 95% interval: most useful feature first.

    removed; estimate, lower, upper: the mean of the paired differences, and its interval over other users. All three
    are missing for a feature that no tree could ask about: leaving it out changes nothing, whatever it is worth.
    """
    ordered = found.sort_values(TEST_DELTA, kind="stable", ignore_index=True)
    mean, sd, users = (ordered[name].to_numpy(float) for name in (TEST_DELTA, "test_delta_sd", N_USERS))
    interval = mean_interval(mean, sd, users)
    return pd.DataFrame({REMOVED: ordered[REMOVED], ESTIMATE: mean, **interval._asdict()})


@task(name="leave features out", cache_policy=NO_CACHE)
def leave_features_out(study: str, trial: Trial, protocol: Protocol, results: Path) -> None:
    """Write the worth of each feature: `leaving_out.parquet`, its intervals, and rows of `metrics.json`."""
    respondents = read_respondents(trial.table, trial.users)
    found = leave_each_out(respondents, protocol, seed=trial.seed, test_share=trial.test_share)
    write_parquet(results / f"{LEFT_OUT}.parquet", pa.Table.from_pandas(found, preserve_index=False))
    verdicts = pa.Table.from_pandas(delta_intervals(found), preserve_index=False)
    write_parquet(results / f"{LEFT_OUT_INTERVALS}.parquet", verdicts)
    add_metrics(results / "metrics.json", delta_metrics(study, found))
