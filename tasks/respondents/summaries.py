"""Summaries of the trees of a study: medians, ties and unscored users."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from models.records.studies.respondent_results import (
    ACCURACY_DIFFERENCES,
    LEAVES,
    TEST_ACCURACY,
    TEST_DECIDED_SHARE,
    TEST_STRICT_ACCURACY,
    TRAIN_ACCURACY,
    TREE_SUMMARIES,
    USER_ID,
    TreeSummary,
)
from models.scores.comparing import Difference, mean_difference
from models.scores.intervals import OTHER_USERS
from tasks.runs.results import write_json


def tree_summary(scores: pd.DataFrame) -> TreeSummary:
    """The trees of one variant, from one row a user as `score_protocol` returns it."""
    strict, decided = scores[TEST_STRICT_ACCURACY].mean(), scores[TEST_DECIDED_SHARE].mean()
    return TreeSummary(
        users=len(scores),
        scored=int(scores[TEST_ACCURACY].notna().sum()),
        unscored_test=int(scores[TEST_ACCURACY].isna().sum()),
        unscored_train=int(scores[TRAIN_ACCURACY].isna().sum()),
        median_accuracy=_none_if_nan(scores[TEST_ACCURACY].median()),
        median_leaves=float(scores[LEAVES].median()),
        tied_share=_none_if_nan(1 - decided),
        without_ties=_none_if_nan(strict / decided) if decided else None,
    )


def _none_if_nan(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def accuracy_differences(scores: Mapping[str, pd.DataFrame]) -> dict[str, Difference]:
    """How much the held-out accuracy of each variant exceeds that of the first, paired over users.

    scores: a row for each user of a variant. Raises ValueError unless all variants have the same users in one order.
    """
    (_, first), *others = scores.items()
    users = first[USER_ID].tolist()
    if any(found[USER_ID].tolist() != users for _, found in others):
        raise ValueError("the variants do not have the same users in the same order")
    base = first[TEST_ACCURACY].to_numpy(float)
    return {
        variant: mean_difference(found[TEST_ACCURACY].to_numpy(float) - base, over=OTHER_USERS)
        for variant, found in others
    }


def write_tree_summaries(results: Path, scores: Mapping[str, pd.DataFrame]) -> None:
    """Write the summary of each variant, and how much each exceeds the first.

    The files are `tree_summaries.json` and `accuracy_differences.json`.
    """
    summaries = {variant: tree_summary(found).model_dump(mode="json") for variant, found in scores.items()}
    write_json(results / f"{TREE_SUMMARIES}.json", summaries)
    differences = {variant: each.model_dump(mode="json") for variant, each in accuracy_differences(scores).items()}
    write_json(results / f"{ACCURACY_DIFFERENCES}.json", differences)
