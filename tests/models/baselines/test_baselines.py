"""The plain models: what each can know, that turning a pair round turns its answer, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from models.baselines.boosting import AntisymmetricBoosting
from models.baselines.by_name import ByName
from models.baselines.coin import Coin
from models.baselines.design import Design
from models.baselines.difference_logit import DifferenceLogit
from models.baselines.majority_choice import MajorityChoice
from models.baselines.text_logit import TextLogit
from models.records.features import Column, FeatureKind

RANDOM = np.random.default_rng(0)
ITEMS = RANDOM.normal(size=(30, 2))
PAIRS = np.array([(a, b) for a, b in RANDOM.integers(30, size=(400, 2)) if a != b])
ADVANTAGE = ITEMS[PAIRS[:, 0], 0] - ITEMS[PAIRS[:, 1], 0]
WON = np.where((RANDOM.uniform(size=len(PAIRS)) < 1 / (1 + np.exp(-2 * ADVANTAGE)))[:, None], PAIRS, PAIRS[:, ::-1])
NAMES = np.arange(30)
CONTEXTS, CONTEXT_OF = np.array([[0.0], [1.0]]), np.arange(len(WON)) % 2


@pytest.mark.parametrize("model", [Coin(), DifferenceLogit(), AntisymmetricBoosting(iterations=10)])
@pytest.mark.parametrize("contexts", [(), (CONTEXTS, CONTEXT_OF)])
def test_turning_a_pair_round_turns_the_sign_of_the_preference_and_nothing_else(model, contexts):
    model.fit(ITEMS, WON, *contexts)
    one, other = (model.decision_function(ITEMS, pairs, *contexts) for pairs in (WON, WON[:, ::-1]))
    np.testing.assert_allclose(one, -other, atol=1e-12)
    chances = [model.predict_proba(ITEMS, pairs, *contexts) for pairs in (WON, WON[:, ::-1])]
    np.testing.assert_allclose(np.sum(chances, axis=0), 1.0)


@pytest.mark.parametrize("model", [ByName(), MajorityChoice()])
def test_names_turned_round_turn_the_sign_and_a_new_name_has_nothing_said_of_it(model):
    model.fit(NAMES, WON)
    one, other = (model.decision_function(NAMES, pairs) for pairs in (WON, WON[:, ::-1]))
    np.testing.assert_allclose(one, -other, atol=1e-12)
    assert model.decision_function([100, 101], [[0, 1]]) == 0.0


def test_a_logit_is_scikit_learns_on_differences_of_standardised_features():
    found = DifferenceLogit(strength=0.5).fit(ITEMS, WON)
    scaled = (ITEMS - ITEMS.mean(axis=0)) / ITEMS.std(axis=0)
    difference = scaled[WON[:, 0]] - scaled[WON[:, 1]]
    both, won = np.vstack([difference, -difference]), np.repeat([1, 0], len(WON))
    peer = LogisticRegression(C=0.25, fit_intercept=False, tol=1e-10).fit(both, won)
    np.testing.assert_allclose(found.coefficients_[0], peer.coef_[0], rtol=1e-4)


def test_a_context_can_turn_what_is_preferred_and_a_model_without_it_cannot_know():
    pairs = np.array([[1, 0], [0, 1]] * 50)
    contexts, context_of = np.array([[0.0], [1.0]]), np.arange(100) % 2
    items, column = [[0.0], [1.0]], (Column(name="wet", feature="wet", kind=FeatureKind.CATEGORICAL),)
    for model, known in ((DifferenceLogit(None, column), items), (ByName(column), [0, 1])):
        assert (
            model.fit(known, pairs, contexts, context_of).decision_function(known, pairs, contexts, context_of).min()
            > 1
        )
        without = type(model)().fit(known, pairs).decision_function(known, pairs)
        np.testing.assert_allclose(without, 0.0, atol=1e-6)


def test_boosting_learns_a_circle_that_no_utility_explains():
    items, circle = np.arange(3.0)[:, None], np.array([[0, 1], [1, 2], [2, 0]] * 40)
    assert AntisymmetricBoosting(iterations=50).fit(items, circle).decision_function(items, circle).min() > 1
    np.testing.assert_allclose(DifferenceLogit().fit(items, circle).decision_function(items, circle), 0.0, atol=1e-6)


def test_rows_of_one_name_are_one_item():
    model = ByName().fit([7, 8, 7, 8], [[0, 1], [2, 3]])
    assert model.names_.tolist() == [7, 8]
    assert model.decision_function([8, 7], [[1, 0]]) > 0


def test_a_missing_value_is_a_feature_and_a_category_a_column_each():
    items = np.array([[1.0, 0.0], [np.nan, 2.0], [3.0, np.nan]])
    colour = Column(name="colour", feature="colour", kind=FeatureKind.CATEGORICAL)
    size = Column(name="size", feature="size", kind=FeatureKind.NUMERIC)
    found = Design(items, (size, colour))(items)
    assert found.tolist() == [[-1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 1]]
    new = Design(items[:1], (size, colour))([[np.nan, 5.0]])
    assert new.tolist() == [[0, 0]]


def test_one_comparison_is_enough_for_every_model():
    for model in (DifferenceLogit(), AntisymmetricBoosting()):
        assert model.fit(ITEMS, WON[:1]).decision_function(ITEMS, WON[:1]) >= 0
    assert ByName().fit(NAMES, WON[:1]).decision_function(NAMES, WON[:1]) > 0
    assert TextLogit().fit(["severe pain", "refill"], [[0, 1]]).decision_function(["pain", "refill"], [[0, 1]]) > 0


def test_words_that_were_not_in_training_say_nothing():
    model = TextLogit().fit(["severe pain", "refill please"], [[0, 1]])
    assert model.decision_function(["other words", "unknown things"], [[0, 1]]) == 0.0


@pytest.mark.parametrize("model", [DifferenceLogit(), AntisymmetricBoosting(), ByName(), TextLogit()])
def test_no_comparisons_and_impossible_settings_are_refused(model):
    known = {ByName: NAMES, TextLogit: ["a word"] * 30}.get(type(model), ITEMS)
    with pytest.raises(ValueError, match="no comparisons"):
        model.fit(known, np.zeros((0, 2), dtype=int))
    name = "learning_rate" if isinstance(model, AntisymmetricBoosting) else "strength"
    with pytest.raises(ValueError, match=name):
        model.set_params(**{name: -1.0}).fit(known, WON)


def test_contexts_are_given_to_both_fit_and_predict_or_to_neither():
    model = DifferenceLogit().fit(ITEMS, WON, CONTEXTS, CONTEXT_OF)
    with pytest.raises(ValueError, match="contexts must be given"):
        model.decision_function(ITEMS, WON)
