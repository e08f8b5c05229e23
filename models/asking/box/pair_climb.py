"""The pair of points of the unit cube with the greatest qEUBO under a Gaussian process (dt-pbo section 3.3, D.2).

Pairs of candidate points are scored first; from the best of them gradient steps climb in all 2d coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from models.gaussian.difference_belief import DifferenceBelief
from models.gaussian.stationary import correlations_and_slopes, squared_distances
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
    return np.asarray(((drawn >> np.uint64(11)) + 0.5).reshape(len(lots), *shape) * 2.0**-53, dtype=np.float64)


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
    value = _forward(belief, pairs).value
    z = (value - value.mean(axis=1, keepdims=True)) / np.maximum(value.std(axis=1, keepdims=True), _TINY)
    drawn = z - np.log(-np.log(uniforms(lots, _START, (n_candidates,))))  # Gumbel's lots draw with odds exp(z)
    drawn[np.arange(t), value.argmax(axis=1)] = np.inf
    chosen = np.argsort(-drawn, axis=1, kind="stable")[:, :n_starts]
    return np.asarray(pairs[np.arange(t)[:, None], chosen])


def _by_run(belief: DifferenceBelief, pairs: FloatArray, run: IntArray) -> tuple[FloatArray, FloatArray]:
    """QEUBO (k,) and gradient (k, 2, d) of pairs (k, 2, d) of the given runs, in ascending order, (k,)."""
    runs, place, count = np.unique(run, return_inverse=True, return_counts=True)
    rank = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count)
    padded = np.full((len(runs), count.max(), *pairs.shape[1:]), 0.5)
    padded[place, rank] = pairs
    value, gradient = qeubo_and_gradient(belief.of(runs), padded)
    return value[place, rank], gradient[place, rank]


@dataclass(frozen=True, eq=False)
class _Forward:
    """QEUBO (t, s) of pairs of points, and what its gradient needs.

    share: Phi(z); pull: phi(z) / spread; reduced: (t, s, n) R times the prior covariance of the pair's difference and
    the comparisons; won and lost slopes: (t, 2s, n); apart: (t, s, d) in units of the scales; likeness_slope: (t, s).
    """

    value: FloatArray
    share: FloatArray
    pull: FloatArray
    reduced: FloatArray
    won_slope: FloatArray
    lost_slope: FloatArray
    apart: FloatArray
    likeness_slope: FloatArray


def _forward(belief: DifferenceBelief, pairs: FloatArray) -> _Forward:
    t, s, _, d = pairs.shape
    kernel, places, scales, variance = belief.kernel, pairs.reshape(t, 2 * s, d), belief.scales, belief.variance
    won, won_slope = correlations_and_slopes(kernel, squared_distances(places, belief.points.winners, scales))
    lost, lost_slope = correlations_and_slopes(kernel, squared_distances(places, belief.points.losers, scales))
    won -= lost
    cross = won
    cross *= variance[:, None, None]
    mean = (cross @ belief.pull[..., None]).reshape(t, s, 2)
    apart = (pairs[:, :, 0] - pairs[:, :, 1]) / scales[:, None]
    likeness, likeness_slope = correlations_and_slopes(kernel, np.square(apart).sum(axis=2))
    difference = cross.reshape(t, s, 2, -1)[:, :, 0] - cross.reshape(t, s, 2, -1)[:, :, 1]
    reduced = difference @ belief.reduction
    left = 2.0 * variance[:, None] * (1.0 - likeness) - np.einsum("tsn,tsn->ts", difference, reduced)
    spread = np.sqrt(np.maximum(left, _TINY))
    gap = mean[..., 0] - mean[..., 1]
    z = gap / spread
    density, share = np.exp(-0.5 * z * z) / _SQRT_2PI, ndtr(z)
    value = mean[..., 1] + gap * share + spread * density
    return _Forward(value, share, density / spread, reduced, won_slope, lost_slope, apart, likeness_slope)


def qeubo_and_gradient(belief: DifferenceBelief, pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """QEUBO (t, s) of pairs (t, s, 2, d) under t processes, and its gradient by the points, (t, s, 2, d).

    With gap = mean_1 - mean_2, s the standard deviation of the difference and z = gap / s, the value is
    mean_2 + gap Phi(z) + s phi(z); its derivatives by the means are Phi(z) and Phi(-z), by s phi(z).
    """
    t, s, _, d = pairs.shape
    at, variance, scales = _forward(belief, pairs), belief.variance[:, None], belief.scales[:, None]
    by_mean = np.stack([at.share, 1.0 - at.share], axis=2)[..., None] * belief.pull[:, None, None]
    by_spread = np.stack([at.pull, -at.pull], axis=2)[..., None] * at.reduced[:, :, None]
    weight = variance[..., None] * (by_mean - by_spread).reshape(t, 2 * s, -1)
    places = pairs.reshape(t, 2 * s, d)
    gradient = _pulled(places, belief.points.winners, weight * at.won_slope)
    gradient = (gradient - _pulled(places, belief.points.losers, weight * at.lost_slope)).reshape(t, s, 2, d)
    away = (2.0 * variance * at.pull * at.likeness_slope)[..., None] * at.apart * scales
    gradient -= np.stack([away, -away], axis=2)
    return at.value, gradient / np.square(scales)[:, :, None]


def _pulled(places: FloatArray, points: FloatArray, weight: FloatArray) -> FloatArray:
    """The sums over points j of 2 weight_cj (places_c - points_j), (t, c, d)."""
    total = weight @ np.ones((*points.shape[:2], 1))
    return np.asarray(2.0 * (places * total - weight @ points))
