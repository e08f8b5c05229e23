"""Hyperparameters of many preferential Gaussian processes at once, in the space of the differences that were compared.

A stationary kernel with one length scale per dimension and an amplitude in units of sigma_noise. The length scales have
a Gamma prior, as in BoTorch's PairwiseGP, so that dimensions about which the comparisons say nothing stay bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.gaussian.difference_laplace import DifferenceFit, fit_differences
from models.gaussian.stationary import KernelName, correlations, correlations_and_slopes, squared_distances
from models.records.arrays import FloatArray, IntArray

PRIOR_SHAPE, PRIOR_RATE = 2.4, 2.7
"""The Gamma prior of a length scale, for dimensions scaled to the unit interval."""
_CHUNK = 60_000
"""Cells of the covariances that are made at once: what stays in a processor's cache."""


@dataclass(frozen=True, eq=False)
class ComparedPoints:
    """The points of n comparisons in each of t problems. winners, losers: (t, n, d)."""

    winners: FloatArray
    losers: FloatArray

    def of(self, problems: IntArray) -> ComparedPoints:
        """The comparisons of some problems."""
        return ComparedPoints(self.winners[problems], self.losers[problems])


def difference_covariance(kernel: KernelName, points: ComparedPoints, theta: FloatArray) -> FloatArray:
    """Prior covariance C of the differences, (t, n, n); theta: (t, d + 1) log length scales, then log variance.

    >>> points = ComparedPoints(np.array([[[0.0]]]), np.array([[[1.0]]]))
    >>> difference_covariance("rbf", points, np.log([[1.0, 4.0]])).round(2)  # 2 (4 - 4 exp(-1/2))
    array([[[3.15]]])
    """
    within, across = _cells(points, theta)
    return _assemble(correlations(kernel, within), correlations(kernel, across), theta)


def _cells(points: ComparedPoints, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Squared distances from which C is made, each (t, n, n).

    The first holds those between winners above its diagonal, those between losers below it, and zeros on it: each is
    needed once. The second holds those between winners (rows) and losers.
    """
    scales = np.exp(theta[:, :-1])
    within = squared_distances(points.winners, points.winners, scales)
    below = _below(within.shape[1])
    np.copyto(within, squared_distances(points.losers, points.losers, scales), where=below)
    diagonal = np.arange(within.shape[1])
    within[:, diagonal, diagonal] = 0.0
    return within, squared_distances(points.winners, points.losers, scales)


def _below(n: int) -> FloatArray:
    return np.tri(n, k=-1, dtype=bool)


def _assemble(within: FloatArray, across: FloatArray, theta: FloatArray) -> FloatArray:
    half = within - across
    half *= np.exp(theta[:, -1])[:, None, None]
    return half + np.swapaxes(half, 1, 2)


@dataclass(frozen=True, eq=False)
class HyperFit:
    """A fit at given hyperparameters, with the log posterior density of these, (t,), and its gradient, (t, d + 1)."""

    fit: DifferenceFit
    value: FloatArray
    gradient: FloatArray


def evaluate_evidence(
    kernel: KernelName, points: ComparedPoints, theta: FloatArray, pull: FloatArray | None = None
) -> HyperFit:
    """Log evidence plus log prior of the hyperparameters theta (t, d + 1), up to a constant, and its gradient.

    pull: as for `fit_differences`.

    >>> points = ComparedPoints(np.array([[[0.0]]]), np.array([[[1.0]]]))
    >>> evaluate_evidence("rbf", points, np.log([[1.0, 4.0]])).gradient.round(2)
    array([[-1.27, -0.02]])
    """
    within, across = _cells(points, theta)
    value, slope = correlations_and_slopes(kernel, within)
    other, other_slope = correlations_and_slopes(kernel, across)
    covariance = _assemble(value, other, theta)
    fit = fit_differences(covariance, pull)
    variance = np.exp(theta[:, -1])
    by_scale = _by_scales(points, fit.slope * slope, fit.slope * other_slope)
    scales = np.exp(theta[:, :-1])
    gradient = np.concatenate(
        [-4.0 * variance[:, None] * by_scale / scales**2, (fit.slope * covariance).sum(axis=(1, 2))[:, None]], axis=1
    )
    log_prior = (PRIOR_SHAPE - 1.0) * theta[:, :-1] - PRIOR_RATE * scales
    gradient[:, :-1] += (PRIOR_SHAPE - 1.0) - PRIOR_RATE * scales
    return HyperFit(fit, fit.log_evidence + log_prior.sum(axis=1), gradient)


def _by_scales(points: ComparedPoints, within: FloatArray, across: FloatArray) -> FloatArray:
    """The sums of weights times squared differences in each dimension, (t, d): those within minus those across."""
    below = _below(within.shape[1])
    upper, lower = np.where(below, 0.0, within), np.where(below, within, 0.0)
    return np.asarray(
        _weighted(points.winners, points.winners, upper)
        + _weighted(points.losers, points.losers, lower)
        - _weighted(points.winners, points.losers, across)
    )


def _weighted(first: FloatArray, second: FloatArray, weight: FloatArray) -> FloatArray:
    """The sums over i and j of weight_ij (first_i - second_j)^2, by dimension."""
    x, y = first - 0.5, second - 0.5
    ones = np.ones((*x.shape[:2], 1))
    own = np.swapaxes(weight @ ones, 1, 2) @ (x * x) + (np.swapaxes(ones, 1, 2) @ weight) @ (y * y)
    return np.asarray(own[:, 0] - 2.0 * (x * (weight @ y)).sum(axis=1))


class EvidenceClimb:
    """Minus the log posterior of the hyperparameters of many problems, as `minimise_in_box` asks for it.

    It keeps the best that each problem has seen: theta (t, d + 1), value (t,), and of the fit there pull (t, n) and
    reduction (t, n, n). A fit starts from the pull of the problem's latest one. Problems are evaluated a few at a time,
    so that their matrices stay in the processor's cache.
    """

    def __init__(self, kernel: KernelName, points: ComparedPoints, pull: FloatArray) -> None:
        """Start from the pulls of earlier fits, (t, n)."""
        t, n, d = points.winners.shape
        self._kernel, self._points, self._latest = kernel, points, pull.copy()
        self.theta, self.value = np.zeros((t, d + 1)), np.full(t, np.inf)
        self.pull, self.reduction = np.zeros((t, n)), np.zeros((t, n, n))

    def __call__(self, theta: FloatArray, problems: IntArray) -> tuple[FloatArray, FloatArray]:
        """Values (k,) and gradients (k, d + 1) at theta (k, d + 1) for problems (k,)."""
        values, gradients = np.empty(len(problems)), np.empty(theta.shape)
        size = max(1, _CHUNK // max(1, self._latest.shape[1]) ** 2)
        for start in range(0, len(problems), size):
            part = slice(start, start + size)
            who = problems[part]
            found = evaluate_evidence(self._kernel, self._points.of(who), theta[part], self._latest[who])
            values[part], gradients[part] = -found.value, -found.gradient
            self._latest[who] = found.fit.pull
            better = np.flatnonzero(values[part] < self.value[who])
            own = who[better]
            self.theta[own], self.value[own] = theta[part][better], values[part][better]
            self.pull[own], self.reduction[own] = found.fit.pull[better], found.fit.reduction[better]
        return values, gradients
