"""Ties, growth limits and regions at their exact boundaries, each by a hand-made example."""

from __future__ import annotations

import numpy as np
import pytest

from models.records.features import FeatureKind
from models.trees.growth.growing_tree import GrowingTree
from models.trees.preference_tree import PreferenceTree, PreferenceTrees, numeric_columns
from models.trees.structure import Node
from tests.models.strategies import column

COLOUR = column("colour", FeatureKind.CATEGORICAL)
RED, GREEN, BLUE, GREY = 0.0, 1.0, 2.0, 3.0
LINE = np.array([[1.0], [2.0], [3.0]])
FOUR = np.array([[2, 0], [2, 0], [2, 1], [0, 1]])  # the score is 2 at 1.5 and 3 at 2.5


def root_of(items: np.ndarray, comparisons: np.ndarray, columns: list | None = None, **options: object) -> Node:
    return PreferenceTree(columns, **options).fit(items, comparisons).nodes_[0]


def test_the_widest_gap_is_a_share_of_the_range_of_the_column_over_all_items() -> None:
    """The gap is 10 of 100 in the first column and 0.9 of 1 in the second; the last item is never compared."""
    items = np.array([[0.0, 0.0], [10.0, 0.9], [100.0, 1.0]])
    assert root_of(items, np.array([[1, 0]]), tie_break="widest_gap").column == 1
    assert root_of(items, np.array([[1, 0]]), tie_break="lowest").column == 0


@pytest.mark.parametrize(("gap", "chosen"), [(0.9, 1), (1.0, 0)])
def test_a_categorical_split_has_a_gap_of_the_whole_range(gap: float, chosen: int) -> None:
    """A gap of nine tenths loses to the category; a gap of the whole range ties with it, and the first column wins."""
    columns = [*numeric_columns(["size"]), COLOUR]
    items = np.array([[0.0, RED], [gap, GREEN], [1.0, GREEN]])
    assert root_of(items, np.array([[1, 0]]), columns, tie_break="widest_gap").column == chosen


def test_each_tree_takes_the_ranges_of_its_own_items_at_the_root_and_below() -> None:
    """Trees 1 and 3 see the same pairs, but other uncompared items: they prefer different columns at equal scores.

    Trees 0 and 2 have items and no comparisons. The first split of trees 1 and 3 is on the third column. The tie is one
    level below, in the right child of tree 1 and in the left child of tree 3, which comes first at that level.
    """
    pairs = np.array([[1, 0], [2, 0], [1, 0], [2, 1]])
    groups = [
        np.full((2, 3), [[0.0], [1.0]]),
        np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [9.0, 1.0, 0.0]]),
        np.full((2, 3), [[0.0], [50.0]]),
        np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 9.0, 0.0]]),
    ]
    sizes = [len(group) for group in groups]
    comparisons = np.vstack([pairs + sum(sizes[:1]), pairs + sum(sizes[:3])])
    together = PreferenceTrees(tie_break="widest_gap").fit(
        np.vstack(groups), comparisons, np.repeat(np.arange(4), sizes), n_trees=4
    )
    for t, side, tied in ((1, "right", 1), (3, "left", 0)):
        nodes = together.trees_.nodes_of(t)
        assert nodes[0].column == 2
        assert nodes[getattr(nodes[0], side)].column == tied
        assert PreferenceTree(tie_break="widest_gap").fit(groups[t], pairs).nodes_ == nodes


def test_missing_values_go_left_where_both_sides_of_a_categorical_split_score_the_same() -> None:
    """Missing items only beat each other, so their side does not matter to the score: left, whichever set is left."""
    items = np.array([[RED], [GREEN], [np.nan], [np.nan]])
    for pair in ([0, 1], [1, 0]):
        root = root_of(items, np.array([pair, [2, 3]]), [COLOUR])
        assert (root.left_levels, abs(root.score), root.missing_left) == ((0,), 1, True)


def test_missing_values_go_left_where_they_only_turn_the_sign_of_a_categorical_split() -> None:
    """red +1, green +1, missing -2: red alone scores +1, red and missing -1."""
    items = np.array([[RED], [GREEN], [np.nan]])
    root = root_of(items, np.array([[0, 2], [1, 2]]), [COLOUR])
    assert (root.left_levels, root.score, root.missing_left) == ((0,), 1, True)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("settled", [[[0, 1], [1, 0]], []])
def test_items_of_a_settled_leaf_count_in_no_other_region(settled: list[list[int]], side: str) -> None:
    """Blue and grey lie in the left leaf of the root. Two levels below, red and green may be split: two categories.

    The leaf settles with a pair that contradicts itself, or without any pair. Red and green lie in the left or the
    right child of the root's right child.
    """
    columns = [*numeric_columns(["size"]), COLOUR]
    two, one = (1.0, 2.0) if side == "left" else (2.0, 1.0)
    items = np.array([[0.0, BLUE], [0.0, GREY], [two, RED], [two, GREEN], [one, RED]])
    across = [[2, 0], [2, 0], [3, 1], [4, 0], [4, 1]]
    comparisons = np.array([*settled, *across, [4, 2], [4, 3], [2, 3]])
    nodes = PreferenceTree(columns, max_categories=2).fit(items, comparisons).nodes_
    assert (nodes[0].threshold, nodes[1].leaf, nodes[2].threshold) == (0.5, 0, 1.5)
    assert nodes[getattr(nodes[2], side)].left_levels == (0,)
    assert len(nodes) == 7


def test_the_categories_a_node_may_hold_are_exactly_as_many_as_allowed() -> None:
    items, comparisons = np.array([[RED], [GREEN], [BLUE]]), np.array([[0, 1], [0, 2]])
    assert root_of(items, comparisons, [COLOUR], max_categories=3).left_levels == (0,)
    assert root_of(items, comparisons, [COLOUR], max_categories=2).leaf == 0


@pytest.mark.parametrize("max_depth", [0, 1, 2, 3])
def test_the_deepest_leaf_lies_exactly_at_max_depth(max_depth: int) -> None:
    items = np.linspace(0.05, 0.95, 10)[:, None]
    comparisons = np.array([(high, low) for high in range(10) for low in range(high)])
    assert PreferenceTree().fit(items, comparisons).depth_ > 3
    assert PreferenceTree(max_depth=max_depth).fit(items, comparisons).depth_ == max_depth
    growing = GrowingTree(items[comparisons].reshape(-1, 1), max_depth=max_depth)
    for pair in range(len(comparisons)):
        growing.add(pair)
    assert len(growing.regions().lower) == 2**max_depth


def test_a_node_with_exactly_min_samples_split_comparisons_is_split() -> None:
    assert root_of(LINE, FOUR, min_samples_split=4).column == 0
    assert root_of(LINE, FOUR, min_samples_split=5).leaf == 0


def test_a_split_with_exactly_the_share_min_score_is_made() -> None:
    assert root_of(LINE, FOUR, min_score=0.75).score == 3
    assert root_of(LINE, FOUR, min_score=0.76).leaf == 0
