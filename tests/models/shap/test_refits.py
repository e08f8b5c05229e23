"""Refits: draws that depend on seed and number only, and explanations of many fits at the cost of one."""

from __future__ import annotations

import numpy as np
import pytest

from models.kernels.gpm import CGPM, GPM, UPM
from models.shap.context_shap import ContextShap
from models.shap.pref_shap import PrefShap
from models.shap.refits import item_weights, redrawn

RNG = np.random.default_rng(0)
ITEMS = RNG.normal(size=(12, 3))
PAIRS = np.array([[a, b] for a in range(12) for b in range(a)])
CONTEXTS, CONTEXT_OF = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.arange(len(PAIRS)) % 3


def test_outcomes_are_drawn_again_with_the_fitted_probabilities_and_weights_have_mean_one():
    chances = np.tile([0.9, 0.3], 2_000)
    turned, weights = redrawn(chances, seed=0, number=0)
    assert turned[::2].mean() == pytest.approx(0.1, abs=0.03)
    assert turned[1::2].mean() == pytest.approx(0.7, abs=0.04)
    assert weights.mean() == pytest.approx(1.0, abs=0.06)
    again = redrawn(chances, seed=0, number=0)
    np.testing.assert_array_equal(turned, again[0])
    assert not np.array_equal(turned, redrawn(chances, seed=0, number=1)[0])
    assert not np.array_equal(weights, redrawn(chances, seed=1, number=0)[1])


def test_matches_of_the_same_two_items_have_the_same_weight_also_where_an_item_has_several_rows():
    names, pairs = np.array([0, 1, 0, 2]), np.array([[0, 1], [1, 2], [2, 3]])
    weights = item_weights(names, pairs, seed=0, number=0)
    assert weights[0] == weights[1] != weights[2]


@pytest.mark.parametrize("model", [GPM(penalty=1e-2), GPM(penalty=1e-2, utility=1.0), UPM(penalty=1e-2)])
def test_a_weight_of_two_is_a_match_that_happened_twice(model):
    counts = np.arange(len(PAIRS)) % 3 + 1
    weighted = model.fit(ITEMS, PAIRS, weights=counts).decision_function(ITEMS, PAIRS)
    repeated = model.fit(ITEMS, np.repeat(PAIRS, counts, axis=0)).decision_function(ITEMS, PAIRS)
    np.testing.assert_allclose(weighted, repeated, atol=1e-4)


def test_weights_change_neither_the_items_that_carry_a_model_nor_the_contexts():
    plain, weighted = CGPM(penalty=1e-2, rank=6), CGPM(penalty=1e-2, rank=6)
    plain.fit(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF)
    weighted.fit(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF, weights=RNG.exponential(size=len(PAIRS)))
    np.testing.assert_array_equal(plain.items_, weighted.items_)
    np.testing.assert_array_equal(plain.context_shares_, weighted.context_shares_)
    assert not np.allclose(plain.dual_, weighted.dual_)


def test_several_fits_are_explained_together_as_they_are_alone():
    turned = PAIRS[:, ::-1]
    for kind in (GPM(penalty=1e-2), UPM(penalty=1e-2)):
        one, other = (type(kind)(penalty=1e-2).fit(ITEMS, pairs) for pairs in (PAIRS, np.vstack([turned, PAIRS[:9]])))
        together = PrefShap(one, ITEMS).duels_of([one, other], ITEMS, PAIRS[:5])
        for model, found in zip((one, other), together, strict=True):
            alone = PrefShap(model, ITEMS).duels(ITEMS, PAIRS[:5])
            np.testing.assert_allclose(found.values, alone.values, atol=1e-12)
            np.testing.assert_allclose(found.score, alone.score, atol=1e-12)
            np.testing.assert_array_equal(found.data, alone.data)


def test_several_fits_are_explained_by_contexts_together_as_they_are_alone():
    fits = [CGPM(penalty=penalty).fit(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF) for penalty in (1e-2, 1e-1)]
    duels = (ITEMS, PAIRS[:5], CONTEXTS, CONTEXT_OF[:5])
    for model, found in zip(fits, ContextShap(fits[0]).duels_of(fits, *duels), strict=True):
        np.testing.assert_allclose(found.values, ContextShap(model).duels(*duels).values, atol=1e-12)


def test_a_fit_to_other_items_or_contexts_is_not_explained_with_this_one():
    one, other = GPM().fit(ITEMS, PAIRS), GPM().fit(ITEMS + 1, PAIRS)
    with pytest.raises(ValueError, match="the same columns, carried by the same items"):
        PrefShap(one, ITEMS).duels_of([one, other], ITEMS, PAIRS)
    three = CGPM().fit(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF)
    two = CGPM().fit(ITEMS, PAIRS, CONTEXTS[:2], CONTEXT_OF % 2)
    with pytest.raises(ValueError, match="the same contexts"):
        ContextShap(three).duels_of([two], ITEMS, PAIRS, CONTEXTS, CONTEXT_OF)
