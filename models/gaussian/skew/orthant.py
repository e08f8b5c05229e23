"""Gibbs samples of normal vectors whose every coordinate is negative, for a batch of runs at once.

Takeno et al. (2023), section 3.2, sample the differences of compared utilities this way. A sweep draws each coordinate
given the others. After a sweep the length of the whole vector is drawn given its direction, since every positive
multiple of it is negative too: that is the slowest direction of the coordinate moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, log_ndtr, ndtri_exp

from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray

_SMALLEST = np.finfo(np.float64).tiny


class Chain(NamedTuple):
    """After some sweeps: the last sample, (t, n), and the mean over the later half of the sweeps, (t, n)."""

    sample: FloatArray
    mean: FloatArray


def negative_normal(mean: FloatArray, log_uniform: FloatArray) -> FloatArray:
    """Draws of N(mean, 1) truncated to values of at most zero, by inversion: the quantiles of log probabilities.

    Both arguments broadcast. Exact far into both tails.

    >>> negative_normal(np.array([-4.0, 0.0, 40.0]), np.log(np.array(0.5))).round(3)
    array([-4.   , -0.674, -0.017])
    """
    return np.asarray(np.minimum(mean + ndtri_exp(log_uniform + log_ndtr(-mean)), 0.0))


def sample_negative(precision: FloatArray, start: FloatArray, lots: HashArray, n_sweeps: int) -> Chain:
    """Continue a Gibbs chain of N(0, precision^-1) truncated to negative coordinates by n_sweeps sweeps.

    precision: (t, n, n); start: (t, n) with no positive coordinate; lots: (t,) hashes, one for each run.
    A sweep goes from the last coordinate to the first: the newest comparison, not drawn yet, comes first.

    >>> chain = sample_negative(np.eye(2)[None], np.zeros((1, 2)), np.zeros(1, dtype=np.uint64), 400)
    >>> chain.mean.round(1)  # -sqrt(2 / pi) each
    array([[-0.8, -0.8]])
    """
    n_runs, n = start.shape
    own = mix(lots[:, None], np.arange(n_sweeps * (n + 1))).reshape(n_runs, n_sweeps, n + 1)
    uniform = np.moveaxis(((own >> np.uint64(11)) + 0.5) * 2.0**-53, 0, 2)
    log_uniform = np.log(uniform[:, :n])
    squared_length = 2.0 * gammaincinv(0.5 * n, uniform[:, n])  # chi-square quantiles with n degrees of freedom
    deviation = 1.0 / np.sqrt(np.diagonal(precision, axis1=1, axis2=2))  # of each coordinate given the others
    unit = precision * deviation[:, :, None] * deviation[:, None, :]
    rows = np.ascontiguousarray(-np.moveaxis(unit, 1, 0))
    rows[np.arange(n), :, np.arange(n)] = 0.0
    u = start / deviation
    total = np.zeros_like(u)
    for sweep in range(n_sweeps):
        for i in range(n - 1, -1, -1):
            u[:, i] = negative_normal(np.einsum("tn,tn->t", rows[i], u), log_uniform[sweep, i])
        found = np.einsum("ti,ti->t", u, (unit @ u[..., None])[..., 0])
        u *= np.sqrt(squared_length[sweep] / np.maximum(found, _SMALLEST))[:, None]
        if 2 * sweep >= n_sweeps - 1:
            total += u
    return Chain(u * deviation, total * deviation / (n_sweeps - n_sweeps // 2))
