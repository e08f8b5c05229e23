"""The pair of points of the unit cube with the greatest qEUBO under a Gaussian process (dt-pbo section 3.3, D.2).

Pairs of candidate points are scored first; from the best of them gradient steps climb in all 2d coordinates.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri

from models.asking.qeubo import qeubo
from models.gaussian.difference_belief import DifferenceBelief
from models.gaussian.stationary import correlations_and_slopes, squared_distances
from models.numerics.box_minimiser import minimise_in_box
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray, IntArray

UNIFORM, BEST, NEAR = 96, 8, 6
"""Candidates: uniform points, the best compared ones, and points near each of those."""
REACH = (0.003, 0.2)
"""The standard deviation of a step to a near point, log-uniform between these, as a share of the box's width."""
STEPS, LONGEST = 20, 0.1
_TINY = 1e-12
_SQRT_2PI = math.sqrt(2.0 * math.pi)
_PLACE, _STEP, _SIZE = 0, 1, 2


def uniforms(lots: HashArray, key: int, shape: tuple[int, ...]) -> FloatArray:
    """Uniform numbers in (0, 1) that depend on the lots (t,) and a key alone, (t, *shape)."""
    drawn = mix(mix(lots, key)[:, None], np.arange(math.prod(shape)))
    return ((drawn >> np.uint64(11)) + 0.5).reshape(len(lots), *shape) * 2.0**-53


def candidate_points(points: FloatArray, mean: FloatArray, lots: HashArray) -> FloatArray:
    """Candidates of each run, (t, c, d), from the compared points (t, m, d) with their means (t, m), and lots (t,).

    >>> points = np.linspace(0.0, 1.0, 20).reshape(1, 20, 1)
    >>> candidate_points(points, points[:, :, 0], mix(0, np.arange(1))).shape
    (1, 152, 1)
    """
    d = points.shape[2]
    order = np.argsort(-mean, axis=1, kind="stable")[:, :BEST]
    best = np.take_along_axis(points, order[..., None], axis=1)
    low, high = np.log(REACH)
    size = np.exp(low + (high - low) * uniforms(lots, _SIZE, (best.shape[1], NEAR, 1)))
    near = best[:, :, None] + size * ndtri(uniforms(lots, _STEP, (best.shape[1], NEAR, d)))
    near = np.clip(near, 0.0, 1.0).reshape(len(points), -1, d)
    return np.concatenate([uniforms(lots, _PLACE, (UNIFORM, d)), best, near], axis=1)


def best_pairs(belief: DifferenceBelief, candidates: FloatArray, n_starts: int) -> FloatArray:
    """The pair of greatest qEUBO in each run, (t, 2, d), climbed to from the best pairs of candidates (t, c, d)."""
    starts = _starting_pairs(belief, candidates, n_starts)
    t, s, _, d = starts.shape

    def descend(flat: FloatArray, number: IntArray) -> tuple[FloatArray, FloatArray]:
        value, gradient = _by_run(belief, flat.reshape(-1, 2, d), number // s)
        return -value, -gradient.reshape(flat.shape)

    corner = np.zeros(2 * d)
    found = minimise_in_box(
        descend, starts.reshape(t * s, 2 * d), corner, corner + 1.0, max_steps=STEPS, longest=LONGEST,
        inverse=np.broadcast_to(_inverse(belief, d), (t, s, 2 * d, 2 * d)).reshape(t * s, 2 * d, 2 * d),
    )  # fmt: skip
    best = found.value.reshape(t, s).argmin(axis=1)
    return np.asarray(found.point.reshape(t, s, 2, d)[np.arange(t), best])


def _inverse(belief: DifferenceBelief, d: int) -> FloatArray:
    """A first inverse Hessian, (t, 1, 2d, 2d): a utility bends by about its standard deviation over scale^2."""
    bend = np.sqrt(belief.variance)[:, None] / belief.scales**2
    return np.asarray((np.tile(1.0 / bend, 2)[:, :, None] * np.eye(2 * d))[:, None])


def _starting_pairs(belief: DifferenceBelief, candidates: FloatArray, n_starts: int) -> FloatArray:
    """The best pairs of candidates, (t, s, 2, d); after each, no other takes its point of lesser mean."""
    mean, covariance = belief.at(candidates)
    first, second = np.triu_indices(candidates.shape[1], 1)
    value = qeubo(mean, covariance, first, second)
    run, starts = np.arange(len(candidates)), []
    for _ in range(n_starts):
        best = value.argmax(axis=1)
        one, other = first[best], second[best]
        starts.append(np.stack([candidates[run, one], candidates[run, other]], axis=1))
        lesser = np.where(mean[run, one] < mean[run, other], one, other)[:, None]
        value[(first == lesser) | (second == lesser)] = -np.inf
    return np.stack(starts, axis=1)


def _by_run(belief: DifferenceBelief, pairs: FloatArray, run: IntArray) -> tuple[FloatArray, FloatArray]:
    """QEUBO (k,) and gradient (k, 2, d) of pairs (k, 2, d) of the given runs, in ascending order, (k,)."""
    runs, place, count = np.unique(run, return_inverse=True, return_counts=True)
    rank = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count)
    padded = np.full((len(runs), count.max(), *pairs.shape[1:]), 0.5)
    padded[place, rank] = pairs
    value, gradient = qeubo_and_gradient(belief.of(runs), padded)
    return value[place, rank], gradient[place, rank]


def qeubo_and_gradient(belief: DifferenceBelief, pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """QEUBO (t, s) of pairs (t, s, 2, d) under t processes, and its gradient by the points, (t, s, 2, d).

    With gap = mean_1 - mean_2, s the standard deviation of the difference and z = gap / s, the value is
    mean_2 + gap Phi(z) + s phi(z); its derivatives by the means are Phi(z) and Phi(-z), by s phi(z).
    """
    t, s, _, d = pairs.shape
    places, scales, variance = pairs.reshape(t, 2 * s, d), belief.scales, belief.variance[:, None]
    won, won_slope = correlations_and_slopes(belief.kernel, squared_distances(places, belief.points.winners, scales))
    lost, lost_slope = correlations_and_slopes(belief.kernel, squared_distances(places, belief.points.losers, scales))
    cross = variance[..., None] * (won - lost)
    mean = (cross @ belief.pull[..., None]).reshape(t, s, 2)
    apart = (pairs[:, :, 0] - pairs[:, :, 1]) / scales[:, None]
    likeness, likeness_slope = correlations_and_slopes(belief.kernel, np.square(apart).sum(axis=2))
    of_difference = cross.reshape(t, s, 2, -1)
    of_difference = of_difference[:, :, 0] - of_difference[:, :, 1]
    reduced = of_difference @ belief.reduction
    spread = np.sqrt(np.maximum(2.0 * variance * (1.0 - likeness) - (of_difference * reduced).sum(axis=2), _TINY))
    gap = mean[..., 0] - mean[..., 1]
    z = gap / spread
    density, share = np.exp(-0.5 * z * z) / _SQRT_2PI, ndtr(z)
    value = mean[..., 1] + gap * share + spread * density

    pull = density / spread  # minus twice the derivative by the covariance of the two
    by_mean = np.stack([share, ndtr(-z)], axis=2)[..., None] * belief.pull[:, None, None]
    by_spread = np.stack([pull, -pull], axis=2)[..., None] * reduced[:, :, None]
    weight = variance[..., None] * (by_mean - by_spread).reshape(t, 2 * s, -1)
    gradient = _pulled(places, belief.points.winners, weight * won_slope)
    gradient = (gradient - _pulled(places, belief.points.losers, weight * lost_slope)).reshape(t, s, 2, d)
    away = (2.0 * variance * pull * likeness_slope)[..., None] * apart * scales[:, None]
    gradient -= np.stack([away, -away], axis=2)
    return value, gradient / (scales**2)[:, None, None]


def _pulled(places: FloatArray, points: FloatArray, weight: FloatArray) -> FloatArray:
    """The sums over points j of 2 weight_cj (places_c - points_j), (t, c, d)."""
    total = weight @ np.ones((*points.shape[:2], 1))
    return np.asarray(2.0 * (places * total - weight @ points))
