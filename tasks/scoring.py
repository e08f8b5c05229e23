"""Trees of many users, scored under protocols: the steps of a study that fits one tree a user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from prefect import task
from prefect.cache_policies import NO_CACHE

from models.errors import UsageError
from models.records import Record
from tasks.progress import advance
from tasks.protocols import (
    Protocol,
    example_trees,
    metric_rows,
    read_respondents,
    score_protocol,
    summarise_protocol,
    typical_user,
)
from tasks.results import write_json, write_metrics, write_parquet

TRYING = "Try every protocol"
BATCH = 6
"""Protocols a task: enough to be worth a task's start, few enough for the bar to move."""


class Trial(Record):
    """What protocols are tried on: a table, its first users (None: all), and which of their pairs are held out."""

    table: Path
    users: int | None
    test_share: float
    seed: int


class Published(Record):
    """Accuracies by split, train and test, as published, and where."""

    accuracy: dict[str, float]
    source: str


@task(name="score variants", cache_policy=NO_CACHE)
def score_variants(
    study: str, trial: Trial, variants: Mapping[str, Protocol], published: Published, results: Path
) -> None:
    """Score each user's tree under each variant of the study, and write `users.parquet` and `metrics.json`."""
    respondents = read_respondents(trial.table, trial.users)
    scores = {
        name: score_protocol(respondents, protocol, seed=trial.seed, test_share=trial.test_share)
        for name, protocol in variants.items()
    }
    rows = [metric_rows(study, name, found, published.accuracy, published.source) for name, found in scores.items()]
    write_metrics(results / "metrics.json", [row for of_variant in rows for row in of_variant])
    users = pd.concat([found.assign(variant=name) for name, found in scores.items()], ignore_index=True)
    write_parquet(results / "users.parquet", pa.Table.from_pandas(users, preserve_index=False))


@task(name="draw an example", cache_policy=NO_CACHE)
def draw_example(trial: Trial, variants: Mapping[str, Protocol], user: str | None, results: Path) -> None:
    """Write the trees of one user, or of a typical one under the first variant, to `example_tree.json`.

    Raises UsageError if the trial has no such user.
    """
    respondents = read_respondents(trial.table, trial.users)
    if user is None:
        scores = pd.read_parquet(results / "users.parquet")
        user = typical_user(scores[scores["variant"] == next(iter(variants))])
    if user not in respondents.user_ids:
        ids = respondents.user_ids
        raise UsageError(
            f"example_user = {user}: there is no such user among the {len(ids):,} ({', '.join(ids[:3])}, ...)."
        )
    document = example_trees(respondents, variants, user, seed=trial.seed, test_share=trial.test_share)
    write_json(results / "example_tree.json", document)


def batches(protocols: Sequence[Protocol]) -> list[tuple[Protocol, ...]]:
    """The protocols in the batches that `try_protocols` is mapped over."""
    return [tuple(protocols[start : start + BATCH]) for start in range(0, len(protocols), BATCH)]


@task(name="try protocols", cache_policy=NO_CACHE)
def try_protocols(protocols: Iterable[Protocol], trial: Trial) -> list[dict[str, Any]]:
    """Score each user's tree under each protocol. Returns one row a protocol: its choices, and means over users."""
    respondents = read_respondents(trial.table, trial.users)
    rows = []
    for protocol in protocols:
        scores = score_protocol(respondents, protocol, seed=trial.seed, test_share=trial.test_share)
        rows.append(summarise_protocol(protocol, scores))
        advance(TRYING)
    return rows


def write_protocols(batches_of_rows: Iterable[Sequence[dict[str, Any]]], results: Path) -> None:
    """Write the rows of all batches, in their order, to `protocols.parquet`."""
    rows = [row for batch in batches_of_rows for row in batch]
    write_parquet(results / "protocols.parquet", pa.Table.from_pylist(rows))
