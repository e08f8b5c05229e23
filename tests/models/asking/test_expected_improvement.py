"""Expected improvement: against Monte Carlo and differences, and far below the best."""

from __future__ import annotations

import numpy as np
import pytest

from models.asking.expected_improvement import log_expected_improvement


def test_it_agrees_with_monte_carlo() -> None:
    mean, variance, best = np.array([-0.5, 0.0, 2.0]), np.array([0.5, 2.0, 1.0]), np.array([0.3, 0.0, 1.0])
    drawn = mean + np.sqrt(variance) * np.random.default_rng(0).normal(size=(400_000, 3))
    expected = np.maximum(drawn - best, 0.0).mean(axis=0)
    assert np.exp(log_expected_improvement(mean, variance, best).value) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("z", [-1e4, -1000.5, -999.5, -40.0, -2.0, -1e-9, 0.0, 1.5, 30.0])
def test_its_derivatives_agree_with_differences(z: float) -> None:
    mean, variance, best = np.array([2.0 * z]), np.array([4.0]), np.array([0.0])
    found, step = log_expected_improvement(mean, variance, best), 1e-5
    by_mean = [log_expected_improvement(mean + s * step, variance, best).value for s in (1, -1)]
    by_variance = [log_expected_improvement(mean, variance + s * step, best).value for s in (1, -1)]
    assert found.by_mean == pytest.approx((by_mean[0] - by_mean[1]) / (2 * step), rel=1e-4, abs=1e-6)
    assert found.by_variance == pytest.approx((by_variance[0] - by_variance[1]) / (2 * step), rel=1e-3, abs=1e-6)


def test_it_falls_without_a_jump_into_the_tail() -> None:
    z = -np.concatenate([np.linspace(0.0, 50.0, 500), np.linspace(990.0, 1010.0, 500), [1e6]])
    found = log_expected_improvement(z, np.ones_like(z), np.zeros_like(z))
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.by_mean).all()
    assert (np.diff(found.value) < 0).all()
    asymptote = -0.5 * z[500:] ** 2 - 0.5 * np.log(2 * np.pi) - 2 * np.log(-z[500:])
    assert found.value[500:] == pytest.approx(asymptote, abs=1e-5)
