"""Summaries of explanations, by values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.records.duel_results import ExplanationSummary
from models.shap.explanation import REST, PreferenceExplanation
from models.shap.summary import leading_player, mean_gap, means_by_group, summarise_all, summarise_players


def explanation(error: float | None = None, coalitions: int = 8) -> PreferenceExplanation:
    values = np.array([[1.0, -4.0, 2.0], [3.0, 2.0, -2.0]])
    full = values.sum(axis=1)
    return PreferenceExplanation(
        players=("speed", REST, "types"), values=values, empty=np.zeros(2), full=full,
        score=full + np.array([0.5, -0.25]),
        standard_error=None if error is None else np.full((2, 3), error),
        data=np.array([[-1.0, 5.0, np.nan], [-2.0, 0.0, np.nan]]), coalitions=coalitions,
    )  # fmt: skip


def summary(model: str) -> ExplanationSummary:
    players = summarise_players(explanation())
    return ExplanationSummary(
        kind="all", title="All", model=model, of="items", duels=2, players=players, leading=leading_player(players)
    )


def test_players_are_ordered_by_mean_size_and_favour_the_one_who_has_more_or_less():
    found = summarise_players(explanation())
    assert [(each.player, each.importance, each.mean, each.favours) for each in found] == [
        (REST, 3.0, -1.0, "less"),  # (-4) * sign(5) + 2 * sign(0) = -4
        ("speed", 2.0, 2.0, "less"),  # -1 - 3
        ("types", 2.0, 0.0, None),  # unordered values
    ]


def test_the_rest_of_the_columns_does_not_lead_unless_it_is_alone():
    found = summarise_players(explanation())
    assert leading_player(found) == "speed"
    assert leading_player(found[:1]) == REST


def test_the_gap_is_a_mean_of_sizes_over_all_duels_of_a_model():
    found = mean_gap("gpm", [explanation(), explanation()])
    assert (found.gap, found.preference) == (0.375, 1.625)  # gaps 0.5, 0.25; preferences -0.5, 2.75


def test_all_explanations_of_a_run_have_one_summary():
    parts = [explanation(), explanation(0.25, 100), explanation(0.75)]
    found = summarise_all([summary("gpm"), summary("upm"), summary("gpm")], parts)
    assert found.coalitions == 100
    assert found.standard_error == 0.5
    assert [each.model for each in found.gaps] == ["gpm", "upm"]
    assert summarise_all([summary("gpm")], parts[:1]).standard_error is None


def test_means_are_of_each_group_the_largest_first_and_equals_in_order_of_appearance():
    values = np.array([[1.0, 0.0], [2.0, 4.0], [3.0, 8.0], [4.0, 2.0]])
    found = means_by_group(values, ["c", "b", "a", "b"])
    assert [(group, n) for group, n, _ in found] == [("b", 2), ("c", 1), ("a", 1)]
    assert found[0][2].tolist() == [3.0, 3.0]
    assert found[1][2] == pytest.approx([1.0, 0.0])
