"""The process given a sample of the differences: gradients, and its average against the exact posterior."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from scipy.special import log_ndtr

from models.gaussian.skew.hallucination import Differences, with_new_row
from models.gaussian.skew.kernels import difference_covariance
from models.gaussian.skew.orthant import sample_negative
from models.gaussian.stationary import KernelName, correlations_and_slopes, squared_distances
from models.numerics.hashing import mix
from models.records.arrays import FloatArray


def _process(kernel: KernelName, pairs: FloatArray, lengths: FloatArray, noise: float) -> Differences:
    covariance, _ = difference_covariance(kernel, pairs, pairs, lengths)
    return Differences(kernel, pairs, lengths, np.linalg.inv(covariance + 2 * noise**2 * np.eye(pairs.shape[1])))


@pytest.mark.parametrize("kernel", get_args(KernelName))
def test_gradients_of_mean_and_variance_agree_with_differences(kernel: KernelName) -> None:
    rng = np.random.default_rng(0)
    pairs, x, v = rng.random((2, 5, 2, 3)), rng.random((2, 4, 3)), -rng.random((2, 5))
    process = _process(kernel, pairs, np.full((2, 3), 0.4), 0.1)
    found = process.beliefs(x, v)
    assert found.mean == pytest.approx(process.mean(x, v))
    for k in range(3):
        moved = 1e-6 * np.eye(3)[k]
        above, below = process.beliefs(x + moved, v), process.beliefs(x - moved, v)
        assert found.mean_slope[..., k] == pytest.approx((above.mean - below.mean) / 2e-6, abs=1e-5)
        assert found.variance_slope[..., k] == pytest.approx((above.variance - below.variance) / 2e-6, abs=1e-5)


def test_beliefs_of_some_runs_are_theirs() -> None:
    rng = np.random.default_rng(1)
    pairs, x, v = rng.random((3, 5, 2, 2)), rng.random((3, 4, 2)), -rng.random((3, 5))
    process = _process("rbf", pairs, np.full((3, 2), 0.4), 0.1)
    some = process.beliefs(x[[0, 2]], v, np.array([0, 2]))
    for part, whole in zip(some, process.beliefs(x, v), strict=True):
        assert part == pytest.approx(whole[[0, 2]])


def test_posterior_mean_and_covariance_agree_with_importance_sampling() -> None:
    """f given the comparisons is f given v, averaged over v: by the law of total covariance."""
    noise, lengths = 0.3, np.full((1, 1), 0.3)
    pairs = np.array([[[[0.2], [0.6]], [[0.3], [0.9]], [[0.25], [0.1]], [[0.5], [0.8]]]])
    x = np.array([[[0.25], [0.55], [0.95]]])
    everything = np.concatenate([pairs.reshape(1, 8, 1), x], axis=1)
    prior, _ = correlations_and_slopes("rbf", squared_distances(everything, everything, lengths))
    f = np.random.default_rng(2).multivariate_normal(np.zeros(11), prior[0] + 1e-9 * np.eye(11), size=100_000)
    weight = np.exp(log_ndtr((f[:, 0:8:2] - f[:, 1:8:2]) / (np.sqrt(2) * noise)).sum(axis=1))
    mean = weight @ f[:, 8:] / weight.sum()
    covariance = (weight[:, None] * (f[:, 8:] - mean)).T @ (f[:, 8:] - mean) / weight.sum()

    chains = 4_000
    process = _process("rbf", pairs, lengths, noise)
    precision = np.broadcast_to(process.precision, (chains, 4, 4))
    v = sample_negative(precision, np.zeros((chains, 4)), mix(3, np.arange(chains)), 20).sample
    given = v @ np.concatenate([process.mean(x, unit[None]) for unit in np.eye(4)])  # the mean is linear in v
    variance = process.beliefs(x, v[:1]).variance[0]
    assert given.mean(axis=0) == pytest.approx(mean, abs=0.04)
    assert given.var(axis=0) + variance == pytest.approx(np.diagonal(covariance), abs=0.05)


def test_a_new_row_grows_the_inverse() -> None:
    roots = np.random.default_rng(4).normal(size=(2, 5, 5))
    whole = roots @ np.swapaxes(roots, 1, 2) + np.eye(5)
    grown = with_new_row(np.linalg.inv(whole[:, :4, :4]), whole[:, 4, :4], whole[:, 4, 4])
    assert grown == pytest.approx(np.linalg.inv(whole), abs=1e-9)
