"""Kernels, and the search for hyperparameters in the space of differences."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from models.gaussian.difference_evidence import (
    ComparedPoints,
    EvidenceClimb,
    difference_covariance,
    evaluate_evidence,
)
from models.gaussian.stationary import KernelName, correlations_and_slopes, squared_distances
from models.numerics.box_minimiser import minimise_in_box

_SCALES = np.array([0.3, 0.7, 2.0])
_REFERENCE = {
    "rbf": RBF(_SCALES),
    "matern12": Matern(_SCALES, nu=0.5),
    "matern32": Matern(_SCALES, nu=1.5),
    "matern52": Matern(_SCALES, nu=2.5),
}


def _compared(t: int, n: int, seed: int) -> ComparedPoints:
    return ComparedPoints(*np.random.default_rng(seed).random((2, t, n, 3)))


@pytest.mark.parametrize("kernel", get_args(KernelName))
def test_kernels_are_scikit_learns_and_slopes_are_their_derivatives(kernel: KernelName) -> None:
    x, y = np.random.default_rng(0).random((2, 20, 3))
    squared = squared_distances(x, y, _SCALES)
    value, slope = correlations_and_slopes(kernel, squared)
    assert value == pytest.approx(_REFERENCE[kernel](x, y), abs=1e-12)
    above, below = (correlations_and_slopes(kernel, squared + step)[0] for step in (1e-6, -1e-6))
    assert slope == pytest.approx((above - below) / 2e-6, rel=1e-5)
    assert np.isfinite(correlations_and_slopes(kernel, np.zeros(1))).all()


@pytest.mark.parametrize("kernel", get_args(KernelName))
def test_the_covariance_of_differences_is_that_of_winners_minus_losers(kernel: KernelName) -> None:
    points = _compared(2, 8, 1)
    theta = np.log([[*_SCALES, 5.0]] * 2)
    for one in range(2):
        both = np.concatenate([points.winners[one], points.losers[one]])
        A = np.hstack([np.eye(8), -np.eye(8)])
        expected = 5.0 * A @ _REFERENCE[kernel](both) @ A.T
        assert difference_covariance(kernel, points, theta)[one] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kernel", get_args(KernelName))
def test_the_gradient_of_the_evidence_is_that_of_finite_differences(kernel: KernelName) -> None:
    points = _compared(2, 25, 2)
    theta = np.log([[0.4, 0.3, 0.8, 50.0], [0.1, 1.0, 5.0, 0.5]])
    found = evaluate_evidence(kernel, points, theta).gradient
    for k in range(4):
        step = 1e-5 * np.eye(4)[k]
        above, below = (evaluate_evidence(kernel, points, theta + sign * step).value for sign in (1, -1))
        assert found[:, k] == pytest.approx((above - below) / 2e-5, abs=1e-6)


def test_the_search_keeps_each_problems_best_and_problems_do_not_touch_one_another() -> None:
    points, start = _compared(3, 20, 3), np.log([[0.5, 0.5, 0.5, 2.0]] * 3)
    bounds = np.log([0.01] * 4), np.log([10.0] * 3 + [100.0])
    climb = EvidenceClimb("rbf", points, np.zeros((3, 20)))
    found = minimise_in_box(climb, start, *bounds)
    assert (climb.value <= found.value).all()
    assert (climb.value < -evaluate_evidence("rbf", points, start).value).all()
    best = evaluate_evidence("rbf", points, climb.theta)
    assert -best.value == pytest.approx(climb.value, abs=1e-9)
    assert best.fit.reduction == pytest.approx(climb.reduction, abs=1e-7)
    alone = EvidenceClimb("rbf", points.of(np.array([1])), np.zeros((1, 20)))
    minimise_in_box(alone, start[:1], *bounds)
    assert alone.theta[0].tolist() == climb.theta[1].tolist()
