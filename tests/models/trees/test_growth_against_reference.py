"""Growth level by level gives the same trees as the slow reference, node for node."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.trees.growth.grow import Growth
from models.trees.preference_tree import PreferenceTree, PreferenceTrees
from models.trees.structure import Node
from tests.models.strategies import PairwiseData, pairwise_data, pairwise_data_of_trees
from tests.models.trees.reference_tree import Pair, Split, best_split, follow, signed_score

growths = st.builds(
    Growth,
    max_categories=st.sampled_from([None, 2, 3]),
    categories_of=st.sampled_from(["region", "pairs"]),
    straddlers=st.sampled_from(["discard", "keep"]),
    tie_break=st.sampled_from(["lowest", "widest_gap"]),
)


def check_against_reference(nodes: Sequence[Node], data: PairwiseData, growth: Growth) -> None:
    all_pairs = [Pair(int(winner), int(loser)) for winner, loser in data.comparisons]
    waiting = [(0, all_pairs, set(range(len(data.items))))]
    visited = 0
    while waiting:
        at, pairs, region = waiting.pop()
        visited += 1
        node = nodes[at]
        expected = best_split(data.items, data.columns, pairs, region, growth)
        assert node.n_comparisons == len(pairs)
        assert node.n_items == len(region)
        if expected is None:
            assert node.leaf is not None
            continue
        assert node.column == expected[0].column
        assert abs(node.score) == abs(expected[1])
        if node.left_levels is None:
            assert (node.threshold, node.missing_left) == (expected[0].threshold, expected[0].missing_left)
        split = Split(node.column, node.threshold, node.left_levels, node.missing_left)
        assert signed_score(split, data.items, pairs) == node.score
        other_side = signed_score(replace(split, missing_left=not node.missing_left), data.items, pairs)
        assert (abs(node.score), node.missing_left) >= (abs(other_side), not node.missing_left)
        left, right = follow(split, data.items, pairs, growth)
        goes_left = {i for i in region if split.goes_left(data.items[i])}
        waiting += [(node.left, left, goes_left), (node.right, right, region - goes_left)]
    assert visited == len(nodes)


@given(pairwise_data(), growths)
@settings(max_examples=300, deadline=None)
def test_every_node_splits_as_the_reference_does(data: PairwiseData, growth: Growth) -> None:
    tree = PreferenceTree(data.columns, **vars(growth)).fit(data.items, data.comparisons)
    check_against_reference(tree.nodes_, data, growth)


@given(pairwise_data_of_trees(), growths)
@settings(max_examples=200, deadline=None)
def test_each_of_several_trees_grown_together_splits_as_the_reference_does(
    data: list[PairwiseData], growth: Growth
) -> None:
    sizes = [len(each.items) for each in data]
    first = np.cumsum(sizes) - sizes
    items = np.vstack([each.items for each in data])
    comparisons = np.vstack([each.comparisons + start for each, start in zip(data, first, strict=True)])
    tree_of_item = np.repeat(np.arange(len(data)), sizes)
    # Items of several trees need not lie in the order of their trees.
    place = np.random.default_rng(len(items)).permutation(len(items))
    trees = PreferenceTrees(data[0].columns, **vars(growth)).fit(
        items[np.argsort(place)], place[comparisons], tree_of_item[np.argsort(place)], n_trees=len(data)
    )
    for t, each in enumerate(data):
        check_against_reference(trees.trees_.nodes_of(t), each, growth)


@given(pairwise_data(max_items=7), growths)
@settings(max_examples=150, deadline=None)
def test_a_left_set_is_the_smaller_of_the_losing_and_the_winning_categories(data: PairwiseData, growth: Growth) -> None:
    options = {**vars(growth), "max_depth": 1}
    root = PreferenceTree(data.columns, **options).fit(data.items, data.comparisons).nodes_[0]
    if root.left_levels is None:
        return
    surplus: dict[int, int] = {}
    for (winner, loser), sign in itertools.product(data.comparisons, (1, -1)):
        value = data.items[winner if sign == 1 else loser][root.column]
        if not np.isnan(value):
            surplus[int(value)] = surplus.get(int(value), 0) + sign
    winning = tuple(sorted(code for code, d in surplus.items() if d > 0))
    losing = tuple(sorted(code for code, d in surplus.items() if d < 0))
    if winning and losing:
        expected = min(winning, losing, key=lambda codes: (len(codes), codes))
        assert root.left_levels == expected


@given(pairwise_data(), st.sampled_from(["lowest", "widest_gap", "random"]), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_the_comparisons_does_not_matter(data: PairwiseData, tie_break: str, random) -> None:
    shuffled = list(range(len(data.comparisons)))
    random.shuffle(shuffled)
    one = PreferenceTree(data.columns, tie_break=tie_break).fit(data.items, data.comparisons)
    other = PreferenceTree(data.columns, tie_break=tie_break).fit(data.items, data.comparisons[shuffled])
    assert one.to_dict() == other.to_dict()


@given(pairwise_data())
@settings(max_examples=100, deadline=None)
def test_swapping_every_pair_flips_the_preference_and_nothing_else(data: PairwiseData) -> None:
    one = PreferenceTree(data.columns).fit(data.items, data.comparisons)
    other = PreferenceTree(data.columns).fit(data.items, data.comparisons[:, ::-1])
    assert [node.model_copy(update={"score": -node.score}) for node in one.nodes_] == list(other.nodes_)
    np.testing.assert_allclose(one.leaf_mean_, -other.leaf_mean_, atol=1e-9)
    np.testing.assert_allclose(one.leaf_covariance_, other.leaf_covariance_, atol=1e-9)


@pytest.mark.parametrize("tie_break", ["widest_gap", "random"])
@given(data=pairwise_data())
@settings(max_examples=60, deadline=None)
def test_tie_rules_choose_among_equals_only(tie_break: str, data: PairwiseData) -> None:
    lowest = PreferenceTree(data.columns, max_depth=1).fit(data.items, data.comparisons).nodes_[0]
    other = PreferenceTree(data.columns, max_depth=1, tie_break=tie_break).fit(data.items, data.comparisons).nodes_[0]
    assert abs(other.score) == abs(lowest.score)
