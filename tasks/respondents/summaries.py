"""Summaries of the trees of a study: medians, ties, unscored users, and the numbers of a choice experiment."""

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
from tasks.runs.results import METRICS, write_json


def tree_summary(scores: pd.DataFrame) -> TreeSummary:
    """The trees of one variant, from one row a user as `score_protocol` returns it."""
    strict, decided = scores["test_strict_accuracy"].mean(), scores["test_decided_share"].mean()
    return TreeSummary(
        users=len(scores),
        scored=int(scores["test_accuracy"].notna().sum()),
        unscored_test=int(scores["test_accuracy"].isna().sum()),
        unscored_train=int(scores["train_accuracy"].isna().sum()),
        median_accuracy=_none_if_nan(scores["test_accuracy"].median()),
        median_leaves=float(scores["leaves"].median()),
        tied_share=_none_if_nan(1 - decided),
        without_ties=_none_if_nan(strict / decided) if decided else None,
    )


def _none_if_nan(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def write_tree_summaries(results: Path, scores: Mapping[str, pd.DataFrame]) -> None:
    """Write the summary of each variant to `tree_summaries.json`."""
    summaries = {variant: tree_summary(found).model_dump(mode="json") for variant, found in scores.items()}
    write_json(results / f"{TREE_SUMMARIES}.json", summaries)


def choice_summary(
    metrics: Sequence[MetricRow], rows: Mapping[str, int], *, test_share: float, comparable: bool
) -> ChoiceSummary:
    """The summary of a choice experiment, from its metrics.

    rows: number of `comparisons` and `users` of the table; comparable: whether published values can be compared with.
    """
    accuracy = {row.variant: row.value for row in metrics if (row.metric, row.split) == ("accuracy", "test")}
    gaps = [gap(row.value, row.published) for row in metrics] if comparable else []
    sizes = [abs(each) for each in gaps if each is not None]
    each = rows["comparisons"] / rows["users"]
    return ChoiceSummary(
        comparisons_each=each,
        held_out_each=each * test_share,
        pooled_gain=gap(accuracy[POOLED], accuracy[DISCARDED]),
        n_published=len(sizes),
        smallest_gap=min(sizes, default=None),
        largest_gap=max(sizes, default=None),
    )


def write_choice_summary(results: Path, rows: Mapping[str, int], *, test_share: float, comparable: bool) -> None:
    """Write `choice_summary.json` from the metrics of a run."""
    metrics = METRICS.validate_json((results / "metrics.json").read_bytes())
    summary = choice_summary(metrics, rows, test_share=test_share, comparable=comparable)
    write_json(results / f"{CHOICE_SUMMARY}.json", summary.model_dump(mode="json"))
