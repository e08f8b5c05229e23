"""The evidence in the space of differences: the one of all compared points, its slope, and hard comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from models.gaussian.laplace import count_pairs
from models.gaussian.laplace_evidence import fit_laplace
from models.gaussian.skew.evidence import evidence_of_differences
from models.gaussian.skew.kernels import correlation, covariance_slope, difference_covariance, scaled_squares


def test_it_is_the_evidence_of_the_values_of_all_points() -> None:
    pairs, lengths, noise = np.random.default_rng(0).random((2, 6, 2, 2)), np.full((2, 2), 0.5), 0.3
    covariance, _ = difference_covariance("rbf", pairs, pairs, lengths)
    found = evidence_of_differences(covariance, np.sqrt(2) * noise).log_evidence
    points = pairs.reshape(2, 12, 2)
    winner = 2 * np.tile(np.arange(6), 2)
    counted = count_pairs(np.repeat([0, 1], 6), winner, winner + 1, n_problems=2, n_values=12)
    kernel, _ = correlation("rbf", scaled_squares(points, points, lengths))
    assert found == pytest.approx(fit_laplace(counted, kernel / noise**2).log_evidence, abs=1e-5)


@pytest.mark.parametrize("noise", [0.01, 0.3])
def test_its_slope_agrees_with_differences(noise: float) -> None:
    pairs, theta, scale = (
        np.random.default_rng(1).random((3, 12, 2, 2)),
        np.full((3, 2), np.log(0.3)),
        np.sqrt(2) * noise,
    )
    covariance, slopes = difference_covariance("matern52", pairs, pairs, np.exp(theta))
    found = evidence_of_differences(covariance, scale)
    by_theta = covariance_slope(found.slope, slopes, pairs, np.exp(theta))
    for k in range(2):
        moved = 1e-4 * np.eye(2)[k]
        above, below = (
            evidence_of_differences(
                difference_covariance("matern52", pairs, pairs, np.exp(theta + s * moved))[0], scale
            ).log_evidence
            for s in (1, -1)
        )
        assert by_theta[:, k] == pytest.approx((above - below) / 2e-4, rel=2e-3, abs=2e-2)


def test_a_start_elsewhere_finds_the_same_mode_also_where_comparisons_hardly_err() -> None:
    covariance = np.eye(4)[None] + 0.5
    cold = evidence_of_differences(covariance, scale=1e-3)
    warm = evidence_of_differences(covariance, scale=1e-3, start=cold.pull + 50.0)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-4)
    assert np.isfinite(cold.slope).all()
