"""Samples of negative normal vectors: moments, tails, and chains that do not touch one another."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from models.gaussian.skew.orthant import negative_normal, sample_negative
from models.numerics.hashing import mix
from models.records.arrays import FloatArray


def _correlated(n: int) -> FloatArray:
    roots = np.random.default_rng(n).normal(size=(n, n))
    return np.asarray(roots @ roots.T + 0.2 * np.eye(n))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_moments_agree_with_rejection_sampling(n: int) -> None:
    covariance, chains = _correlated(n), 4_000
    precision = np.broadcast_to(np.linalg.inv(covariance), (chains, n, n))
    found = sample_negative(precision, np.zeros((chains, n)), mix(1, np.arange(chains)), 20).sample
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(n), covariance, size=600_000)
    drawn = drawn[(drawn < 0).all(axis=1)]
    deviation = drawn.std(axis=0)
    assert len(drawn) > 5_000
    assert (found <= 0).all()
    assert found.mean(axis=0) / deviation == pytest.approx(drawn.mean(axis=0) / deviation, abs=0.07)
    assert np.cov(found.T) / np.outer(deviation, deviation) == pytest.approx(
        np.cov(drawn.T) / np.outer(deviation, deviation), abs=0.11
    )


def test_the_length_is_chi_distributed_after_one_sweep_from_anywhere() -> None:
    """The orthant is a cone: v' P v is chi-square with n degrees of freedom, whatever the direction of v."""
    chains, n = 4_000, 6
    precision = np.broadcast_to(np.linalg.inv(_correlated(n)), (chains, n, n))
    v = sample_negative(precision, np.full((chains, n), -1e-6), mix(2, np.arange(chains)), 1).sample
    assert kstest(np.einsum("ti,tij,tj->t", v, precision, v), "chi2", args=(n,)).pvalue > 0.01


def test_draws_are_exact_in_both_tails() -> None:
    log_uniform = np.log(np.array([1e-12, 0.1, 0.5, 0.9, 1 - 1e-12]))
    far = negative_normal(np.full(5, 40.0), log_uniform)  # nearly exponential with rate 40
    assert far == pytest.approx(log_uniform / 40.0, rel=0.02)
    assert (far <= 0).all()
    near = negative_normal(np.full(5, -40.0), log_uniform)  # hardly truncated
    assert near[2] == pytest.approx(-40.0)
    assert near[0] == pytest.approx(-40.0 - near[4] - 40.0, abs=1e-3)
    extreme = negative_normal(np.array([1e4, -1e4]), np.full(2, np.log(2.0**-54)))
    assert np.isfinite(extreme).all()


def test_a_chain_depends_on_its_own_lot_alone() -> None:
    precision = np.stack([np.linalg.inv(_correlated(4) + shift * np.eye(4)) for shift in range(3)])
    lots = mix(3, np.arange(3))
    together = sample_negative(precision, np.zeros((3, 4)), lots, 8)
    alone = sample_negative(precision[1:2], np.zeros((1, 4)), lots[1:2], 8)
    assert alone.sample[0] == pytest.approx(together.sample[1], abs=1e-12)
    assert alone.mean[0] == pytest.approx(together.mean[1], abs=1e-12)
