"""Hard comparisons: how a tree fails on them, and in which order a model is asked about them."""

from __future__ import annotations

import numpy as np

from models.trees.preference_tree import PreferenceTree, numeric_columns
from tasks.messages.hard_comparisons import Hard, choose_in_turn, hard_comparisons


def test_hard_comparisons_are_of_three_kinds() -> None:
    items = np.array([[0.0], [0.0], [1.0], [2.0]])
    tree = PreferenceTree(numeric_columns(["x"])).fit(items, np.array([[2, 0], [2, 1], [3, 2], [3, 0]]))
    assert tree.apply(items).tolist() == [0, 0, 1, 2]
    tree.leaf_mean_ = np.array([0.0, 1.0, 1.0])
    asked = np.array([[0, 1], [0, 2], [2, 0], [3, 2]])
    assert hard_comparisons(tree, items, asked, np.arange(4)) == [(0, "same_leaf"), (1, "reversed"), (3, "same_value")]


def test_the_kinds_of_hard_comparison_take_turns_and_within_a_kind_the_lots_decide() -> None:
    hard = [Hard(0, "reversed"), Hard(1, "reversed"), Hard(2, "same_leaf"), Hard(3, "reversed"), Hard(4, "same_leaf")]
    lots = np.array([5, 3, 8, 4, 1])
    assert [each.row for each in choose_in_turn(hard, lots, 4)] == [4, 1, 2, 3]
