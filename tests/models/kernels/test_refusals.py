"""What the kernel models and their search refuse: impossible parameters, data that do not fit, models not fitted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.gpm_search import search

ITEMS = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
PAIRS = np.array([[0, 1], [1, 2], [2, 0]])
CONTEXTS = np.array([[0.0], [1.0]])
CONTEXT_OF = np.array([0, 1, 0])
MODELS = [GPM, CGPM, UPM]


def contexts_for(kind: type) -> tuple[np.ndarray, ...]:
    return (CONTEXTS, CONTEXT_OF) if kind is CGPM else ()


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rank": 0}, "'rank' parameter of .* must be an int in the range"),
        ({"rank": 2.5}, "'rank' parameter"),
        ({"penalty": 0.0}, "'penalty' parameter"),
        ({"penalty": 1e-13}, "'penalty' parameter"),
        ({"penalty": np.inf}, "'penalty' parameter"),
        ({"penalty": np.nan}, "'penalty' parameter"),
        ({"penalty": "small"}, "'penalty' parameter"),
        ({"tolerance": 0.0}, "'tolerance' parameter"),
        ({"tolerance": 1.0}, "'tolerance' parameter"),
        ({"tolerance": np.nan}, "'tolerance' parameter"),
        ({"columns": 3}, "'columns' parameter"),
        ({"lengthscales": 0.0}, "'lengthscales' parameter"),
        ({"lengthscales": -1.0}, "'lengthscales' parameter"),
        ({"lengthscales": np.nan}, "'lengthscales' parameter"),
        ({"lengthscales": np.inf}, "'lengthscales' parameter"),
        ({"lengthscales": {"x0": 1.0}}, "no lengthscale for x1"),
        ({"lengthscales": {"x0": 1.0, "x1": 1.0, "age": 1.0}}, "lengthscales for age, but the features are x0, x1"),
        ({"lengthscales": {"x0": 1.0, "x1": np.nan}}, "positive and finite, found {'x1': nan}"),
        ({"lengthscales": {"x0": 1.0, "x1": 0.0}}, "positive and finite, found {'x1': 0.0}"),
        ({"lengthscales": {"x0": 1.0, "x1": "long"}}, "positive and finite, found {'x1': 'long'}"),
    ],
)
def test_impossible_parameters_are_refused_by_name(kind: type, settings: dict[str, object], message: str):
    with pytest.raises(ValueError, match=message):
        kind(**settings).fit(ITEMS, PAIRS, *contexts_for(kind))
    with pytest.raises(ValueError, match=message):
        search(kind(**settings), ITEMS, PAIRS, np.array([False, False, True]), *contexts_for(kind))


@pytest.mark.parametrize("kind", [GPM, CGPM])
@pytest.mark.parametrize("utility", [-1.0, np.inf, np.nan, None])
def test_an_impossible_weight_of_a_utility_is_refused(kind: type, utility: float | None):
    with pytest.raises(ValueError, match=f"'utility' parameter of {kind.__name__} must be a float"):
        kind(utility=utility).fit(ITEMS, PAIRS, *contexts_for(kind))


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, {"x1": 1.0}])
def test_impossible_lengthscales_of_contexts_are_refused(value: object):
    with pytest.raises(ValueError, match=r"context_lengthscales|no lengthscale for x0"):
        CGPM(context_lengthscales=value).fit(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: GPM().decision_function(ITEMS, PAIRS),
        lambda: GPM().predict_proba(ITEMS, PAIRS),
        lambda: UPM().predict(ITEMS),
        lambda: UPM().predict_proba(ITEMS, PAIRS),
        lambda: CGPM().decision_function(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF),
        lambda: CGPM().dual_in(CONTEXTS),
        lambda: CGPM().utility_in(CONTEXTS),
    ],
)
def test_a_model_that_is_not_fitted_says_so(ask: Callable[[], object]):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask()


def test_a_model_whose_fit_failed_is_not_fitted():
    model = CGPM()
    with pytest.raises(ValueError, match="context_of"):
        model.fit(ITEMS, PAIRS, CONTEXTS, [0, 1, 2])
    with pytest.raises(NotFittedError):
        model.decision_function(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF)


@pytest.mark.parametrize("rows", [[0.9, 1.0, 0.0], [0, 1, 2], [0, -1, 0], [0, 1], [True, False, True], [[0], [1], [0]]])
def test_rows_of_contexts_that_are_no_row_numbers_are_refused(rows: list[object]):
    fitted = CGPM(penalty=0.1).fit(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF)
    with pytest.raises(ValueError, match="context_of"):
        CGPM().fit(ITEMS, PAIRS, CONTEXTS, rows)
    with pytest.raises(ValueError, match="context_of"):
        fitted.decision_function(ITEMS, PAIRS, CONTEXTS, rows)
    with pytest.raises(ValueError, match="context_of"):
        search(CGPM(), ITEMS, PAIRS, np.array([False, False, True]), CONTEXTS, rows)


@pytest.mark.parametrize("kind", MODELS)
def test_rows_of_items_that_are_no_row_numbers_are_refused(kind: type):
    with pytest.raises(ValueError, match="comparisons must be integers"):
        kind().fit(ITEMS, PAIRS + 0.5, *contexts_for(kind))


def test_contexts_with_other_columns_than_those_of_the_fit_are_refused():
    fitted = CGPM(penalty=0.1).fit(ITEMS, PAIRS, CONTEXTS, CONTEXT_OF)
    with pytest.raises(ValueError, match="2 columns"):
        fitted.decision_function(ITEMS, PAIRS, np.zeros((2, 2)), CONTEXT_OF)


@pytest.mark.parametrize("validating", [[0, 0, 1], [False, True], [0.0, 0.0, 1.0]])
def test_which_comparisons_validate_is_one_boolean_each(validating: list[object]):
    with pytest.raises(ValueError, match=r"one boolean per comparison \(3,\)"):
        search(GPM(), ITEMS, PAIRS, validating)


@pytest.mark.parametrize("settings", [{"rank": 0}, {"max_steps": 0}, {"max_steps": 1.5}])
def test_impossible_settings_of_the_search_are_refused(settings: dict[str, object]):
    with pytest.raises(ValueError, match=f"'{next(iter(settings))}' parameter of search"):
        search(GPM(), ITEMS, PAIRS, np.array([False, False, True]), **settings)


def test_only_the_three_models_are_searched_for():
    with pytest.raises(ValueError, match="'model' parameter of search must be an instance of"):
        search("gpm", ITEMS, PAIRS, np.array([False, False, True]))
