"""Summaries of trees and of choice experiments, in cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from models.records.results import MetricRow
from tasks.respondents.choice_summary import choice_summary
from tasks.respondents.summaries import accuracy_differences, tree_summary


def row(variant: str, value: float, published: float | None = None, split: str = "test") -> MetricRow:
    return MetricRow(
        study="tea", model="m", variant=variant, metric="accuracy", split=split, value=value, published=published
    )


METRICS = [
    row("straddlers_discarded", 0.60, 0.63),
    row("straddlers_discarded", 0.60, 0.55),
    row("straddlers_discarded", 0.97, 0.98, split="train"),
    row("pooled", 0.65),
]


def test_users_without_a_held_out_comparison_are_counted_and_have_no_part_in_the_medians() -> None:
    scores = pd.DataFrame(
        {
            "train_accuracy": [1.0, 0.9, np.nan, 1.0],
            "test_accuracy": [0.5, np.nan, 0.7, 0.8],
            "test_strict_accuracy": [0.4, np.nan, 0.7, 0.4],
            "test_decided_share": [0.8, np.nan, 1.0, 0.6],
            "leaves": [2, 4, 6, 8],
        }
    )
    found = tree_summary(scores)
    assert (found.users, found.scored, found.unscored_test, found.unscored_train) == (4, 3, 1, 1)
    assert (found.median_accuracy, found.median_leaves) == (0.7, 5.0)
    assert found.tied_share == pytest.approx(0.2)
    assert found.without_ties == pytest.approx(0.5 / 0.8)


def test_where_every_comparison_is_tied_there_is_no_accuracy_without_ties() -> None:
    scores = pd.DataFrame(
        {
            "train_accuracy": [0.5],
            "test_accuracy": [0.5],
            "test_strict_accuracy": [0.0],
            "test_decided_share": [0.0],
            "leaves": [1],
        }
    )
    assert tree_summary(scores).without_ties is None


def test_gaps_to_published_values_are_absolute_and_the_spread_of_so_few_trials_is_told() -> None:
    found = choice_summary(METRICS, users=10, comparisons=180, held_out=20, comparable=True)
    assert (found.comparisons_each, found.held_out_each, found.training) == pytest.approx((18.0, 2.0, 160))
    own = next(
        row.value
        for row in METRICS
        if (row.metric, row.split, row.variant) == ("accuracy", "test", "straddlers_discarded")
    )
    assert found.chance_sd == pytest.approx((own * (1 - own) / 2) ** 0.5), "two trials of one chance"
    assert found.n_published == 3
    assert (found.smallest_gap, found.largest_gap) == pytest.approx((0.01, 0.05))


def test_simulated_data_has_no_gap_to_what_was_published() -> None:
    found = choice_summary(METRICS, users=10, comparisons=180, held_out=20, comparable=False)
    assert (found.n_published, found.smallest_gap, found.largest_gap) == (0, None, None)


def scored(accuracies: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"user_id": [f"u{at}" for at in range(len(accuracies))], "test_accuracy": accuracies})


def test_variants_are_compared_user_by_user_and_a_user_without_a_score_has_no_part() -> None:
    first, second = [0.5, 0.6, 0.7, np.nan], [0.6, 0.8, 0.8, 0.1]
    [found] = accuracy_differences({"first": scored(first), "second": scored(second)}).values()
    # Differences 0.1, 0.2, 0.1: mean 0.4 / 3, standard deviation 0.1 / sqrt(3).
    reach = 4.302653 * 0.1 / 3
    assert found.estimate == pytest.approx(0.4 / 3)
    assert (found.lower, found.upper) == pytest.approx((0.4 / 3 - reach, 0.4 / 3 + reach))
    assert found.outcome == "not_shown", "three users show little"


def test_one_user_shows_no_difference_either_way() -> None:
    [found] = accuracy_differences({"first": scored([0.5]), "second": scored([0.9])}).values()
    assert found.outcome == "unknown"


def test_variants_with_other_users_are_not_compared() -> None:
    with pytest.raises(ValueError, match="same users"):
        accuracy_differences({"first": scored([0.5, 0.6]), "second": scored([0.5])})
