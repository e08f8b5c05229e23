"""A small penalty: the dual coefficients are those of the fit, and a fit that stops short says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from models.kernels import dual_model, logistic_newton
from models.kernels.gpm import CGPM, GPM, UPM

N_ITEMS, N_PAIRS = 30, 500
CONTEXTS = np.array([[0.0], [1.0], [3.0]])


def duels() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    items, left = rng.normal(size=(N_ITEMS, 2)), rng.integers(N_ITEMS, size=N_PAIRS)
    right = (left + 1 + rng.integers(N_ITEMS - 1, size=N_PAIRS)) % N_ITEMS
    utility = items @ [1.0, -2.0]
    wins = rng.random(N_PAIRS) < 1 / (1 + np.exp(2 * (utility[right] - utility[left])))
    pairs = np.where(wins[:, None], np.stack([left, right], axis=1), np.stack([right, left], axis=1))
    return items, pairs, rng.integers(3, size=N_PAIRS)


@pytest.mark.parametrize("penalty", [1e-3, 1e-6, 1e-8, 1e-12])
@pytest.mark.parametrize("rank", [None, 20])
@pytest.mark.parametrize("kind", [GPM, UPM, CGPM])
def test_the_dual_coefficients_give_the_preferences_of_the_fit(
    kind: type, rank: int | None, penalty: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = []
    real = dual_model.minimise

    def spied(*args: object, **kwargs: object) -> logistic_newton.Fitted:
        fits.append((args[1], real(*args, **kwargs)))  # type: ignore[arg-type]
        return fits[-1][1]

    monkeypatch.setattr(dual_model, "minimise", spied)
    monkeypatch.setattr(logistic_newton, "MAX_STEPS", 12)  # wrong coefficients show before the fit is done
    items, pairs, context_of = duels()
    settings = {} if kind is UPM else {"utility": 0.5}
    contexts = (CONTEXTS, context_of) if kind is CGPM else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = kind(penalty=penalty, rank=rank, **settings).fit(items, pairs, *contexts)
    [(matches, fitted)] = fits
    # The fit numbers items by their first row among those that play, and contexts by their first match.
    in_order = items[np.unique(pairs)]
    met = np.stack([matches.first, matches.second], axis=1)
    contexts = (model.contexts_, matches.context) if kind is CGPM else ()
    assert np.allclose(model.decision_function(in_order, met, *contexts), fitted.z, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [GPM, UPM, CGPM])
def test_a_fit_that_stops_at_the_limit_of_its_steps_warns_and_another_does_not(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    items, pairs, context_of = duels()
    contexts = (CONTEXTS, context_of) if kind is CGPM else ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(penalty=1e-3).fit(items, pairs, *contexts)
    monkeypatch.setattr(logistic_newton, "MAX_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match=f"{kind.__name__} stopped after 2 steps: its gradient is .* of that"):
        kind(penalty=1e-3).fit(items, pairs, *contexts)


def test_a_fit_without_anything_to_learn_has_converged() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        UPM(penalty=0.01, tolerance=1e-10).fit([[0.1], [0.7], [2.3]], [[0, 1], [1, 2], [2, 0]])
