"""Support of splits against bootstraps regrown one by one, and Proposition 1's bound against simulated scores."""

from __future__ import annotations

import numpy as np
import pytest

from models.records.features import Column, FeatureKind
from models.trees.preference_tree import PreferenceTree
from models.trees.support import score_bound, split_support


def matches(items: np.ndarray, utility: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    pairs = np.stack([rng.integers(len(items), size=n), rng.integers(len(items), size=n)], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    wins = utility[pairs[:, 0]] - utility[pairs[:, 1]] + rng.normal(size=len(pairs)) > 0
    return np.where(wins[:, None], pairs, pairs[:, ::-1])


def test_planted_splits_have_full_support_and_noise_has_little() -> None:
    items = np.random.default_rng(1).integers(2, size=(80, 3)).astype(float)
    utility = 4.0 * items[:, 0] + 2.0 * items[:, 1]
    comparisons = matches(items, utility, 2_000)
    tree = PreferenceTree(max_depth=3).fit(items, comparisons)
    support = split_support(tree, items, comparisons, n_bootstraps=50)
    assert support.keys() == {node.id for node in tree.nodes_ if node.leaf is None}
    by_depth = {depth: [support[n.id] for n in tree.nodes_ if n.depth == depth and n.leaf is None] for depth in (0, 1)}
    assert tree.nodes_[0].column == 0
    assert all(found.same == found.feature == 1.0 for depth in (0, 1) for found in by_depth[depth])
    noise = matches(items, np.zeros(80), 200)
    noisy = PreferenceTree(max_depth=1).fit(items, noise)
    assert split_support(noisy, items, noise)[0].same < 0.9


def test_support_of_the_root_is_that_of_trees_regrown_from_bootstraps() -> None:
    items = np.random.default_rng(2).normal(size=(30, 2))
    comparisons = matches(items, items[:, 0] + 0.9 * items[:, 1], 120)
    tree = PreferenceTree(max_depth=1).fit(items, comparisons)
    support = split_support(tree, items, comparisons, n_bootstraps=1_000)[0]
    rng = np.random.default_rng(3)
    columns, thresholds = [], []
    for _ in range(400):
        sample = comparisons[rng.integers(len(comparisons), size=len(comparisons))]
        root = PreferenceTree(max_depth=1, tie_break="random", random_state=int(rng.integers(2**31)))
        node = root.fit(items, sample).nodes_[0]
        columns.append(node.column)
        thresholds.append(node.threshold)
    same_column = np.array(columns) == tree.nodes_[0].column
    assert 0.2 < support.feature < 0.98
    assert support.feature == pytest.approx(same_column.mean(), abs=0.1)
    low, high = np.quantile(np.array(thresholds)[same_column], [0.05, 0.95])
    assert support.thresholds == pytest.approx((low, high), abs=0.3)


def test_one_step_away_is_the_same_split_and_two_steps_are_not() -> None:
    # All pairs of four values: a tree that splits at 1.5 sees its bootstraps split there alone.
    items = np.arange(4.0)[:, None]
    clear = np.array([[2, 0], [3, 0], [2, 1], [3, 1]] * 25)
    tree = PreferenceTree().fit(items, clear)
    assert tree.nodes_[0].threshold == 1.5
    for moved, same in ((0.5, 1.0), (1.5, 1.0), (2.5, 1.0)):
        data = tree.to_dict()
        data["nodes"][0]["threshold"] = moved
        assert split_support(PreferenceTree.from_dict(data), items, clear, n_bootstraps=20)[0].same == same
    wide = np.arange(8.0)[:, None]
    pairs = np.array([[high, low] for high in (4, 5, 6, 7) for low in (0, 1, 2, 3)] * 5)
    data = PreferenceTree(max_depth=1).fit(wide, pairs).to_dict()
    assert data["nodes"][0]["threshold"] == 3.5
    data["nodes"][0]["threshold"] = 1.5
    assert split_support(PreferenceTree.from_dict(data), wide, pairs, n_bootstraps=20)[0].same == 0.0


def test_categories_and_missing_values_are_supported_as_they_are_grown() -> None:
    columns = (
        Column(name="kind", feature="kind", kind=FeatureKind.CATEGORICAL, levels=("a", "b", "c")),
        Column(name="size", feature="size", kind=FeatureKind.NUMERIC),
    )
    rng = np.random.default_rng(4)
    items = np.c_[rng.integers(3, size=60).astype(float), rng.normal(size=60)]
    items[::7, 1] = np.nan
    utility = np.where(items[:, 0] == 1, 5.0, 0.0)
    comparisons = matches(items, utility, 1_500)
    tree = PreferenceTree(columns, max_depth=2).fit(items, comparisons)
    assert tree.nodes_[0].left_levels is not None
    root = split_support(tree, items, comparisons, n_bootstraps=40)[0]
    assert (root.same, root.feature, root.thresholds) == (1.0, 1.0, None)


def test_a_seed_repeats() -> None:
    items = np.random.default_rng(5).normal(size=(30, 2))
    comparisons = matches(items, items[:, 0], 100)
    tree = PreferenceTree(max_depth=3).fit(items, comparisons)
    first, again = (split_support(tree, items, comparisons, n_bootstraps=20, seed=6) for _ in range(2))
    assert first == again
    assert first != split_support(tree, items, comparisons, n_bootstraps=20, seed=7)


def test_a_tree_that_keeps_straddlers_and_no_bootstraps_are_refused() -> None:
    items, comparisons = np.arange(3.0)[:, None], np.array([[1, 0], [2, 1]])
    kept = PreferenceTree(straddlers="keep").fit(items, comparisons)
    with pytest.raises(ValueError, match="discard straddlers"):
        split_support(kept, items, comparisons)
    with pytest.raises(ValueError, match="n_bootstraps"):
        split_support(PreferenceTree().fit(items, comparisons), items, comparisons, n_bootstraps=0)


@pytest.mark.parametrize("option", [{"n_bootstraps": 2.5}, {"seed": 0.5}, {"seed": -1}])
def test_options_of_support_that_are_not_valid_are_refused_by_name(option: dict) -> None:
    items, comparisons = np.arange(3.0)[:, None], np.array([[1, 0], [2, 1]])
    (name,) = option
    with pytest.raises(ValueError, match=f"The '{name}' parameter of split_support must be"):
        split_support(PreferenceTree().fit(items, comparisons), items, comparisons, **option)


def test_other_items_or_comparisons_than_those_of_the_fit_are_refused() -> None:
    items, comparisons = np.arange(4.0)[:, None], np.array([[1, 0], [3, 2], [2, 0]])
    tree = PreferenceTree().fit(items, comparisons)
    for other_items, other in ((items, comparisons[:0]), (items[:3], comparisons[[0, 2, 0]])):
        with pytest.raises(ValueError, match="the tree was fitted to 4 items and 3 comparisons, found"):
            split_support(tree, other_items, other)
    with pytest.raises(ValueError, match="no comparison reaches node"):
        split_support(tree, items, [[3, 0], [3, 0], [3, 0]])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-3, 5, 0.9), "n_comparisons"),
        ((5.5, 5, 0.9), "n_comparisons"),
        ((5, np.nan, 0.9), "n_candidates"),
        ((5, 5, 1.0), "confidence"),
        ((5, 5, np.nan), "confidence"),
    ],
)
def test_the_bound_refuses_counts_and_levels_that_are_none(arguments: tuple, name: str) -> None:
    n_comparisons, n_candidates, confidence = arguments
    with pytest.raises(ValueError, match=f"The '{name}' parameter of score_bound must be"):
        score_bound(n_comparisons, n_candidates, confidence=confidence)


def test_the_bound_is_propositions_1_worked_by_hand() -> None:
    # 2 * 4 * exp(-N e^2 / 2) = 0.05 with N = 200: e = sqrt(2 log(160) / 200) = 0.22528.
    assert score_bound(200, 4) == pytest.approx(0.22528, abs=1e-4)
    assert score_bound(200, 4, confidence=0.99) > score_bound(200, 4) > score_bound(800, 4)
    assert score_bound(1, 10) == 1.0


def test_scores_of_random_comparisons_stay_within_the_bound() -> None:
    rng = np.random.default_rng(8)
    n, thresholds = 100, 9
    bound = score_bound(n, thresholds)
    beyond = 0
    for _ in range(400):
        winner, loser = rng.integers(thresholds + 1, size=(2, n))
        at = np.arange(1, thresholds + 1)
        score = ((winner[:, None] >= at).astype(int) - (loser[:, None] >= at)).mean(axis=0)
        beyond += np.abs(score).max() >= bound
    assert beyond / 400 <= 0.05
