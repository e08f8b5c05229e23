"""Laplace approximation of the evidence of comparisons under Gaussian-process priors, and its slope (dt-pbo 2.2).

log Z = sum c log Phi(z) - f'a / 2 - log|I + L' Lambda L| / 2 at the mode f, with a = K^-1 f; the derivative follows
Rasmussen and Williams (2006), section 5.5.1. Any number of problems of one size are solved at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from models.gaussian.laplace import PairCounts, laplace_mode, pair_laplacian, probit_terms
from models.records.arrays import FloatArray

JITTER = 1e-8
"""Added to a kernel matrix, as a share of its mean diagonal, so that near-duplicates keep it positive definite."""

_SQRT_2 = math.sqrt(2.0)


@dataclass(frozen=True, eq=False)
class LaplaceFit:
    """Posterior and evidence of t problems of m values.

    mode: (t, m) f; pull: (t, m) a = K^-1 f, so that the mean elsewhere is k(x)'a.
    covariance: (t, m, m) of f; reduction: (t, m, m) R, so that the covariance elsewhere is k(x, x') - k(x)'R k(x').
    log_evidence: (t,); slope: (t, m, m) its derivative with respect to the kernel matrix, symmetric.
    """

    mode: FloatArray
    pull: FloatArray
    covariance: FloatArray
    reduction: FloatArray
    log_evidence: FloatArray
    slope: FloatArray


def fit_laplace(pairs: PairCounts, kernel: FloatArray) -> LaplaceFit:
    """Posterior and evidence under the prior covariances `kernel`, (t, m, m) (dt-pbo Eq. 1-4).

    Raises ValueError for a kernel of another shape or with values that are not finite.

    >>> from models.gaussian.laplace import count_pairs
    >>> pairs = count_pairs(np.zeros(1, int), np.array([0]), np.array([1]), n_problems=1, n_values=2)
    >>> fit_laplace(pairs, 0.01 * np.eye(2)[None]).log_evidence.round(2)  # log 1/2: either of two equals may win
    array([-0.69])
    """
    m = pairs.n_values
    if kernel.shape != (pairs.n_problems, m, m) or not np.isfinite(kernel).all():
        raise ValueError(f"kernel must be finite and {(pairs.n_problems, m, m)}, found shape {kernel.shape}")
    jitter = JITTER * np.trace(kernel, axis1=1, axis2=2) / m
    factor = np.linalg.cholesky(kernel + jitter[:, None, None] * np.eye(m))
    mode = laplace_mode(pairs, factor)

    flat = mode.ravel()
    z = (flat[pairs.winners] - flat[pairs.losers]) / _SQRT_2
    log_phi = log_ndtr(z)
    ratio, weight = probit_terms(z, log_phi)
    pull = _net(pairs, pairs.count * ratio / _SQRT_2)
    hessian = pair_laplacian(pairs, 0.5 * pairs.count * weight)
    inner = np.eye(m) + np.swapaxes(factor, 1, 2) @ hessian @ factor
    covariance = factor @ np.linalg.solve(inner, np.swapaxes(factor, 1, 2))
    reduction = hessian - hessian @ covariance @ hessian

    likelihood = np.bincount(pairs.problem, pairs.count * log_phi, pairs.n_problems)
    log_evidence = likelihood - 0.5 * np.einsum("tm,tm->t", mode, pull) - 0.5 * np.linalg.slogdet(inner)[1]

    # The mode, and through it the determinant, depends on the kernel: d weight / dz = r (1 - weight) - weight (z + r).
    spread = _spread(pairs, covariance)
    change = ratio * (1.0 - weight) - weight * (z + ratio)
    by_mode = -0.5 * _net(pairs, 0.5 * pairs.count * change / _SQRT_2 * spread)
    moved = by_mode - np.einsum("tij,tj->ti", hessian, np.einsum("tij,tj->ti", covariance, by_mode))
    outer = (0.5 * pull + moved)[:, :, None] * pull[:, None, :]
    slope = 0.5 * (outer + np.swapaxes(outer, 1, 2) - reduction)
    return LaplaceFit(mode, pull, covariance, reduction, log_evidence, slope)


def _net(pairs: PairCounts, amount: FloatArray) -> FloatArray:
    """Each value's sum of the amounts of its pairs, positive where it wins and negative where it loses, (t, m)."""
    size = pairs.n_problems * pairs.n_values
    net = np.bincount(pairs.winners, amount, size) - np.bincount(pairs.losers, amount, size)
    return np.asarray(net.reshape(pairs.n_problems, pairs.n_values))


def _spread(pairs: PairCounts, covariance: FloatArray) -> FloatArray:
    """Posterior variance of the difference of each pair, (p,)."""
    t, winner, loser = pairs.problem, pairs.winner, pairs.loser
    return np.asarray(covariance[t, winner, winner] + covariance[t, loser, loser] - 2.0 * covariance[t, winner, loser])
