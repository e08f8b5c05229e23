"""Numbers at the edge: neighbouring floats, many categories, large codes, small ratios, pins on many comparisons."""

from __future__ import annotations

import itertools
from time import process_time

import numpy as np
import pytest

from models.records.features import Column, FeatureKind
from models.trees.editing import pin_order
from models.trees.forest import PreferenceForest
from models.trees.growth import grow
from models.trees.preference_tree import PreferenceTree
from models.trees.user_tree import UserTree

KIND = (Column(name="kind", feature="kind", kind=FeatureKind.CATEGORICAL),)


@pytest.mark.parametrize("low", [1.0, np.nextafter(1.0, 0.0), 0.0, -1.0, 1e-300, 1e100])
def test_neighbouring_floats_are_split_with_an_item_on_each_side(low: float) -> None:
    values = np.array([[low], [np.nextafter(low, np.inf)]])
    tree, users = PreferenceTree().fit(values, [[1, 0]]), UserTree().fit(values, [[0, 1], [1, 0]], [0, 1])
    for found in (tree, users):
        assert [node.n_items for node in found.nodes_] == [2, 1, 1]
        assert found.apply(values).tolist() == [0, 1]


def groups(n_levels: int, n_users: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Users of a third of the categories prefer the first item of each pair, all others the second."""
    rng = np.random.default_rng(0)
    level = rng.permutation(np.arange(n_users) % n_levels)
    users = np.repeat(np.arange(n_users), 10)
    low = rng.integers(40, size=len(users))
    pairs = np.stack([low, low + 1 + rng.integers(9, size=len(users))], axis=1)
    swapped = level[users] % 3 != 0
    return level[:, None].astype(float), np.where(swapped[:, None], pairs[:, ::-1], pairs), users


def test_a_user_tree_of_400_categories_takes_no_longer_than_a_second_and_finds_the_groups() -> None:
    level, comparisons, users = groups(400, 1600)
    start = process_time()
    tree = UserTree(KIND, max_depth=1).fit(level, comparisons, users)
    assert process_time() - start < 1.0
    third = tuple(range(0, 400, 3))
    assert tree.nodes_[0].left_levels in (third, tuple(sorted(set(range(400)) - set(third))))
    assert tree.searched_ == {0}


@pytest.mark.parametrize("seed", range(3))
def test_a_local_search_ends_where_no_single_move_gains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level, users = rng.integers(12, size=(60, 1)).astype(float), rng.integers(60, size=400)
    level[rng.random(60) < 0.1] = np.nan
    low = rng.integers(6, size=400)
    comparisons = np.stack([low, low + 1], axis=1)[np.arange(400)[:, None], rng.permuted([[0, 1]] * 400, axis=1)]
    [root, *_] = UserTree(KIND, max_depth=1).fit(level, comparisons, users).nodes_

    def gain(left: set[int]) -> int:
        goes_left = np.isnan(level[:, 0]) | np.isin(level[:, 0], sorted(left))
        signed = np.where(comparisons[:, 0] < comparisons[:, 1], 1, -1)
        sides = [
            np.bincount(low[goes_left[users] == side], weights=signed[goes_left[users] == side]) for side in (0, 1)
        ]
        return int(sum(np.abs(side).sum() for side in sides))

    assert root.left_levels is not None
    chosen = set(root.left_levels)
    assert root.score == gain(chosen)
    for moved in range(12):
        assert gain(chosen ^ {moved}) <= root.score


@pytest.mark.parametrize("code", [2e9, 2.0**20])
def test_a_code_too_large_to_count_up_to_is_refused(code: float) -> None:
    with pytest.raises(ValueError, match=r"column kind: .* whole numbers from zero to 1048575 .*, found (20|1048576)"):
        PreferenceTree(KIND).fit([[0.0], [code]], [[0, 1]])


def test_a_code_beyond_the_levels_is_refused_in_fits_and_predictions() -> None:
    kind = (Column(name="kind", feature="kind", kind=FeatureKind.CATEGORICAL, levels=("a", "b")),)
    complaint = "column kind: a categorical column holds whole numbers from zero to 1 .*, found 2"
    for model in (PreferenceTree(kind), PreferenceForest(kind, n_trees=2)):
        with pytest.raises(ValueError, match=complaint):
            model.fit([[0.0], [2.0]], [[0, 1]])
        with pytest.raises(ValueError, match=complaint):
            model.fit([[0.0], [1.0]], [[0, 1]]).predict([[2.0]])


def test_the_largest_code_costs_neither_memory_nor_another_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, pairs = np.array([[0.0], [1.0], [2.0]]), [[0, 1], [2, 1], [0, 2]]
    far = np.where(codes == 2.0, 2.0**20 - 1, codes)
    models = [PreferenceForest(KIND, n_trees=5, max_categories=most).fit(far, pairs) for most in (None, 3)]
    near = [PreferenceForest(KIND, n_trees=5, max_categories=most).fit(codes, pairs) for most in (None, 3)]
    monkeypatch.setattr(grow, "MOST_CELLS", 1)
    near += [PreferenceForest(KIND, n_trees=5, max_categories=3).fit(codes, pairs)]
    expected = near[0].predict(codes).tolist()
    assert all(model.predict(far).tolist() == expected for model in models)
    assert all(model.predict(codes).tolist() == expected for model in near)


@pytest.mark.parametrize("ratio", [1e-4, 1e-16, 1e-300, 5e-324])
def test_a_ratio_so_small_that_errors_would_drown_the_variance_is_refused(ratio: float) -> None:
    for model in (PreferenceTree(ratio=ratio), PreferenceForest(ratio=ratio)):
        with pytest.raises(ValueError, match=r"The 'ratio' parameter of Preference\w+ must be a float in the range"):
            model.fit([[0.0], [1.0]], [[0, 1]])


def test_the_smallest_and_a_large_ratio_keep_their_standard_deviations() -> None:
    def sd(ratio: float) -> np.ndarray:
        tree = PreferenceTree(ratio=ratio).fit([[0.0], [1.0]], [[0, 1], [0, 1], [1, 0]] * 30_000)
        return np.sqrt(np.diag(tree.leaf_covariance_))

    assert sd(1e-3) == pytest.approx(sd(1.0), rel=1e-4)  # so many comparisons leave the prior nothing to say
    assert sd(1e15) == pytest.approx([np.sqrt(0.5e-15)] * 2, rel=1e-4)


@pytest.mark.parametrize("n_comparisons", [1_000, 100_000])
def test_a_pin_holds_to_the_last_bit_however_many_comparisons_speak_against_it(n_comparisons: int) -> None:
    rng = np.random.default_rng(1)
    items, left = rng.normal(size=(100, 2)), rng.integers(100, size=n_comparisons)
    right = (left + 1 + rng.integers(99, size=n_comparisons)) % 100
    chance = 1 / (1 + np.exp(-2 * (items[left] - items[right]) @ [1.0, 0.5]))
    wins = rng.random(n_comparisons) < chance
    pairs = np.where(wins[:, None], np.stack([left, right], axis=1), np.stack([right, left], axis=1))
    tree = PreferenceTree(max_depth=3).fit(items, pairs)
    order = np.argsort(tree.leaf_mean_)
    for better, worse in itertools.pairwise(order[:3].tolist()):
        tree = pin_order(tree, better, worse, items, pairs)
    assert len(tree.pins_) == 2
    assert all(tree.leaf_mean_[better] >= tree.leaf_mean_[worse] for better, worse in tree.pins_)
    assert tree.leaf_mean_.sum() == pytest.approx(0.0, abs=1e-9)
