"""The evidence in the space of differences: the one of all compared points, the truth, slopes, and hard comparisons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from models.gaussian.laplace import count_pairs
from models.gaussian.laplace_evidence import fit_laplace
from models.gaussian.skew.evidence import Evidence, laplace_evidence
from models.gaussian.skew.expectation_propagation import ep_evidence
from models.gaussian.skew.kernels import covariance_slope, difference_covariance
from models.gaussian.stationary import correlations_and_slopes, squared_distances


def test_it_is_the_evidence_of_the_values_of_all_points() -> None:
    pairs, lengths, noise = np.random.default_rng(0).random((2, 6, 2, 2)), np.full((2, 2), 0.5), 0.3
    covariance, _ = difference_covariance("rbf", pairs, pairs, lengths)
    found = laplace_evidence(covariance, np.sqrt(2) * noise).log_evidence
    points = pairs.reshape(2, 12, 2)
    winner = 2 * np.tile(np.arange(6), 2)
    counted = count_pairs(np.repeat([0, 1], 6), winner, winner + 1, n_problems=2, n_values=12)
    kernel, _ = correlations_and_slopes("rbf", squared_distances(points, points, lengths))
    assert found == pytest.approx(fit_laplace(counted, kernel / noise**2).log_evidence, abs=1e-5)


@pytest.mark.parametrize("evidence", [laplace_evidence, ep_evidence])
@pytest.mark.parametrize("noise", [0.01, 0.3])
def test_its_slope_agrees_with_differences(evidence: Callable[..., Evidence], noise: float) -> None:
    pairs, theta, scale = (
        np.random.default_rng(1).random((3, 12, 2, 2)),
        np.full((3, 2), np.log(0.3)),
        np.sqrt(2) * noise,
    )
    covariance, slopes = difference_covariance("matern52", pairs, pairs, np.exp(theta))
    found = evidence(covariance, scale)
    by_theta = covariance_slope(found.slope, slopes, pairs, np.exp(theta))
    for k in range(2):
        moved = 1e-4 * np.eye(2)[k]
        above, below = (
            evidence(difference_covariance("matern52", pairs, pairs, np.exp(theta + s * moved))[0], scale).log_evidence
            for s in (1, -1)
        )
        assert by_theta[:, k] == pytest.approx((above - below) / 2e-4, rel=0.02, abs=0.1)


def test_a_start_elsewhere_finds_the_same_mode_also_where_comparisons_hardly_err() -> None:
    covariance = np.eye(4)[None] + 0.5
    cold = laplace_evidence(covariance, scale=1e-3)
    warm = laplace_evidence(covariance, scale=1e-3, start=cold.state + 50.0)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-4)
    assert np.isfinite(cold.slope).all()


@pytest.mark.parametrize("noise", [1e-3, 0.3])
def test_expectation_propagation_is_near_the_truth_where_laplace_is_far(noise: float) -> None:
    pairs, lengths = np.random.default_rng(3).random((1, 5, 2, 2)), np.full((1, 2), 0.2)
    covariance, _ = difference_covariance("rbf", pairs, pairs, lengths)
    truth = multivariate_normal(np.zeros(5), covariance[0] + 2 * noise**2 * np.eye(5)).logcdf(np.zeros(5))
    scale = np.sqrt(2) * noise
    assert ep_evidence(covariance, scale).log_evidence[0] == pytest.approx(truth, abs=0.03)
    if noise < 0.01:
        assert abs(laplace_evidence(covariance, scale).log_evidence[0] - truth) > 0.5


def test_sites_of_other_length_scales_lead_to_the_same_evidence() -> None:
    pairs = np.random.default_rng(4).random((2, 30, 2, 2))
    one, other = (
        difference_covariance("rbf", pairs, pairs, np.full((2, 2), length))[0] + 1e-8 * np.eye(30)
        for length in (0.2, 0.4)
    )
    warm = ep_evidence(one, 0.014, start=ep_evidence(other, 0.014).state)
    assert warm.log_evidence == pytest.approx(ep_evidence(one, 0.014).log_evidence, abs=0.01)
