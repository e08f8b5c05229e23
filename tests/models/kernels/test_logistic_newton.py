"""The Newton solver: its preconditioner, its two ways to solve a system, and that it ends at the minimum."""

from __future__ import annotations

import numpy as np
import pytest

from models.kernels import logistic_newton
from models.kernels.gpm import GPM
from models.kernels.kernel_factor import KernelFactor, exact_factor
from models.kernels.logistic_newton import newton_step
from models.kernels.match_models import SkewModel, UtilityModel
from models.numerics.match_counts import MatchCounts, count_matches
from models.records.features import FeatureKind
from tests.models.strategies import column

N = 30
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(N, 2))
WEIGHTS = RNG.uniform(0.2, 2.0, size=N)
WEIGHTS /= WEIGHTS.sum()
ITEMS = exact_factor(np.exp(-np.square(POINTS[:, None] - POINTS[None]).sum(axis=2) / 2), WEIGHTS)
SHARES = np.array([0.7, 0.3])
CONTEXTS = exact_factor(np.array([[1.0, 0.4], [0.4, 1.0]]), SHARES)


def everyone_meets(n_contexts: int = 1) -> tuple[MatchCounts, np.ndarray]:
    """All pairs, in each context; the share of each pair if items meet in proportion to how often they play."""
    pairs = np.stack(np.triu_indices(N, 1), axis=1)
    where = np.repeat(np.arange(n_contexts), len(pairs))
    matches = count_matches(np.tile(pairs, (n_contexts, 1)), N, where, n_contexts)
    return matches, 2 * WEIGHTS[matches.first] * WEIGHTS[matches.second]


def test_the_spectrum_is_the_diagonal_of_the_system_if_items_meet_as_often_as_they_play():
    rng = np.random.default_rng(1)
    matches, shares = everyone_meets(2)
    shares = shares * SHARES[matches.context]
    model = SkewModel(ITEMS, CONTEXTS, matches)
    w = rng.normal(size=model.spectrum.shape)
    w -= np.swapaxes(w, 1, 2)
    np.testing.assert_allclose(model.adjoint(shares * model.z(w)), model.spectrum * w, atol=1e-12)


def test_the_spectrum_of_a_utility_is_that_diagonal_but_for_the_mean_utility():
    matches, shares = everyone_meets()
    model = UtilityModel(ITEMS, matches)
    w = np.random.default_rng(1).normal(size=model.spectrum.shape)
    mean = WEIGHTS @ ITEMS.phi
    expected = model.spectrum * w - 2 * mean * (mean @ w)
    np.testing.assert_allclose(model.adjoint(shares * model.z(w)), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["skew", "utility"])
def test_conjugate_gradients_solve_the_system_to_its_tolerance_and_sooner_with_the_preconditioner(
    kind: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(logistic_newton, "FEW", 0)
    rng = np.random.default_rng(2)
    matches, shares = everyone_meets()
    one = KernelFactor(np.ones((1, 1)), np.ones(1))
    model = SkewModel(ITEMS, one, matches) if kind == "skew" else UtilityModel(ITEMS, matches)
    curvature, penalty = shares * rng.uniform(0.1, 0.25, size=len(shares)), 1e-4
    right_side = model.adjoint(shares * rng.normal(size=len(shares)))
    x, products = newton_step(model, curvature, penalty, right_side, tolerance=1e-9)
    residual = model.adjoint(curvature * model.z(x)) + penalty * x - right_side
    assert np.linalg.norm(residual) <= 1.01e-9 * np.linalg.norm(right_side)
    monkeypatch.setattr(logistic_newton, "DAMPED", 0.0)
    plain, plain_products = newton_step(model, curvature, penalty, right_side, tolerance=1e-9)
    np.testing.assert_allclose(plain, x, atol=1e-6 * np.abs(x).max())
    assert products < 0.7 * plain_products
    monkeypatch.setattr(logistic_newton, "FEW", 10**6)
    direct, none = newton_step(model, curvature, penalty, right_side, tolerance=1e-9)
    np.testing.assert_allclose(direct, x, atol=1e-6 * np.abs(x).max())
    assert none == 0


def test_a_fit_does_not_stall_where_the_loss_falls_by_less_than_its_rounding():
    """Two matches, and a full Newton step near the minimum that lowers the loss by less than it is rounded to."""
    gap = np.nan
    items = np.array([[gap, gap, 0], [1, 2, 0], [gap, 0, 0], [1, 0, gap], [0, gap, gap], [0, 3, gap]])
    kinds = [FeatureKind.CATEGORICAL, FeatureKind.NUMERIC, FeatureKind.CATEGORICAL]
    columns = [column(f"x{k}", kind) for k, kind in enumerate(kinds)]
    model = GPM(columns, penalty=0.01, tolerance=1e-10).fit(items, [[3, 5], [5, 1]])
    assert model.gradient_ <= 1e-10
    assert model.n_steps_ < 10
