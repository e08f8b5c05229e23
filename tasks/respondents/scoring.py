"""Trees of many users, scored under protocols: the steps of a study that fits one tree to each user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from prefect import task, unmapped
from prefect.cache_policies import NO_CACHE

from models.records.base import Record
from models.records.errors import UsageError
from models.records.published import Published, beside_published
from models.records.results import MetricRow
from models.records.studies.respondent_results import (
    DEPTH,
    EXAMPLE_TREE,
    LEAVES,
    PLAIN_USERS,
    POOLED,
    POOLED_TREE,
    PROTOCOLS,
    TUNED,
    TUNED_LIMITS,
    UNSEEN_TABLE,
    USERS,
    VARIANT,
)
from tasks.respondents.comparing_protocols import compare_protocols
from tasks.respondents.plain_models import plain_metrics, score_held_out, score_unseen, write_beside
from tasks.respondents.protocols import (
    Protocol,
    example_trees,
    metric_rows,
    read_respondents,
    score_pooled,
    score_protocol,
    summarise_protocol,
    typical_user,
)
from tasks.respondents.summaries import write_tree_summaries
from tasks.respondents.tuning import tune, tuned
from tasks.runs.progress import advance
from tasks.runs.results import add_metrics, write_json, write_metrics, write_parquet
from tasks.runs.run_folder import RunFolder

TRYING = "Try every protocol"
PLAIN = "Fit plain models"
BATCH = 6
"""Protocols per task: enough to be worth starting a task, few enough for the progress bar to move."""


class Trial(Record):
    """The data to try protocols on: a table, its first users (None: all), and the share of pairs held out."""

    table: Path
    users: int | None
    test_share: float
    seed: int


class Pooled(Record):
    """One tree for all users: how it is grown, and whether its depth is chosen on training choices."""

    protocol: Protocol
    tuned: bool


@task(name="score variants", cache_policy=NO_CACHE)
def score_variants(
    study: str,
    trial: Trial,
    variants: Mapping[str, Protocol],
    published: Sequence[Published],
    results: Path,
    *,
    pooled: Pooled | None = None,
) -> None:
    """Score each user's tree under each variant of the study, and write `users.parquet`, `metrics.json`,
    `tree_summaries.json` and `accuracy_differences.json`.

    pooled: if given, score also one tree for all users, as the variant `pooled`, and write it to `pooled_tree.json`;
    and each user's tree with tuned limits, which are written to `tuned_limits.json`.
    """
    respondents = read_respondents(trial.table, trial.users)
    scores = {
        name: score_protocol(respondents, protocol, seed=trial.seed, test_share=trial.test_share)
        for name, protocol in variants.items()
    }
    if pooled is not None:
        first = next(iter(variants.values()))
        of_all = pooled.protocol if pooled.tuned else None
        limits = tune(respondents, first, of_all, seed=trial.seed, test_share=trial.test_share)
        if pooled.tuned:
            pooled = pooled.model_copy(update={"protocol": tuned(pooled.protocol, limits.pooled)})
        write_json(results / f"{TUNED_LIMITS}.json", limits.model_dump(mode="json"))
        own = tuned(first, limits.each)
        scores[TUNED] = score_protocol(respondents, own, seed=trial.seed, test_share=trial.test_share)
    rows = [row for name, found in scores.items() for row in metric_rows(study, name, found)]
    rows = beside_published(rows, published)
    if pooled is not None:
        tree, scores[POOLED] = score_pooled(respondents, pooled.protocol, seed=trial.seed, test_share=trial.test_share)
        rows += [_without_spread(row) for row in metric_rows(study, POOLED, scores[POOLED])]
        write_json(results / f"{POOLED_TREE}.json", tree.to_dict())
    write_metrics(results / "metrics.json", rows)
    users = pd.concat([found.assign(variant=name) for name, found in scores.items()], ignore_index=True)
    write_parquet(results / f"{USERS}.parquet", pa.Table.from_pandas(users, preserve_index=False))
    write_tree_summaries(results, scores)


def _without_spread(row: MetricRow) -> MetricRow:
    """A metric of the one tree for all users; its size has no spread over users."""
    return (
        row.model_copy(update={"sd": None, "n": 1, "lower": None, "upper": None, "over": None})
        if row.metric in {LEAVES, DEPTH}
        else row
    )


@task(name="score plain models", cache_policy=NO_CACHE)
def score_plain(study: str, trial: Trial, protocol: Protocol, results: Path, *, pooled: Pooled | None = None) -> None:
    """Score plain models on the choices that the protocol holds out, and on respondents never seen.

    Adds to `metrics.json`, and writes `plain_users.parquet`, `unseen_users.parquet` and `beside_plain.json`.
    Respondents never seen are also predicted by one tree for all the others, grown like `pooled`, or like `protocol`.
    """
    respondents = read_respondents(trial.table, trial.users)
    held_out = score_held_out(respondents, protocol, seed=trial.seed, test_share=trial.test_share)
    of_all = pooled or Pooled(protocol=protocol, tuned=False)
    unseen = score_unseen(respondents, of_all.protocol, tuned=of_all.tuned, seed=trial.seed)
    add_metrics(results / "metrics.json", plain_metrics(study, held_out, unseen))
    for name, found in ((PLAIN_USERS, held_out), (UNSEEN_TABLE, unseen)):
        users = pd.concat([each.assign(variant=variant) for variant, each in found.items()], ignore_index=True)
        write_parquet(results / f"{name}.parquet", pa.Table.from_pandas(users, preserve_index=False))
    write_beside(results, held_out, unseen)


@task(name="draw an example", cache_policy=NO_CACHE)
def draw_example(trial: Trial, variants: Mapping[str, Protocol], user: str | None, results: Path) -> None:
    """Write the trees of one user to `example_tree.json`; of a typical user under the first variant if None.

    Raises UsageError if the trial has no such user.
    """
    respondents = read_respondents(trial.table, trial.users)
    if user is None:
        scores = pd.read_parquet(results / f"{USERS}.parquet")
        user = typical_user(scores[scores[VARIANT] == next(iter(variants))])
    if user not in respondents.user_ids:
        ids = respondents.user_ids
        raise UsageError(
            f"example_user = {user}: this run has no such user. It has {len(ids):,} ({', '.join(ids[:3])}, ...)."
        )
    document = example_trees(respondents, variants, user, seed=trial.seed, test_share=trial.test_share)
    write_json(results / f"{EXAMPLE_TREE}.json", document)


def batches(protocols: Sequence[Protocol]) -> list[tuple[Protocol, ...]]:
    """The protocols in batches of `BATCH`."""
    return [tuple(protocols[start : start + BATCH]) for start in range(0, len(protocols), BATCH)]


@task(name="try protocols", cache_policy=NO_CACHE)
def try_protocols(protocols: Iterable[Protocol], trial: Trial) -> list[dict[str, Any]]:
    """Score each user's tree under each protocol. Returns one row for each: its choices, and means over users."""
    respondents = read_respondents(trial.table, trial.users)
    rows = []
    for protocol in protocols:
        scores = score_protocol(respondents, protocol, seed=trial.seed, test_share=trial.test_share)
        rows.append(summarise_protocol(protocol, scores))
        advance(TRYING)
    return rows


def try_all(run: RunFolder, trial: Trial, protocols: Sequence[Protocol], published: Sequence[Published]) -> None:
    """Score each user's tree under each protocol: `protocols.parquet`, one row for each, and what they say.

    published: accuracies that the protocols are compared with; none where the data is simulated.
    """
    with run.step(TRYING, total=len(protocols)):
        found = try_protocols.map(batches(protocols), unmapped(trial)).result()
        rows = [row for batch in found for row in batch]
        write_parquet(run.results / f"{PROTOCOLS}.parquet", pa.Table.from_pylist(rows))
        compare_protocols(run.results, pd.DataFrame(rows), published)
