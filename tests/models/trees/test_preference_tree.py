"""The preference tree against examples worked by hand, its options, its exports and its refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from models.records.features import Column, FeatureKind
from models.trees.growth.splits import TieBreak
from models.trees.preference_tree import PreferenceTree, PreferenceTrees, numeric_columns
from models.trees.structure import describe_split, path_to
from tests.models.strategies import PairwiseData, column, pairwise_data

LINE = np.array([[1.0], [2.0], [3.0], [6.0]])
UPWARD = np.array([[3, 0], [2, 1], [3, 2], [1, 0]])  # the larger value wins each time

COLOUR = Column(name="colour", feature="colour", kind=FeatureKind.CATEGORICAL, levels=("red", "green", "blue", "grey"))


def root_of(items: np.ndarray, comparisons: np.ndarray, columns: list[Column] | None = None, **options: object):
    return PreferenceTree(columns, max_depth=1, **options).fit(items, comparisons).nodes_[0]


@pytest.mark.parametrize(("tie_break", "threshold"), [("lowest", 1.5), ("widest_gap", 4.5)])
def test_scores_of_a_line_by_hand(tie_break: TieBreak, threshold: float) -> None:
    """Z sums to 2 at each of 1.5, 2.5 and 4.5: the lowest is taken, or the one with the widest gap."""
    root = root_of(LINE, UPWARD, tie_break=tie_break)
    assert (root.score, root.threshold, root.n_comparisons) == (2, threshold, 4)


def test_the_random_tie_rule_takes_every_tied_split_for_some_seed_and_the_same_one_for_the_same_seed() -> None:
    found = {root_of(LINE, UPWARD, tie_break="random", random_state=seed).threshold for seed in range(30)}
    assert found == {1.5, 2.5, 4.5}
    assert len({root_of(LINE, UPWARD, tie_break="random", random_state=7).threshold for _ in range(3)}) == 1


def test_straddlers_do_not_choose_descendant_splits_but_do_set_leaf_values() -> None:
    """Only the second column separates items 0 and 1; the pairs across the first split must not matter there."""
    items = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    comparisons = np.array([[2, 0], [2, 1], [3, 0], [3, 1], [1, 0]])
    tree = PreferenceTree().fit(items, comparisons)
    assert [node.column for node in tree.nodes_] == [0, 1, None, None, None]
    assert tree.nodes_[1].n_comparisons == 1  # only 1 > 0 lies in the left child
    assert list(tree.apply(items)) == [0, 1, 2, 2]
    without_straddlers = PreferenceTree().fit(items, np.array([[2, 0], [1, 0]]))
    assert tree.leaf_mean_[2] > without_straddlers.leaf_mean_[-1]


def test_kept_straddlers_grow_the_tree_further_but_not_on_the_column_they_were_kept_across() -> None:
    items = np.array([[0.0, 0.0], [1.0, 1.0]])
    comparisons = np.array([[1, 0]])
    discarded = PreferenceTree(straddlers="discard").fit(items, comparisons)
    kept = PreferenceTree(straddlers="keep").fit(items, comparisons)
    assert [node.column for node in discarded.nodes_] == [0, None, None]
    # The pair follows its winner to the right. It is masked on column 0 there and is split again, on column 1.
    assert [node.column for node in kept.nodes_] == [0, None, 1, None, None]
    assert kept.n_leaves_ == 3


def test_a_categorical_split_takes_the_best_of_all_subsets_at_once() -> None:
    """red wins twice, green loses once and blue loses once: red against the rest scores 2."""
    items = np.array([[0.0], [1.0], [2.0]])
    root = root_of(items, np.array([[0, 1], [0, 2]]), [COLOUR])
    assert (root.left_levels, root.score) == ((0,), -2)


def test_of_two_left_sets_as_small_the_one_with_the_lowest_code_is_taken() -> None:
    items = np.array([[0.0], [1.0]])
    assert root_of(items, np.array([[1, 0]]), [COLOUR]).left_levels == (0,)
    assert root_of(items, np.array([[0, 1]]), [COLOUR]).left_levels == (0,)


def test_a_fourth_category_in_the_region_stops_the_split_unless_only_the_pairs_count() -> None:
    items = np.array([[0.0], [1.0], [2.0], [3.0]])
    comparisons = np.array([[0, 1], [0, 2]])  # nothing is known of the fourth item
    assert root_of(items, comparisons, [COLOUR]).column is None
    assert root_of(items, comparisons, [COLOUR], categories_of="pairs").left_levels == (0,)
    assert root_of(items, comparisons, [COLOUR], max_categories=None).left_levels == (0,)


def test_a_category_never_seen_falls_right() -> None:
    tree = PreferenceTree([COLOUR]).fit(np.array([[0.0], [1.0]]), np.array([[0, 1]]))
    assert tree.nodes_[0].left_levels == (0,)
    assert tree.apply(np.array([[0.0], [1.0], [2.0], [3.0]])).tolist() == [0, 1, 1, 1]


def test_missing_values_take_the_side_that_scores_better_and_left_where_both_are_equal() -> None:
    items = np.array([[0.0], [1.0], [np.nan]])
    missing_loses = root_of(items, np.array([[1, 0], [1, 2]]))
    missing_wins = root_of(items, np.array([[1, 0], [2, 0]]))
    assert (missing_loses.missing_left, missing_loses.score) == (True, 2)
    assert (missing_wins.missing_left, missing_wins.score) == (False, 2)
    assert root_of(items, np.array([[1, 0], [2, 0], [1, 2]])).missing_left is True


def test_missing_alone_is_no_level_to_split_off() -> None:
    items = np.array([[1.0], [np.nan]])
    assert root_of(items, np.array([[0, 1]])).column is None
    assert root_of(np.array([[1.0], [1.0], [np.nan]]), np.array([[0, 2]]), [COLOUR]).column is None


def test_when_missing_opposes_all_categories_the_least_decisive_one_joins_it() -> None:
    """red +2, green +1, missing -3: red and green may not both go left, so green joins the missing: score 2."""
    items = np.array([[0.0], [1.0], [np.nan]])
    root = root_of(items, np.array([[0, 2], [0, 2], [1, 2]]), [COLOUR])
    assert (root.left_levels, root.missing_left, abs(root.score)) == ((0,), False, 2)


def test_a_multi_hot_feature_is_split_level_by_level() -> None:
    columns = [
        Column(name=f"risk={level}", feature="risk", kind=FeatureKind.BINARY, levels=("no", "yes"))
        for level in ("fall", "fever")
    ]
    items = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    comparisons = np.array([[2, 0], [3, 1], [2, 1], [3, 0], [3, 2], [1, 0]])  # fever outweighs fall
    tree = PreferenceTree(columns).fit(items, comparisons)
    assert describe_split(tree.nodes_[0], columns) == ("risk=fever", "no", "yes")
    assert tree.score(items, comparisons) == 1.0


def test_growth_limits_stop_growth() -> None:
    rng = np.random.default_rng(0)
    items = rng.normal(size=(40, 3))
    comparisons = np.array([(i, j) for i in range(40) for j in range(40) if i != j and items[i].sum() > items[j].sum()])
    whole = PreferenceTree().fit(items, comparisons)
    assert PreferenceTree(max_depth=2).fit(items, comparisons).depth_ == 2 < whole.depth_
    large = PreferenceTree(min_samples_split=50).fit(items, comparisons)
    assert all(node.n_comparisons >= 50 for node in large.nodes_ if node.leaf is None)
    assert large.n_leaves_ < whole.n_leaves_
    sure = PreferenceTree(min_score=0.3).fit(items, comparisons)
    assert all(abs(node.score) >= 0.3 * node.n_comparisons for node in sure.nodes_ if node.leaf is None)


def test_no_comparisons_give_one_leaf_of_utility_zero() -> None:
    tree = PreferenceTree().fit(LINE, np.zeros((0, 2), dtype=int))
    assert tree.predict(LINE).tolist() == [0.0] * 4
    assert tree.leaf_covariance_.shape == (1, 1)


def test_contradictions_leave_one_leaf() -> None:
    assert PreferenceTree().fit(LINE, np.array([[0, 1], [1, 0]])).n_leaves_ == 1


def test_neighbouring_floats_are_still_told_apart() -> None:
    items = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert PreferenceTree().fit(items, np.array([[1, 0]])).score(items, np.array([[1, 0]])) == 1.0


def test_a_planted_rule_is_recovered() -> None:
    """The third column matters most and the first one less; both are found, with thresholds close to the rule."""
    rng = np.random.default_rng(1)
    items = rng.uniform(size=(300, 4))
    utility = 2.0 * (items[:, 2] < 0.4) + (items[:, 0] > 0.7)
    pairs = rng.integers(0, 300, (4000, 2))
    pairs = pairs[utility[pairs[:, 0]] != utility[pairs[:, 1]]]
    comparisons = np.where((utility[pairs[:, 0]] > utility[pairs[:, 1]])[:, None], pairs, pairs[:, ::-1])
    tree = PreferenceTree(max_depth=2).fit(items, comparisons)
    assert tree.nodes_[0].column == 2
    assert tree.nodes_[0].threshold == pytest.approx(0.4, abs=0.01)
    assert {tree.nodes_[node].column for node in (tree.nodes_[0].left, tree.nodes_[0].right)} == {0}
    assert tree.score(items, comparisons) == 1.0


@given(pairwise_data())
@settings(max_examples=60, deadline=None)
def test_json_gives_back_an_equal_tree_to_the_last_bit(data: PairwiseData) -> None:
    tree = PreferenceTree(data.columns, straddlers="keep", ratio=0.3).fit(data.items, data.comparisons)
    document = json.loads(json.dumps(tree.to_dict()))
    again = PreferenceTree.from_dict(document)
    assert again.to_dict() == tree.to_dict()
    assert (again.predict(data.items) == tree.predict(data.items)).all()
    assert (again.predict_proba(data.items, data.comparisons) == tree.predict_proba(data.items, data.comparisons)).all()


@given(pairwise_data())
@settings(max_examples=60, deadline=None)
def test_probabilities_are_skew_symmetric_and_even_within_a_leaf(data: PairwiseData) -> None:
    tree = PreferenceTree(data.columns).fit(data.items, data.comparisons)
    forward = tree.predict_proba(data.items, data.comparisons)
    np.testing.assert_allclose(forward + tree.predict_proba(data.items, data.comparisons[:, ::-1]), 1.0, atol=1e-12)
    leaf = tree.apply(data.items)[data.comparisons]
    assert (forward[leaf[:, 0] == leaf[:, 1]] == 0.5).all()


@given(pairwise_data(), pairwise_data(), st.sampled_from(["lowest", "widest_gap", "random"]))
@settings(max_examples=100, deadline=None)
def test_a_tree_does_not_depend_on_which_others_are_fitted_with_it(
    one: PairwiseData, other: PairwiseData, tie_break: TieBreak
) -> None:
    if one.columns != other.columns:
        return
    items = np.vstack([one.items, other.items])
    comparisons = np.vstack([one.comparisons, other.comparisons + len(one.items)])
    tree_of_item = np.repeat([0, 1], [len(one.items), len(other.items)])
    together = PreferenceTrees(one.columns, tie_break=tie_break).fit(items, comparisons, tree_of_item, seeds=[5, 6])
    utility = together.predict(items, tree_of_item)
    for data, seed, rows in ((one, 5, slice(0, len(one.items))), (other, 6, slice(len(one.items), None))):
        alone = PreferenceTree(data.columns, tie_break=tie_break, random_state=seed).fit(data.items, data.comparisons)
        np.testing.assert_allclose(alone.predict(data.items), utility[rows], atol=1e-9)


def test_three_accuracies_count_a_tie_as_half_wrong_and_undecided() -> None:
    items = np.array([[0.0], [1.0], [1.0]])
    tree = PreferenceTree().fit(items, np.array([[1, 0]]))
    accuracy, strict, decided = (
        float(v[0]) for v in tree.accuracies(items, np.array([[1, 0], [0, 2], [1, 2], [2, 1]]))
    )
    assert (accuracy, strict, decided) == (0.5, 0.25, 0.5)


def test_text_export_reads_like_the_tree() -> None:
    tree = PreferenceTree([column("x0", FeatureKind.BINARY)]).fit(np.array([[0.0], [1.0]]), np.array([[1, 0]]))
    root, no, yes = tree.to_text().splitlines()
    assert root == "x0?  (1 comparison, score +1)"
    assert no.startswith("  no: utility -0.")
    assert no.endswith("rank 2  (1 item)")
    assert yes.startswith("  yes: utility +0.")
    assert "rank 1" in yes


def test_the_path_to_a_leaf_names_the_nodes_from_the_root() -> None:
    tree = PreferenceTree().fit(LINE, UPWARD)
    path = path_to(tree.nodes_, tree.n_leaves_ - 1)
    assert path[0] == 0
    assert tree.nodes_[path[-1]].leaf == tree.n_leaves_ - 1
    with pytest.raises(KeyError):
        path_to(tree.nodes_, 99)


def test_scikit_learn_can_clone_it() -> None:
    tree = PreferenceTree(numeric_columns(["a"]), max_depth=3, tie_break="random")
    assert clone(tree).get_params() == tree.get_params()


@pytest.mark.parametrize(
    ("items", "comparisons", "complaint"),
    [
        ([1.0, 2.0], [[0, 1]], "must be a matrix"),
        ([[1.0], [np.inf]], [[0, 1]], "1 infinite values, the first in row 1"),
        ([[1.0], [2.0]], [[0, 2]], r"1 comparisons name items outside 0\.\.1, the first five in rows \[0\]"),
        ([[1.0], [2.0]], [[0, 1], [1, 1]], r"set an item against itself, the first five in rows \[1\]"),
        ([[1.0], [2.0]], [[0.0, 1.0]], "must be integers"),
        ([[1.0], [2.0]], [[0, 1, 1]], "must be integers"),
    ],
)
def test_impossible_input_is_refused_by_name(items: list, comparisons: list, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        PreferenceTree().fit(items, comparisons)


def test_columns_that_do_not_fit_the_items_are_refused() -> None:
    with pytest.raises(ValueError, match="2 columns are described, items have 1"):
        PreferenceTree(numeric_columns(["a", "b"])).fit(LINE, UPWARD)
    with pytest.raises(ValueError, match="whole numbers from zero"):
        PreferenceTree([COLOUR]).fit(np.array([[0.5], [1.0]]), np.array([[0, 1]]))
    multi_hot = Column(name="risks", feature="risks", kind=FeatureKind.MULTI_HOT, levels=("a", "b"))
    with pytest.raises(ValueError, match="one binary column per level: risks"):
        PreferenceTree([multi_hot]).fit(LINE, UPWARD)


def test_trees_refuse_a_comparison_across_two_of_them_and_another_format() -> None:
    with pytest.raises(ValueError, match="1 comparisons join items of two trees, the first is row 1"):
        PreferenceTrees().fit(LINE, np.array([[0, 1], [0, 3]]), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="not a preference tree"):
        PreferenceTree.from_dict({"format": "something else"})
