"""Value functions asked for directly: they are what explanations divide, for given references of any kind."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from models.kernels.gpm import CGPM, GPM, UPM
from models.shap.context_shap import ContextShap
from models.shap.explanation import ShapSettings, coalition_of
from models.shap.pref_shap import PrefShap
from models.trees.preference_tree import PreferenceTree

RNG = np.random.default_rng(5)
ITEMS = RNG.normal(50.0, 9.0, size=(9, 3))
CONTEXTS = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 3.0, 2.0]])
DUELS, IN_CONTEXT = np.array([[0, 1], [5, 2], [7, 8]]), np.array([0, 3, 2])
NEW_ITEMS, NEW_CONTEXTS = RNG.normal(50.0, 9.0, size=(6, 3)), RNG.normal(size=(5, 3))
WEIGHTS = np.array([1.0, 2.0, 0.0, 4.0, 0.5, 1.0])
SETTINGS = [ShapSettings(regularisation=0.01), ShapSettings(reference="interventional")]


def skew(rng: np.random.Generator, *shape: int) -> np.ndarray:
    half = rng.normal(size=shape)
    return half - np.swapaxes(half, -1, -2)


def gpm() -> GPM:
    rng = np.random.default_rng(0)
    return GPM.from_dual(ITEMS, skew(rng, 9, 9), utility=rng.normal(size=9), lengthscales=12.0)


def upm() -> UPM:
    return UPM.from_dual(ITEMS, np.random.default_rng(1).normal(size=9), lengthscales=12.0)


def cgpm() -> CGPM:
    rng = np.random.default_rng(2)
    return CGPM.from_dual(
        ITEMS, CONTEXTS, skew(rng, 4, 9, 9), utility=rng.normal(size=(4, 9)), lengthscales=12.0,
        context_lengthscales=1.5, context_shares=[4, 3, 2, 1],
    )  # fmt: skip


Nu = Callable[[Sequence[str]], np.ndarray]


def shapley(nu: Nu, players: Sequence[str]) -> np.ndarray:
    """Shapley values from the value function of every coalition, straight from the definition, (t, d)."""
    d = len(players)
    coalitions = [frozenset(c) for size in range(d + 1) for c in itertools.combinations(players, size)]
    values = {coalition: nu(sorted(coalition)) for coalition in coalitions}
    weight = [math.factorial(s) * math.factorial(d - s - 1) / math.factorial(d) for s in range(d)]
    return np.stack(
        [
            sum(weight[len(c)] * (values[c | {j}] - values[c]) for c in coalitions if j not in c)
            for j in players
        ],
        axis=1,
    )  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=["observational", "interventional"])
@pytest.mark.parametrize("make", [gpm, upm, cgpm])
def test_value_functions_of_all_coalitions_give_the_values_that_explanations_report(make, settings):
    explainer = PrefShap(make(), NEW_ITEMS, weights=WEIGHTS, settings=settings)
    found = explainer.duels(ITEMS, DUELS)
    expected = shapley(lambda names: explainer.value_function(names, ITEMS, DUELS), found.players)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.values.sum(axis=1), found.full - found.empty, rtol=0, atol=1e-12)
    np.testing.assert_allclose(explainer.value_function([], ITEMS, DUELS), found.empty, rtol=0, atol=1e-12)
    assert np.abs(found.values).min() > 1e-3


@pytest.mark.parametrize("settings", SETTINGS, ids=["observational", "interventional"])
@pytest.mark.parametrize("contexts", [None, NEW_CONTEXTS])
def test_value_functions_of_context_features_give_the_values_that_explanations_report(contexts, settings):
    explainer = ContextShap(cgpm(), contexts, settings=settings)
    found = explainer.duels(ITEMS, DUELS, CONTEXTS, IN_CONTEXT)
    expected = shapley(lambda names: explainer.value_function(names, ITEMS, DUELS, CONTEXTS, IN_CONTEXT), found.players)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.values.sum(axis=1), found.full - found.empty, rtol=0, atol=1e-12)
    assert np.abs(found.values).min() > 1e-3


@pytest.mark.parametrize("settings", SETTINGS, ids=["observational", "interventional"])
@pytest.mark.parametrize("make", [gpm, upm, cgpm])
def test_a_value_function_turns_with_the_duel(make, settings):
    explainer = PrefShap(make(), NEW_ITEMS, settings=settings)
    for coalition in itertools.product([False, True], repeat=3):
        one, turned = (explainer.value_function(np.array(coalition), ITEMS, pairs) for pairs in (DUELS, DUELS[:, ::-1]))
        np.testing.assert_allclose(one, -turned, rtol=0, atol=1e-12)


def test_a_coalition_is_named_or_given_as_booleans():
    explainer = PrefShap(gpm(), ITEMS, players={"both": [0, 2], "rest": [1]})
    named = explainer.value_function(["rest"], ITEMS, DUELS)
    np.testing.assert_array_equal(explainer.value_function(np.array([False, True]), ITEMS, DUELS), named)
    np.testing.assert_array_equal(explainer.value_function(("rest",), ITEMS, DUELS), named)
    assert not np.allclose(explainer.value_function(["both"], ITEMS, DUELS), named)


@pytest.mark.parametrize("coalition", [["age"], "x0", [True], [0, 1, 1], [[True, False, True]], [0.5], None])
def test_a_coalition_that_is_neither_is_refused(coalition):
    with pytest.raises(ValueError, match=r"coalition must hold names of players or 3 booleans|no player age among x0"):
        coalition_of(coalition, ["x0", "x1", "x2"])


def test_the_interventional_value_function_is_the_mean_over_pairs_of_reference_items():
    explainer = PrefShap(gpm(), NEW_ITEMS, weights=WEIGHTS, settings=SETTINGS[1])
    one, other = NEW_ITEMS.copy(), NEW_ITEMS.copy()
    one[:, 1], other[:, 1] = ITEMS[5, 1], ITEMS[2, 1]
    pairs = np.array(list(itertools.product(range(6), range(6, 12))))
    preference = gpm().decision_function(np.concatenate([one, other]), pairs).reshape(6, 6)
    share = WEIGHTS / WEIGHTS.sum()
    assert explainer.value_function(["x1"], ITEMS, [[5, 2]]) == pytest.approx([share @ preference @ share], abs=1e-12)


def test_given_reference_contexts_and_their_weights_are_the_expected_context():
    """Interventional: if only the first feature of a context is known, the others come from the reference."""
    model, weights = cgpm(), np.array([1.0, 0.0, 3.0, 2.0, 0.5])
    explainer = ContextShap(model, NEW_CONTEXTS, weights=weights, settings=SETTINGS[1])
    filled = NEW_CONTEXTS.copy()
    filled[:, 0] = CONTEXTS[3, 0]
    preference = model.decision_function(ITEMS, np.tile(DUELS[1], (5, 1)), filled, np.arange(5))
    found = explainer.value_function(["x0"], ITEMS, DUELS[1:2], CONTEXTS, [3])
    assert found == pytest.approx([weights @ preference / weights.sum()], abs=1e-12)
    plain = ContextShap(model, NEW_CONTEXTS, settings=SETTINGS[1])
    assert plain.value_function(["x0"], ITEMS, DUELS[1:2], CONTEXTS, [3]) == pytest.approx(
        [preference.mean()], abs=1e-12
    )


@pytest.mark.parametrize("settings", SETTINGS, ids=["observational", "interventional"])
def test_reference_contexts_that_coincide_count_together_and_those_of_no_weight_not_at_all(settings):
    model, duels = cgpm(), (ITEMS, DUELS, CONTEXTS, IN_CONTEXT)
    repeated = ContextShap(model, np.concatenate([CONTEXTS, CONTEXTS[:2]]), settings=settings).duels(*duels)
    weighted = ContextShap(model, CONTEXTS, weights=[2, 2, 1, 1], settings=settings).duels(*duels)
    np.testing.assert_allclose(repeated.values, weighted.values, rtol=0, atol=1e-12)
    without = ContextShap(model, CONTEXTS[[0, 2]], weights=[3, 1], settings=settings).duels(*duels)
    none = ContextShap(model, CONTEXTS, weights=[3, 0, 1, 0], settings=settings).duels(*duels)
    np.testing.assert_allclose(none.values, without.values, rtol=0, atol=1e-12)


def test_items_are_explained_in_the_mean_over_given_contexts():
    model, weights = cgpm(), np.array([1.0, 0.0, 3.0, 2.0, 0.5])
    found = PrefShap(model, ITEMS, contexts=NEW_CONTEXTS, context_weights=weights).duels(ITEMS, DUELS)
    each = [PrefShap(model, ITEMS, contexts=[context]).duels(ITEMS, DUELS) for context in NEW_CONTEXTS]
    share = weights / weights.sum()
    expected = sum(part * one.values for part, one in zip(share, each, strict=True))
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    scores = [model.decision_function(ITEMS, DUELS, NEW_CONTEXTS, np.full(3, at)) for at in range(5)]
    np.testing.assert_allclose(found.score, share @ np.array(scores), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reference": "marginal"}, "'reference' parameter of ShapSettings must be a str among"),
        ({"regularisation": 0.0}, "'regularisation' parameter"),
        ({"regularisation": np.nan}, "'regularisation' parameter"),
        ({"regularisation": np.inf}, "'regularisation' parameter"),
        ({"budget": -1.0}, "'budget' parameter"),
        ({"budget": np.nan}, "'budget' parameter"),
        ({"seed": 0.5}, "'seed' parameter"),
        ({"seed": -1}, "'seed' parameter"),
        ({"jobs": 0}, "'jobs' parameter"),
    ],
)
def test_impossible_settings_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        ShapSettings(**settings)


@pytest.mark.parametrize("weights", [[1.0], [0.0] * 9, [-1.0] + [1.0] * 8, [np.nan] + [1.0] * 8, [np.inf] + [1.0] * 8])
def test_weights_that_cannot_be_are_refused(weights):
    with pytest.raises(ValueError, match="weights must be 9 finite numbers, none negative and not all zero"):
        PrefShap(gpm(), ITEMS, weights=weights)
    with pytest.raises(ValueError, match="weights must be 4 finite numbers"):
        ContextShap(cgpm(), weights=weights)
    with pytest.raises(ValueError, match="context_weights must be 4 finite numbers"):
        PrefShap(cgpm(), ITEMS, context_weights=weights)


def test_a_model_that_is_not_fitted_is_not_explained():
    for model in (GPM(), UPM(), CGPM()):
        with pytest.raises(NotFittedError):
            PrefShap(model, ITEMS)
    with pytest.raises(NotFittedError):
        ContextShap(CGPM())


def test_other_models_are_not_explained():
    tree = PreferenceTree().fit(ITEMS, DUELS)
    with pytest.raises(TypeError, match="PrefShap explains a GPM, CGPM or UPM, not a PreferenceTree"):
        PrefShap(tree, ITEMS)
    with pytest.raises(TypeError, match="ContextShap explains a CGPM, not a GPM"):
        ContextShap(gpm())


def test_contexts_must_be_those_of_the_duels():
    with pytest.raises(ValueError, match="context_of must be integers"):
        ContextShap(cgpm()).duels(ITEMS, DUELS, CONTEXTS, [0.9, 1.0, 2.0])
    with pytest.raises(ValueError, match="2 columns"):
        ContextShap(cgpm(), CONTEXTS[:, :2])
    with pytest.raises(ValueError, match="2 columns"):
        PrefShap(gpm(), ITEMS[:, :2])


@pytest.mark.parametrize("columns", [["x0", 1], [0.0, 1.0]])
def test_players_are_made_of_column_numbers(columns: list) -> None:
    items = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="each of the 2 columns must belong to exactly one player"):
        PrefShap(GPM().fit(items, [[0, 1]]), items, players={"both": columns})
