"""A preferential Gaussian process for each user, scored as the trees are (dt-pbo, Tables 1 and 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from prefect import task, unmapped
from prefect.cache_policies import NO_CACHE

from models.gaussian.preference_gp import PreferenceGPs, unit_scaled
from models.records.arrays import FloatArray
from models.records.published import Published, beside_published
from models.records.results import MetricRow
from models.records.studies.respondent_results import ACCURACIES, GP, GP_MODEL, GP_USERS
from tasks.respondents.protocols import (
    Protocol,
    Respondents,
    accuracies_of_users,
    metric_rows,
    read_respondents,
    split_comparisons,
)
from tasks.respondents.scoring import Trial
from tasks.runs.progress import advance
from tasks.runs.results import add_metrics, write_parquet
from tasks.runs.run_folder import RunFolder

FITTING = "Fit a Gaussian process to each user"
AT_ONCE = 250
"""Number of users whose processes one task fits."""


def users_part(respondents: Respondents, users: slice) -> Respondents:
    """A slice of the respondents, with their comparisons."""
    wanted = range(*users.indices(len(respondents.user_ids)))
    mine = np.flatnonzero(np.isin(respondents.users, wanted))
    return replace(
        respondents,
        users=respondents.users[mine] - wanted.start,
        comparisons=respondents.comparisons[mine],
        user_ids=respondents.user_ids[users],
        user_keys=respondents.user_keys[users],
    )


def score_gp(respondents: Respondents, protocol: Protocol, *, seed: int, test_share: float) -> pd.DataFrame:
    """Fit each user's process to the comparisons her tree is fitted to, and score it on the same held-out ones.

    A categorical feature has one column for each level; every column is scaled to 0..1. A missing value, such as an
    attribute that was not shown, is the middle of its column, or none of the levels.
    Returns one row for each user: user_id and the accuracies.
    """
    split = split_comparisons(respondents, protocol, seed, test_share)
    items = _complete(respondents)[split.item_of_row]
    processes = PreferenceGPs().fit(
        items, split.comparisons[~split.test], split.user_of_row, n_users=len(respondents.user_ids)
    )
    utility = processes.predict(items, split.user_of_row)[split.comparisons]
    return pd.DataFrame(accuracies_of_users(respondents, utility[:, 0] - utility[:, 1], split.test))


def _complete(respondents: Respondents) -> FloatArray:
    """The items one-hot encoded and scaled, (m, d), with missing values filled in."""
    encoded = respondents.encoded["one_hot"]
    items = encoded.items.copy()
    for at, column in enumerate(encoded.columns):
        missing = np.isnan(items[:, at])
        if missing.any():
            known = items[~missing, at]
            middle = 0.5 * (known.min() + known.max()) if len(known) else 0.0
            items[missing, at] = 0.0 if column.name != column.feature else middle
    return unit_scaled(items)


def gp_portions(n_users: int) -> list[slice]:
    """Slices of AT_ONCE users."""
    return [slice(start, min(start + AT_ONCE, n_users)) for start in range(0, n_users, AT_ONCE)]


@task(name="fit Gaussian processes", cache_policy=NO_CACHE)
def fit_gps(portion: slice, trial: Trial, protocol: Protocol, work: Path) -> Path:
    """Score the processes of a portion of the users. Returns a file with one row for each user."""
    respondents = users_part(read_respondents(trial.table, trial.users), portion)
    path = work / f"gp-{portion.start}.parquet"
    score_gp(respondents, protocol, seed=trial.seed, test_share=trial.test_share).to_parquet(path, index=False)
    advance(FITTING)
    return path


def score_gps(
    study: str, run: RunFolder, trial: Trial, protocol: Protocol, published: Sequence[Published], *, n_users: int
) -> None:
    """Score a process for each of n_users users: `gp_users.parquet`, and their means in `metrics.json`."""
    work = gp_portions(n_users if trial.users is None else min(n_users, trial.users))
    with run.step(FITTING, total=len(work)):
        paths = fit_gps.map(work, unmapped(trial), unmapped(protocol), unmapped(run.work)).result()
        scores = pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)
        write_parquet(run.results / f"{GP_USERS}.parquet", pa.Table.from_pandas(scores, preserve_index=False))
        add_metrics(run.results / "metrics.json", gp_metrics(study, scores, published))


def gp_metrics(study: str, scores: pd.DataFrame, published: Sequence[Published]) -> list[MetricRow]:
    """The rows of `metrics.json`, beside the values published for the process."""
    sized = scores.assign(leaves=np.nan, depth=np.nan)
    rows = metric_rows(study, GP, sized, model=GP_MODEL)
    return beside_published([row for row in rows if row.metric in ACCURACIES], published)
