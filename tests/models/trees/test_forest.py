"""The forest: an average of trees of bootstraps, its uncertainty, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.exceptions import NotFittedError

from models.gaussian.laplace import count_pairs, laplace_mode
from models.trees.forest import PreferenceForest
from models.trees.leaf_fit import prior_factor
from models.trees.preference_tree import PreferenceTree
from models.trees.support import split_support


def noisy_matches(n: int, n_items: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items of three features, comparisons by a utility linear in two of them, and the probabilities behind them."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n_items, 3))
    utility = 1.5 * items[:, 0] + items[:, 1]
    pairs = np.stack([rng.integers(n_items, size=n), rng.integers(n_items, size=n)], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    probability = ndtr((utility[pairs[:, 0]] - utility[pairs[:, 1]]) / np.sqrt(2))
    wins = rng.random(len(pairs)) < probability
    return items, np.where(wins[:, None], pairs, pairs[:, ::-1]), np.where(wins, probability, 1 - probability)


def test_a_forest_of_one_tree_is_the_tree_of_its_bootstrap_sample() -> None:
    items, comparisons, _ = noisy_matches(80)
    forest = PreferenceForest(n_trees=1, leaves_from="bootstrap", random_state=7).fit(items, comparisons)
    sample = comparisons[np.random.default_rng(7).integers(len(comparisons), size=(1, len(comparisons)))[0]]
    tree = PreferenceTree(max_categories=None, tie_break="random", random_state=7).fit(items, sample)
    assert forest.predict(items) == pytest.approx(tree.predict(items))
    assert forest.apply(items)[0].tolist() == tree.apply(items).tolist()
    pairs = comparisons[:20]
    by_hand = tree.predict_proba(items, pairs)
    assert forest.predict_proba(items, pairs) == pytest.approx(by_hand)


def test_leaves_from_all_are_fitted_to_every_comparison_of_each_trees_structure() -> None:
    items, comparisons, _ = noisy_matches(80)
    forest = PreferenceForest(n_trees=3, max_depth=2).fit(items, comparisons)
    sampled = PreferenceForest(n_trees=3, max_depth=2, leaves_from="bootstrap").fit(items, comparisons)
    assert (forest.apply(items) == sampled.apply(items)).all()
    assert not np.allclose(forest.predict(items), sampled.predict(items))
    winner, loser = forest.apply(items)[0][comparisons].T
    pairs = count_pairs(np.zeros_like(winner), winner, loser, 1, int(forest.n_leaves_[0]))
    [by_hand] = laplace_mode(pairs, prior_factor(forest.ratio))
    assert forest.predict_trees(items)[0] == pytest.approx(by_hand[forest.apply(items)[0]], abs=1e-6)


def test_the_mean_averages_the_trees_and_the_covariance_includes_their_differences() -> None:
    items, comparisons, _ = noisy_matches(120)
    forest = PreferenceForest(n_trees=8).fit(items, comparisons)
    trees = forest.predict_trees(items)
    assert trees.shape == (8, len(items))
    assert forest.predict(items) == pytest.approx(trees.mean(axis=0))
    covariance = forest.covariance(items)
    assert covariance == pytest.approx(covariance.T)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9
    between = np.cov(trees.T, bias=True)
    within = covariance - between
    assert np.linalg.eigvalsh(within).min() > -1e-9
    assert (np.diag(within) > 0).all()


def test_the_standard_deviation_is_the_root_of_the_covariances_diagonal_and_shrinks_with_comparisons() -> None:
    items, comparisons, _ = noisy_matches(400)
    few, many = (PreferenceForest(n_trees=8, max_depth=3).fit(items, comparisons[:n]) for n in (40, 400))
    assert many.predict_sd(items) == pytest.approx(np.sqrt(np.diag(many.covariance(items))))
    assert many.predict_sd(items).mean() < few.predict_sd(items).mean()


def test_the_support_of_splits_is_that_of_the_tree_to_read() -> None:
    items, comparisons, _ = noisy_matches(200)
    forest = PreferenceForest(n_trees=2, max_depth=2).fit(items, comparisons)
    tree = forest.to_tree()
    found = forest.split_support(n_bootstraps=20, seed=3)
    assert found == split_support(tree, items, comparisons, n_bootstraps=20, seed=3)
    assert sorted(found) == [node.id for node in tree.nodes_ if node.leaf is None]
    with pytest.raises(ValueError, match="discard straddlers"):
        PreferenceForest(n_trees=2, straddlers="keep").fit(items, comparisons).split_support()


def test_the_forest_predicts_noisy_preferences_better_than_one_tree() -> None:
    gains, errors = [], []
    for seed in range(6):
        items, comparisons, probability = noisy_matches(1_000, seed=seed)
        train, test = comparisons[:300], comparisons[300:]
        tree = PreferenceTree(tie_break="random").fit(items, train)
        forest = PreferenceForest(n_trees=50).fit(items, train)
        gains.append(forest.score(items, test) - tree.score(items, test))
        errors.append([
            np.abs(model.predict_proba(items, test) - probability[300:]).mean() for model in (tree, forest)
        ])  # fmt: skip
    assert np.mean(gains) > 0.015
    of_tree, of_forest = np.mean(errors, axis=0)
    assert of_forest < min(0.15, of_tree - 0.02)


def test_probabilities_of_a_pair_and_its_mirror_add_up_to_one() -> None:
    items, comparisons, _ = noisy_matches(100)
    forest = PreferenceForest(n_trees=10).fit(items, comparisons)
    both = forest.predict_proba(items, comparisons) + forest.predict_proba(items, comparisons[:, ::-1])
    assert both == pytest.approx(np.ones(len(comparisons)))


def test_a_seed_repeats_and_another_differs() -> None:
    items, comparisons, _ = noisy_matches(100)
    first, again, other = (
        PreferenceForest(n_trees=5, random_state=seed).fit(items, comparisons).predict(items) for seed in (3, 3, 4)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_the_tree_to_read_is_grown_from_all_comparisons() -> None:
    items, comparisons, _ = noisy_matches(100)
    tree = PreferenceForest(n_trees=2, max_depth=3).fit(items, comparisons).to_tree()
    assert tree.to_dict() == PreferenceTree(
        max_categories=None, tie_break="random", max_depth=3
    ).fit(items, comparisons).to_dict()  # fmt: skip


def test_without_comparisons_nothing_is_preferred() -> None:
    forest = PreferenceForest(n_trees=4).fit(np.zeros((3, 2)), np.zeros((0, 2), dtype=np.int64))
    assert forest.predict([[0.0, 1.0]]).tolist() == [0.0]
    assert forest.covariance([[0.0, 1.0]])[0, 0] == pytest.approx(1 / forest.ratio)


def test_what_cannot_be_is_refused() -> None:
    items, comparisons, _ = noisy_matches(20)
    with pytest.raises(NotFittedError):
        PreferenceForest().predict(items)
    with pytest.raises(ValueError, match="n_trees"):
        PreferenceForest(n_trees=0).fit(items, comparisons)
    with pytest.raises(ValueError, match="leaves_from"):
        PreferenceForest(leaves_from="some").fit(items, comparisons)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="columns"):
        PreferenceForest(n_trees=2).fit(items, comparisons).predict(items[:, :2])
