"""Summaries of the trees of a study: medians, ties and unscored users, and what a choice experiment allows to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from models.records.published import gap
from models.records.results import MetricRow
from models.records.studies.respondent_results import (
    CHOICE_SUMMARY,
    DISCARDED,
    POOLED,
    TREE_SUMMARIES,
    ChoiceSummary,
    TreeSummary,
)
from tasks.respondents.protocols import Protocol, read_respondents, split_comparisons
from tasks.respondents.scoring import Trial
from tasks.runs.results import METRICS, write_json


def tree_summary(scores: pd.DataFrame) -> TreeSummary:
    """The trees of one variant, from one row a user as `score_protocol` returns it."""
    strict, decided = scores["test_strict_accuracy"].mean(), scores["test_decided_share"].mean()
    return TreeSummary(
        users=len(scores),
        scored=int(scores["test_accuracy"].notna().sum()),
        unscored_test=int(scores["test_accuracy"].isna().sum()),
        unscored_train=int(scores["train_accuracy"].isna().sum()),
        median_accuracy=_known(scores["test_accuracy"].median()),
        median_leaves=float(scores["leaves"].median()),
        tied_share=_known(1 - decided),
        without_ties=_known(strict / decided) if decided else None,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def write_tree_summaries(results: Path, scores: Mapping[str, pd.DataFrame]) -> None:
    """Write the summary of each variant to `tree_summaries.json`."""
    summaries = {variant: tree_summary(found).model_dump(mode="json") for variant, found in scores.items()}
    write_json(results / f"{TREE_SUMMARIES}.json", summaries)


def choice_summary(
    metrics: Sequence[MetricRow], *, users: int, comparisons: int, held_out: int, comparable: bool
) -> ChoiceSummary:
    """What the metrics of a choice experiment allow to say.

    users, comparisons, held_out: how many there are; comparable: whether published values can be compared with.
    """
    accuracy = {row.variant: row.value for row in metrics if (row.metric, row.split) == ("accuracy", "test")}
    gaps = [gap(row.value, row.published) for row in metrics] if comparable else []
    sizes = [abs(each) for each in gaps if each is not None]
    return ChoiceSummary(
        comparisons_each=comparisons / users,
        held_out_each=held_out / users,
        training=comparisons - held_out,
        pooled_gain=gap(accuracy[POOLED], accuracy[DISCARDED]),
        n_published=len(sizes),
        smallest_gap=min(sizes, default=None),
        largest_gap=max(sizes, default=None),
    )


def write_choice_summary(results: Path, trial: Trial, protocol: Protocol, *, comparable: bool) -> None:
    """Write `choice_summary.json` from the metrics of a run and the comparisons that its protocol held out."""
    metrics = METRICS.validate_json((results / "metrics.json").read_bytes())
    respondents = read_respondents(trial.table, trial.users)
    test = split_comparisons(respondents, protocol, trial.seed, trial.test_share).test
    summary = choice_summary(
        metrics,
        users=len(respondents.user_ids),
        comparisons=len(test),
        held_out=int(test.sum()),
        comparable=comparable,
    )
    write_json(results / f"{CHOICE_SUMMARY}.json", summary.model_dump(mode="json"))
