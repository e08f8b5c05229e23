"""Editing a tree by hand: the edit stays, everything below it is counted again, and pins hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult, approx_fprime, minimize
from scipy.stats import norm

from models.gaussian.laplace import negative_log_posterior
from models.trees.editing import merge, move_threshold, pin_order
from models.trees.leaf_fit import count_pairs_of_leaves, prior_factor
from models.trees.preference_tree import PreferenceTree
from tests.models.strategies import PairwiseData, pairwise_data

ITEMS = np.array([[float(x), float(y)] for x, y in itertools.product(range(4), range(3))])
UTILITY = ITEMS[:, 0] * 2 + ITEMS[:, 1]
COMPARISONS = np.array([(i, j) for i, j in itertools.permutations(range(12), 2) if UTILITY[i] > UTILITY[j]])


@pytest.fixture
def tree() -> PreferenceTree:
    return PreferenceTree(max_depth=2).fit(ITEMS, COMPARISONS)


def test_a_moved_threshold_stays_and_everything_below_is_counted_again(tree: PreferenceTree) -> None:
    edited = move_threshold(tree, 0, 0.5, ITEMS, COMPARISONS)
    assert edited.nodes_[0].threshold == 0.5
    left, right = edited.nodes_[edited.nodes_[0].left], edited.nodes_[edited.nodes_[0].right]
    assert (left.n_items, right.n_items) == (3, 9)
    left_rows = np.flatnonzero(ITEMS[:, 0] < 0.5)
    assert left.n_comparisons == np.isin(COMPARISONS, left_rows).all(axis=1).sum()
    assert tree.nodes_[0].threshold != 0.5, "the tree that was edited is untouched"


@given(pairwise_data(missing=True))
@settings(max_examples=60, deadline=None)
def test_an_edit_that_changes_nothing_gives_the_same_tree(data: PairwiseData) -> None:
    tree = PreferenceTree(data.columns).fit(data.items, data.comparisons)
    for node in tree.nodes_:
        if node.threshold is not None:
            same = move_threshold(tree, node.id, node.threshold, data.items, data.comparisons)
            assert same.to_dict() == tree.to_dict()


def test_merging_the_root_leaves_one_leaf_and_merging_a_child_its_sibling(tree: PreferenceTree) -> None:
    assert merge(tree, 0, ITEMS, COMPARISONS).n_leaves_ == 1
    left = tree.nodes_[0].left
    edited = merge(tree, left, ITEMS, COMPARISONS)
    assert edited.nodes_[left].leaf == 0
    assert [node.id for node in edited.nodes_] == list(range(len(edited.nodes_)))
    assert sorted(node.leaf for node in edited.nodes_ if node.leaf is not None) == list(range(edited.n_leaves_))
    assert set(edited.apply(ITEMS)) <= set(range(edited.n_leaves_))
    assert PreferenceTree.from_dict(edited.to_dict()).to_dict() == edited.to_dict()


def test_a_pinned_order_holds_and_is_the_mode_under_it(tree: PreferenceTree) -> None:
    worst, best = int(np.argmin(tree.leaf_mean_)), int(np.argmax(tree.leaf_mean_))
    pinned = pin_order(tree, worst, best, ITEMS, COMPARISONS)
    assert pinned.leaf_mean_[worst] >= pinned.leaf_mean_[best] - 1e-9
    leaves = tree.apply(ITEMS)[COMPARISONS]
    leaves = leaves[leaves[:, 0] != leaves[:, 1]]

    def equation_10(free: np.ndarray) -> float:
        f = free.copy()
        f[worst] = f[best]  # against the evidence: the constraint is met with equality
        z = (f[leaves[:, 0]] - f[leaves[:, 1]]) / np.sqrt(2)
        return float(-norm.logcdf(z).sum() + 0.5 * tree.ratio * f @ f)

    expected = minimize(equation_10, np.zeros(tree.n_leaves_), method="BFGS", options={"gtol": 1e-8}).x
    expected[worst] = expected[best]
    np.testing.assert_allclose(pinned.leaf_mean_, expected, atol=1e-4)


@given(st.integers(0, 1000), st.sampled_from([0.1, 0.25, 4.0]))
@settings(max_examples=20, deadline=None)
def test_the_gradient_a_pin_is_found_with_is_the_slope_of_the_posterior(seed: int, ratio: float) -> None:
    tree = PreferenceTree(max_depth=2, ratio=ratio).fit(ITEMS, COMPARISONS)
    leaves = tree.apply(ITEMS)[COMPARISONS]
    leaves = leaves[leaves[:, 0] != leaves[:, 1]]

    def equation_10(f: np.ndarray) -> float:
        z = (f[leaves[:, 0]] - f[leaves[:, 1]]) / np.sqrt(2)
        return float(-norm.logcdf(z).sum() + 0.5 * ratio * f @ f)

    counts = count_pairs_of_leaves(COMPARISONS, leaf_of_item=tree.apply(ITEMS), n_leaves=tree.n_leaves_)
    f = np.random.default_rng(seed).normal(size=tree.n_leaves_)
    value, gradient = negative_log_posterior(counts, f, prior_factor(ratio))
    start, _ = negative_log_posterior(counts, np.zeros_like(f), prior_factor(ratio))
    assert value - start == pytest.approx(equation_10(f) - equation_10(np.zeros_like(f)), rel=1e-9)
    np.testing.assert_allclose(gradient, approx_fprime(f, equation_10, 1e-6), rtol=1e-4, atol=1e-4)


def test_under_a_pin_no_shift_that_obeys_it_raises_the_posterior(tree: PreferenceTree) -> None:
    worst, best = int(np.argmin(tree.leaf_mean_)), int(np.argmax(tree.leaf_mean_))
    pinned = pin_order(tree, worst, best, ITEMS, COMPARISONS)
    counts = count_pairs_of_leaves(COMPARISONS, leaf_of_item=tree.apply(ITEMS), n_leaves=tree.n_leaves_)
    _, gradient = negative_log_posterior(counts, pinned.leaf_mean_, prior_factor(tree.ratio))
    free = np.delete(gradient, [worst, best])
    np.testing.assert_allclose([*free, gradient[worst] + gradient[best]], 0.0, atol=1e-5)
    assert gradient[worst] > 0.1, "lowering the pinned leaf alone would raise the posterior"


def test_a_pin_that_the_data_obeys_changes_nothing(tree: PreferenceTree) -> None:
    worst, best = int(np.argmin(tree.leaf_mean_)), int(np.argmax(tree.leaf_mean_))
    assert (pin_order(tree, best, worst, ITEMS, COMPARISONS).leaf_mean_ == tree.leaf_mean_).all()


@given(st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_several_pins_hold_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = PreferenceTree(max_depth=2).fit(ITEMS, COMPARISONS[rng.permutation(len(COMPARISONS))[:20]])
    order = rng.permutation(tree.n_leaves_)
    for better, worse in itertools.pairwise(order):
        tree = pin_order(tree, int(better), int(worse), ITEMS, COMPARISONS)
    assert (np.diff(tree.leaf_mean_[order]) <= 1e-8).all()


def test_impossible_edits_are_refused(tree: PreferenceTree) -> None:
    leaf_node = next(node.id for node in tree.nodes_ if node.leaf is not None)
    with pytest.raises(ValueError, match=f"node {leaf_node} is a leaf"):
        merge(tree, leaf_node, ITEMS, COMPARISONS)
    with pytest.raises(ValueError, match="there is no node 99"):
        move_threshold(tree, 99, 1.0, ITEMS, COMPARISONS)
    with pytest.raises(ValueError, match="there is no leaf 99"):
        pin_order(tree, 0, 99, ITEMS, COMPARISONS)
    with pytest.raises(ValueError, match="form a circle through leaf 0"):
        pin_order(pin_order(tree, 0, 1, ITEMS, COMPARISONS), 1, 0, ITEMS, COMPARISONS)
    with pytest.raises(ValueError, match="straddlers kept"):
        merge(PreferenceTree(straddlers="keep").fit(ITEMS, COMPARISONS), 0, ITEMS, COMPARISONS)


def test_a_pin_that_the_minimiser_does_not_find_is_an_error(
    tree: PreferenceTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gives_up(*arguments: object, **options: object) -> OptimizeResult:
        found = minimize(*arguments, **options)
        return OptimizeResult(x=found.x, success=False, message="the iteration limit was reached")

    worst, best = np.argsort(tree.leaf_mean_)[[0, -1]].tolist()
    monkeypatch.setattr("models.trees.editing.minimize", gives_up)
    with pytest.raises(ValueError, match=r"no leaf values under the pins .* the iteration limit was reached"):
        pin_order(tree, worst, best, ITEMS, COMPARISONS)
