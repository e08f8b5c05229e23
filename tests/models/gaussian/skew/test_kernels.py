"""Kernels: values of scikit-learn's, and slopes that agree with differences."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Kernel, Matern

from models.gaussian.skew.kernels import covariance_slope, cross_covariance, difference_covariance
from models.gaussian.stationary import KernelName, correlations_and_slopes, squared_distances
from models.records.arrays import FloatArray

NAMES = get_args(KernelName)
THEIRS = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}


def _pairs(n: int, d: int = 3) -> FloatArray:
    return np.random.default_rng(n).random((2, n, 2, d))


def _sklearn(kernel: str, lengths: FloatArray) -> Kernel:
    return RBF(lengths) if kernel == "rbf" else Matern(lengths, nu=THEIRS[kernel])


@pytest.mark.parametrize("kernel", NAMES)
def test_covariances_are_those_of_scikit_learn(kernel: KernelName) -> None:
    pairs, lengths = _pairs(5), np.array([[0.2, 0.5, 1.0], [0.4, 0.1, 0.3]])
    x = np.random.default_rng(0).random((2, 4, 3))
    covariance, _ = difference_covariance(kernel, pairs, pairs, lengths)
    cross, _ = cross_covariance(kernel, x, pairs, lengths)
    for run in range(2):
        theirs = _sklearn(kernel, lengths[run])
        winner, loser = pairs[run, :, 0], pairs[run, :, 1]
        both = theirs(winner) + theirs(loser) - theirs(winner, loser) - theirs(loser, winner)
        assert covariance[run] == pytest.approx(both, abs=1e-6)
        assert cross[run] == pytest.approx(theirs(x[run], loser) - theirs(x[run], winner), abs=1e-9)


@pytest.mark.parametrize("kernel", NAMES)
def test_slopes_agree_with_differences(kernel: KernelName) -> None:
    squares, step = np.array([0.01, 0.5, 3.0]), 1e-6
    rise = correlations_and_slopes(kernel, squares + step)[0] - correlations_and_slopes(kernel, squares - step)[0]
    assert correlations_and_slopes(kernel, squares)[1] == pytest.approx(rise / (2 * step), rel=1e-6)
    pairs, theta = _pairs(4), np.log(np.full((2, 3), 0.4))
    pull = np.random.default_rng(1).normal(size=(2, 4, 4))
    pull += np.swapaxes(pull, 1, 2)
    slopes = difference_covariance(kernel, pairs, pairs, np.exp(theta))[1]
    found = covariance_slope(pull, slopes, pairs, np.exp(theta))
    for k in range(3):
        moved = 1e-3 * np.eye(3)[k]
        above, below = (difference_covariance(kernel, pairs, pairs, np.exp(theta + s * moved))[0] for s in (1, -1))
        assert found[:, k] == pytest.approx((pull * (above - below)).sum(axis=(1, 2)) / 2e-3, rel=1e-4, abs=1e-4)


def test_coinciding_points_have_no_distance_and_no_infinite_slope() -> None:
    x = np.random.default_rng(2).random((1, 6, 5))
    squares = squared_distances(x, x, np.full((1, 5), 0.1))
    assert np.diagonal(squares[0]) == pytest.approx(np.zeros(6), abs=1e-12)
    assert (squares >= 0).all()
    value, slope = correlations_and_slopes("matern12", np.zeros(1))
    assert value == 1.0
    assert np.isfinite(slope).all()
