"""The pair of points of the unit cube with the greatest qEUBO under a Gaussian process (dt-pbo section 3.3, D.2).

Pairs of candidate points are scored first; from the best of them gradient steps climb in all 2d coordinates.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from models.gaussian.difference_belief import DifferenceBelief
from models.gaussian.stationary import correlations, correlations_and_slopes, squared_distances
from models.numerics.box_minimiser import minimise_in_box
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray, IntArray

STEPS, LONGEST = 25, 0.2
_TINY = 1e-12
_SQRT_2PI = math.sqrt(2.0 * math.pi)
_PLACE, _START = 0, 1


def uniforms(lots: HashArray, key: int, shape: tuple[int, ...]) -> FloatArray:
    """Uniform numbers in (0, 1) that depend on the lots (t,) and a key alone, (t, *shape)."""
    drawn = mix(mix(lots, key)[:, None], np.arange(math.prod(shape)))
    return ((drawn >> np.uint64(11)) + 0.5).reshape(len(lots), *shape) * 2.0**-53


def best_pairs(belief: DifferenceBelief, lots: HashArray, n_candidates: int, n_starts: int) -> FloatArray:
    """The pair of greatest qEUBO in each run, (t, 2, d), climbed to from the best pairs of candidates; lots: (t,)."""
    starts = starting_pairs(belief, lots, n_candidates, n_starts)
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


def starting_pairs(belief: DifferenceBelief, lots: HashArray, n_candidates: int, n_starts: int) -> FloatArray:
    """The best of uniformly drawn pairs, and others drawn with odds exp(z), (t, n_starts, 2, d).

    z is a pair's qEUBO, standardised over the pairs drawn.
    """
    t, d = len(lots), belief.scales.shape[1]
    pairs = uniforms(lots, _PLACE, (n_candidates, 2, d))
    value = qeubo_of_pairs(belief, pairs)
    z = (value - value.mean(axis=1, keepdims=True)) / np.maximum(value.std(axis=1, keepdims=True), _TINY)
    drawn = z - np.log(-np.log(uniforms(lots, _START, (n_candidates,))))  # Gumbel's lots draw with odds exp(z)
    drawn[np.arange(t), value.argmax(axis=1)] = np.inf
    chosen = np.argsort(-drawn, axis=1, kind="stable")[:, :n_starts]
    return np.asarray(pairs[np.arange(t)[:, None], chosen])


def qeubo_of_pairs(belief: DifferenceBelief, pairs: FloatArray) -> FloatArray:
    """QEUBO (t, s) of pairs (t, s, 2, d) under t processes."""
    t, s, _, d = pairs.shape
    cross = belief.cross(pairs.reshape(t, 2 * s, d))
    mean = (cross @ belief.pull[..., None]).reshape(t, s, 2)
    cross = cross.reshape(t, s, 2, -1)
    difference = cross[:, :, 0] - cross[:, :, 1]
    apart = np.square((pairs[:, :, 0] - pairs[:, :, 1]) / belief.scales[:, None]).sum(axis=2)
    prior = 2.0 * belief.variance[:, None] * (1.0 - correlations(belief.kernel, apart))
    spread = np.sqrt(np.maximum(prior - (difference @ belief.reduction * difference).sum(axis=2), _TINY))
    gap = mean[..., 0] - mean[..., 1]
    z = gap / spread
    return np.asarray(mean[..., 1] + gap * ndtr(z) + spread * np.exp(-0.5 * z * z) / _SQRT_2PI)


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
