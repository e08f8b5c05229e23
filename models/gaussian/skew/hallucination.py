"""The ordinary Gaussian process that remains when the differences of all compared utilities are given.

Takeno et al. (2023), section 4: the differences v_i = f(loser_i) - f(winner_i), each with noise, are given the values
of one Gibbs sample, a hallucination, and everything about f is normal again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from models.gaussian.skew.kernels import cross_covariance
from models.gaussian.stationary import KernelName
from models.records.arrays import FloatArray, IntArray


class Beliefs(NamedTuple):
    """Mean and variance of the utilities of points x, (t, c) each, and their gradients by x, (t, c, d) each."""

    mean: FloatArray
    variance: FloatArray
    mean_slope: FloatArray
    variance_slope: FloatArray


@dataclass(frozen=True, eq=False)
class Differences:
    """The compared pairs of t runs with the process that they are seen under.

    pairs: (t, n, 2, d) winner first; lengths: (t, d) length scales; precision: (t, n, n) inverse prior covariance of
    the noisy differences v.

    >>> pairs = np.array([[[[0.0], [1.0]]]])
    >>> process = Differences("rbf", pairs, np.ones((1, 1)), np.ones((1, 1, 1)))
    >>> process.mean(pairs[:, 0], -np.ones((1, 1))).round(2)
    array([[ 0.39, -0.39]])
    """

    kernel: KernelName
    pairs: FloatArray
    lengths: FloatArray
    precision: FloatArray

    def mean(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Mean utility of points x (t, c, d) given the differences v (t, n): (t, c)."""
        pull = np.einsum("tij,tj->ti", self.precision, v)
        cross, _ = cross_covariance(self.kernel, x, self.pairs, self.lengths)
        return np.asarray(np.einsum("tcn,tn->tc", cross, pull))

    def beliefs(self, x: FloatArray, v: FloatArray, runs: IntArray | slice = slice(None)) -> Beliefs:
        """Mean and variance of the utilities of points x (k, c, d) of some runs (k,), given v (t, n)."""
        pairs, lengths, precision = self.pairs[runs], self.lengths[runs], self.precision[runs]
        pull = np.einsum("tij,tj->ti", precision, v[runs])
        cross, by_square = cross_covariance(self.kernel, x, pairs, lengths)
        reduced = cross @ precision
        mean = np.einsum("tcn,tn->tc", cross, pull)
        variance = 1.0 - np.einsum("tcn,tcn->tc", reduced, cross)
        mean_slope, variance_slope = np.zeros_like(x), np.zeros_like(x)
        for end, sign in ((0, -1.0), (1, 1.0)):  # a winner enters with a minus
            points, by_end = pairs[:, :, end], sign * by_square[end]
            mean_slope += _by_place(by_end * pull[:, None], x, points)
            variance_slope += _by_place(-2.0 * by_end * reduced, x, points)
        scale = 2.0 / lengths[:, None] ** 2
        return Beliefs(mean, np.maximum(variance, 0.0), mean_slope * scale, variance_slope * scale)


def _by_place(weight: FloatArray, x: FloatArray, points: FloatArray) -> FloatArray:
    """The sum over points (k, n, d) of weight (k, c, n) times x - point, for x (k, c, d): (k, c, d)."""
    return np.asarray(weight.sum(axis=2)[..., None] * x - weight @ points)


def with_new_row(precision: FloatArray, cross: FloatArray, own: FloatArray) -> FloatArray:
    """The inverse (t, n + 1, n + 1) of a covariance that gains a last row (cross (t, n), own (t,)).

    precision: (t, n, n) the inverse before.

    >>> with_new_row(np.eye(1)[None], np.array([[0.5]]), np.array([1.0])).round(2)
    array([[[ 1.33, -0.67],
            [-0.67,  1.33]]])
    """
    weight = np.einsum("tij,tj->ti", precision, cross)
    rest = own - np.einsum("tn,tn->t", weight, cross)
    column = np.concatenate([-weight, np.ones((len(own), 1))], axis=1)
    grown = np.pad(precision, ((0, 0), (0, 1), (0, 1)))
    return np.asarray(grown + column[:, :, None] * column[:, None] / rest[:, None, None])
