"""Summaries of the trees of a study: medians, ties and unscored users."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from models.records.studies.respondent_results import TREE_SUMMARIES, TreeSummary
from tasks.runs.results import write_json


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
