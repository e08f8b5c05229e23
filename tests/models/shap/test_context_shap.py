"""PREF-SHAP of contexts against a slow direct evaluation of Proposition 3.3."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.kernels.gpm import CGPM
from models.shap.context_shap import ContextShap
from models.shap.explanation import ShapSettings
from models.shap.pref_shap import PrefShap

LAMBDA = 0.01
CONTEXTS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 3.0], [0.5, 3.0]])


@pytest.fixture(scope="module")
def items() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(12, 2))


@pytest.fixture(scope="module")
def context_of() -> np.ndarray:
    return np.random.default_rng(7).choice(5, size=120, p=[0.4, 0.3, 0.1, 0.1, 0.1])


@pytest.fixture(scope="module")
def pairs(items, context_of) -> np.ndarray:
    """The first feature decides, the other way round where the context's first is 1."""
    rng = np.random.default_rng(3)
    left = rng.integers(12, size=120)
    right = (left + rng.integers(1, 12, size=120)) % 12
    wins = (items[left, 0] > items[right, 0]) ^ (CONTEXTS[context_of, 0] == 1.0)
    return np.where(wins[:, None], np.stack([left, right], 1), np.stack([right, left], 1))


@pytest.fixture(scope="module")
def model(items, pairs, context_of) -> CGPM:
    return CGPM(penalty=1e-3).fit(items, pairs, CONTEXTS, context_of)


def rbf(a: np.ndarray, b: np.ndarray, scales: np.ndarray, features: list[int]) -> np.ndarray:
    gaps = (a[:, None, features] - b[None, :, features]) / np.asarray(scales)[features]
    return np.exp(-(gaps**2).sum(axis=2) / 2)


def proposition_3_3(
    model: CGPM, items: np.ndarray, pairs: np.ndarray, context_of: np.ndarray, u: np.ndarray, duel: tuple[int, int],
    coalition: list[int],
) -> float:  # fmt: skip
    """nu_S of one duel in context u, word by word: m x m matrices with one row per training match."""
    m, rest = len(pairs), [j for j in range(2) if j not in coalition]
    U, scales = CONTEXTS[context_of], model.contexts_.std(axis=0) * math.sqrt(2)
    known = rbf(U, u[None], scales, coalition)
    inverse = np.linalg.inv(rbf(U, U, scales, coalition) + m * LAMBDA * np.eye(m))
    of_context = known * (rbf(U, U, scales, rest) @ inverse @ known)
    kernel = rbf(items, items, items.std(axis=0) * math.sqrt(2), [0, 1])
    left, right = pairs.T
    one, other = duel
    xi = kernel[left, one] * kernel[right, other] - kernel[right, one] * kernel[left, other]
    preference = model.decision_function(items, pairs, CONTEXTS, context_of)
    alpha = 1 / (1 + np.exp(preference)) / (m * model.penalty)
    return float(alpha @ (of_context[:, 0] * xi))


def test_values_are_those_of_proposition_3_3_evaluated_directly(items, pairs, context_of):
    model = CGPM(penalty=1e-3, tolerance=1e-12).fit(items, pairs, CONTEXTS, context_of)
    duels, rows = [(0, 1), (5, 2), (7, 11)], [0, 4, 3]
    found = ContextShap(model, settings=ShapSettings(regularisation=LAMBDA)).duels(items, duels, CONTEXTS, rows)
    for at, (duel, row) in enumerate(zip(duels, rows, strict=True)):
        none, first, second, both = (
            proposition_3_3(model, items, pairs, context_of, CONTEXTS[row], duel, coalition)
            for coalition in ([], [0], [1], [0, 1])
        )
        expected = [(first - none + both - second) / 2, (second - none + both - first) / 2]
        np.testing.assert_allclose(found.values[at], expected, atol=1e-8)
        assert found.empty[at] == pytest.approx(none, abs=1e-8)
        assert found.full[at] == pytest.approx(both, abs=1e-8)


def test_values_turn_with_the_duel_and_sum_to_what_the_context_explains(model, items, pairs, context_of):
    explainer = ContextShap(model)
    one = explainer.duels(items, pairs, CONTEXTS, context_of)
    turned = explainer.duels(items, pairs[:, ::-1], CONTEXTS, context_of)
    np.testing.assert_allclose(one.values, -turned.values, atol=1e-10)
    np.testing.assert_allclose(one.values.sum(axis=1), one.full - one.empty, atol=1e-12)
    np.testing.assert_allclose(one.score, model.decision_function(items, pairs, CONTEXTS, context_of), atol=1e-10)


def test_the_feature_of_the_context_that_turns_preferences_round_is_found(model, items, pairs, context_of):
    explainer = ContextShap(model, settings=ShapSettings(reference="interventional"))
    importance = np.abs(explainer.duels(items, pairs, CONTEXTS, context_of).values).mean(axis=0)
    assert importance[0] > 2 * importance[1]


def test_a_context_on_average_is_the_mean_over_its_duels(model, items, pairs):
    explainer = ContextShap(model)
    average = explainer.on_average(items, pairs, CONTEXTS[:2])
    for row in range(2):
        duels = explainer.duels(items, pairs, CONTEXTS, np.full(len(pairs), row))
        np.testing.assert_allclose(average.values[row], duels.values.mean(axis=0), atol=1e-12)
        assert average.score[row] == pytest.approx(duels.score.mean(), abs=1e-12)


def test_interventional_values_are_means_over_the_matches_contexts(model, items):
    settings = ShapSettings(reference="interventional")
    found = ContextShap(model, settings=settings).duels(items, [(0, 1)], CONTEXTS, [3])

    def mean(known: list[int]) -> float:
        filled = model.contexts_.copy()
        filled[:, known] = CONTEXTS[3, known]
        preference = model.decision_function(items, [(0, 1)] * len(filled), filled, np.arange(len(filled)))
        return float(model.context_shares_ @ preference)

    none, first, second, both = mean([]), mean([0]), mean([1]), mean([0, 1])
    expected = [[(first - none + both - second) / 2, (second - none + both - first) / 2]]
    np.testing.assert_allclose(found.values, expected, atol=1e-12)


def test_other_weights_of_the_contexts_change_the_expectation_over_them(model, items):
    explainer = ContextShap(model, weights=[0, 0, 0, 1, 0], settings=ShapSettings(reference="interventional"))
    found = explainer.duels(items, [(0, 1)], CONTEXTS, [3])
    at = int(np.flatnonzero((model.contexts_ == model.contexts_[3]).all(axis=1))[0])
    expected = model.decision_function(items, [(0, 1)], model.contexts_, [at])
    np.testing.assert_allclose(found.empty, expected, atol=1e-12)


@pytest.mark.parametrize("reference", ["observational", "interventional"])
def test_contexts_count_by_their_training_matches_unless_weights_are_given(model, items, pairs, context_of, reference):
    counts = np.bincount(context_of, minlength=5)
    assert counts.max() > 3 * counts.min()
    at = [int(np.flatnonzero((row == CONTEXTS).all(axis=1))[0]) for row in model.contexts_]
    np.testing.assert_allclose(model.context_shares_, counts[at] / 120, rtol=0, atol=1e-15)
    settings = ShapSettings(reference=reference)
    duels = (items, pairs[:20], CONTEXTS, context_of[:20])
    found = ContextShap(model, settings=settings).duels(*duels)
    counted = ContextShap(model, CONTEXTS, weights=counts, settings=settings).duels(*duels)
    np.testing.assert_allclose(found.values, counted.values, rtol=0, atol=1e-12)
    alike = ContextShap(model, CONTEXTS, settings=settings).duels(*duels)
    assert np.abs(found.values - alike.values).max() > 0.01
    of_items = PrefShap(model, items, settings=settings).duels(items, pairs[:20])
    by_hand = PrefShap(model, items, contexts=CONTEXTS, context_weights=counts, settings=settings)
    np.testing.assert_allclose(of_items.values, by_hand.duels(items, pairs[:20]).values, rtol=0, atol=1e-12)


def test_a_duel_in_a_context_that_is_not_there_is_refused(model, items):
    with pytest.raises(ValueError, match=r"context_of: 1 rows outside 0..4"):
        ContextShap(model).duels(items, [(0, 1)], CONTEXTS, [5])


def test_an_average_over_no_duels_is_refused() -> None:
    items, contexts = np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]])
    model = CGPM(penalty=0.01).fit(items, [[0, 1], [1, 0]], contexts, [0, 1])
    with pytest.raises(ValueError, match="there are no duels"):
        ContextShap(model).on_average(items, [], contexts)


def test_a_context_of_weight_zero_counts_as_left_out_and_impossible_weights_are_refused() -> None:
    rng = np.random.default_rng(3)
    items, contexts = rng.normal(size=(6, 2)), rng.normal(size=(4, 2))
    left = rng.integers(6, size=40)
    pairs = np.stack([left, (left + 1 + rng.integers(5, size=40)) % 6], axis=1)
    model = CGPM(penalty=0.01).fit(items, pairs, contexts, np.arange(40) % 4)

    def values(reference: np.ndarray, weights: list[float]) -> np.ndarray:
        return ContextShap(model, reference, weights=weights).duels(items, [[0, 1]], contexts, [2]).values

    for out in range(4):
        kept = [at for at in range(4) if at != out]
        assert np.allclose(values(contexts, [float(at != out) for at in range(4)]), values(contexts[kept], [1.0] * 3))
    for weights in ([1, 1, 1, -1], [0] * 4, [1, 1, 1, np.nan], [1e308] * 4):
        with pytest.raises(ValueError, match="weights must be 4 finite numbers, none negative and not all zero"):
            ContextShap(model, contexts, weights=weights)
    with pytest.raises(ValueError, match="no rows are given"):
        ContextShap(model, contexts[:0])


def test_contexts_without_features_leave_nothing_to_explain() -> None:
    model = CGPM(penalty=0.1).fit([[0.0], [1.0]], [[0, 1]], np.zeros((1, 0)), [0])
    with pytest.raises(ValueError, match="there are no features to explain a preference by"):
        ContextShap(model)
