"""Laplace approximation in the space of the differences that were compared: one value a comparison, not two points.

With sigma_noise = 1, comparison i says that z_i = f(winner) - f(loser) is likely positive: log Phi(z_i / sqrt 2). Under
a Gaussian process z has the prior covariance C = A K A', A the signs of winner and loser. What is computed here needs C
alone, and only I + W^1/2 C W^1/2 is factored, which is well conditioned where K is singular: near-duplicate points need
no jitter. The mean elsewhere is k(x)'A'a with a = `pull`, the covariance k(x, x') - k(x)'A'R A k(x') with
R = `reduction`. It follows Rasmussen and Williams (2006), Algorithms 3.1 and 5.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from models.gaussian.laplace import LONG_STEP, MAX_STEPS, STEP_TOLERANCE, log_normal_cdf, probit_terms
from models.records.arrays import FloatArray, IntArray

_SQRT_2 = math.sqrt(2.0)
_SHORTEST = 1e-6
_FLAT = 1e-12
_AVERAGES = 3
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(20)
_SHARES = _SHARES / _SHARES.sum()


@dataclass(frozen=True, eq=False)
class DifferenceFit:
    """Posterior and evidence of t problems of n comparisons.

    mode: (t, n) z; pull: (t, n) a = C^-1 z; reduction: (t, n, n) R; log_evidence: (t,); slope: (t, n, n) its derivative
    by C, symmetric.
    """

    mode: FloatArray
    pull: FloatArray
    reduction: FloatArray
    log_evidence: FloatArray
    slope: FloatArray


def fit_differences(covariance: FloatArray, pull: FloatArray | None = None) -> DifferenceFit:
    """Posterior and evidence under the prior covariances C of the differences, (t, n, n).

    pull: (t, n) where Newton's method starts, zeros if None; the result does not depend on it but for rounding.
    Raises ValueError for covariances of another shape or with values that are not finite.

    >>> fit = fit_differences(np.array([[[0.02]]]))
    >>> fit.log_evidence.round(2)  # log 1/2: either of two equals may win
    array([-0.69])
    """
    if covariance.ndim != 3 or covariance.shape[1] != covariance.shape[2] or not np.isfinite(covariance).all():
        raise ValueError(f"covariance must be finite and (t, n, n), found shape {covariance.shape}")
    a = np.zeros(covariance.shape[:2]) if pull is None else pull
    z = _times(covariance, a)
    a, z = _newton(covariance, a, z)

    log_phi, _, weight, change = _likelihood(z)
    root = np.sqrt(weight)
    inverse, log_determinant = _factor(covariance, root).inverse()
    log_evidence = log_phi.sum(axis=1) - 0.5 * (a * z).sum(axis=1) - 0.5 * log_determinant
    # The posterior variance of z_i is (1 - inverse_ii) / weight_i, and weight depends on C through the mode.
    reached = np.divide(change, weight, out=np.zeros_like(weight), where=weight > 0)
    by_mode = -0.5 * (1.0 - np.diagonal(inverse, axis1=1, axis2=2)) * reached
    reduction = inverse
    reduction *= root[:, :, None]
    reduction *= root[:, None, :]
    moved = by_mode - _times(reduction, _times(covariance, by_mode))
    outer = (0.5 * a + moved)[:, :, None] * a[:, None, :]
    slope = 0.5 * (outer + np.swapaxes(outer, 1, 2) - reduction)
    return DifferenceFit(z, a, reduction, log_evidence, slope)


def average_curvature(covariance: FloatArray, mode: FloatArray, reduction: FloatArray) -> FloatArray:
    """The reduction R with each comparison's curvature averaged over the belief about z, not taken at the mode.

    A comparison won by far is flat at the mode: Laplace's approximation says that nothing was learned from it, and
    gives z nearly its prior variance, much of it on the side that the answer excluded. The mean curvature over
    N(mode, variance) and the variance that follows from it are found in turn, as in a variational approximation.
    covariance: (t, n, n) as for `fit_differences`; mode: (t, n) and reduction: (t, n, n) of the fit.

    >>> C = np.array([[[100.0]]])
    >>> fit = fit_differences(C)
    >>> averaged = average_curvature(C, fit.mode, fit.reduction)
    >>> [float((C - C * R * C).round(1)[0, 0, 0]) for R in (fit.reduction, averaged)]
    [17.8, 7.6]
    """
    prior = np.diagonal(covariance, axis1=1, axis2=2)
    variance = np.clip(prior - ((covariance @ reduction) * covariance).sum(axis=2), 0.0, prior)
    for _ in range(_AVERAGES):
        spread = np.sqrt(variance)
        weight = sum(share * _likelihood(mode + node * spread)[2] for node, share in zip(_NODES, _SHARES, strict=True))
        root = np.sqrt(weight)
        inverse, _ = _factor(covariance, root).inverse()
        found = np.clip((1.0 - np.diagonal(inverse, axis1=1, axis2=2)) / np.maximum(weight, _FLAT), 0.0, prior)
        variance = np.sqrt(variance * found)  # half of the way: whole steps swing to and fro
        reduction = inverse * root[:, :, None] * root[:, None, :]
    return reduction


def _times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """(t, n, n) times (t, n)."""
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _likelihood(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Log Phi(z / sqrt 2), and by z: its first derivative, minus the second, and the derivative of that."""
    x = z / _SQRT_2
    log_phi = log_normal_cdf(x)
    ratio, weight = probit_terms(x, log_phi)
    change = ratio * (1.0 - weight) - weight * (x + ratio)
    return log_phi, ratio / _SQRT_2, 0.5 * weight, change / (2.0 * _SQRT_2)


def _newton(covariance: FloatArray, a: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mode: a and z = C a. A problem that has converged is left alone, so that it does not depend on the others."""
    a, z = a.copy(), z.copy()
    going = np.arange(len(a))
    for _ in range(MAX_STEPS):
        C = covariance if len(going) == len(a) else covariance[going]
        log_phi, gradient, weight, _ = _likelihood(z[going])
        root = np.sqrt(weight)
        target = weight * z[going] + gradient
        solved = _factor(C, root).solve(root * _times(C, target))
        step = target - root * solved - a[going]
        moved = _times(C, step)
        length = _line_search(a[going], z[going], log_phi, step, moved)[:, None]
        a[going] += length * step
        z[going] += length * moved
        going = going[np.abs(moved).max(axis=1, initial=0.0) >= STEP_TOLERANCE]
        if not len(going):
            break
    return a, _times(covariance, a)


def _line_search(a: FloatArray, z: FloatArray, log_phi: FloatArray, step: FloatArray, moved: FloatArray) -> FloatArray:
    """Length of each problem's step: halved until the objective does not rise; 0 where no length helps."""
    now = -log_phi.sum(axis=1) + 0.5 * (a * z).sum(axis=1)
    limit = now + 1e-12 * np.abs(now)
    # Far from the mode, where the probit likelihood is flatter than its parabola, Newton's step falls short.
    length = np.where(np.abs(moved).max(axis=1, initial=0.0) > LONG_STEP, 2.0, 1.0)
    trying = np.arange(len(a))
    while len(trying):
        s = length[trying, None]
        then_z = z[trying] + s * moved[trying]
        prior = 0.5 * ((a[trying] + s * step[trying]) * then_z).sum(axis=1)
        then = prior - log_normal_cdf(then_z / _SQRT_2).sum(axis=1)
        trying = trying[~(then <= limit[trying]) & (length[trying] > 0)]
        length[trying] = np.where(length[trying] > _SHORTEST, length[trying] / 2.0, 0.0)
    return length


@dataclass(frozen=True, eq=False)
class _Factors:
    """Cholesky factors of t matrices, (t, n, n): one triangle of each, as LAPACK left it."""

    triangle: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        """The solutions for right-hand sides (t, n)."""
        return np.stack([dpotrs(own.T, b, lower=1)[0] for own, b in zip(self.triangle, right, strict=True)])

    def inverse(self) -> tuple[FloatArray, FloatArray]:
        """The inverses, (t, n, n), which take the factors' place, and the log determinants, (t,)."""
        log_determinant = 2.0 * np.log(np.diagonal(self.triangle, axis1=1, axis2=2)).sum(axis=1)
        for own in self.triangle:
            dpotri(own.T, lower=1, overwrite_c=1)
        upper = np.triu(self.triangle)
        return upper + np.swapaxes(np.triu(upper, 1), 1, 2), log_determinant


def _factor(covariance: FloatArray, root: FloatArray) -> _Factors:
    """Cholesky factors of I + W^1/2 C W^1/2; root: (t, n) the diagonals of W^1/2.

    LAPACK is called for each problem: `np.linalg.cholesky` takes three times as long, and has no solver to go with it.
    """
    B = covariance * root[:, :, None]
    B *= root[:, None, :]
    diagonal: IntArray = np.arange(B.shape[1])
    B[:, diagonal, diagonal] += 1.0
    for own in B:
        _, failed = dpotrf(own.T, lower=1, overwrite_a=1, clean=0)
        if failed:
            raise ValueError("covariance is not positive semidefinite")
    return _Factors(B)
