"""Gibbs samples of normal vectors whose every coordinate is negative, for a batch of runs at once.

Takeno et al. (2023), section 3.2, sample the differences of compared utilities this way. A sweep draws each coordinate
given the others. After a sweep the length of the whole vector is drawn given its direction, since every positive
multiple of it is negative too: that is the slowest direction of the coordinate moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, log_ndtr, ndtri_exp

from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray


class Chain(NamedTuple):
    """After some sweeps: the last sample, (t, n), and the mean over the later half of the sweeps, (t, n)."""

    sample: FloatArray
    mean: FloatArray


def negative_normal(mean: FloatArray, deviation: FloatArray, log_uniform: FloatArray) -> FloatArray:
    """Normal draws truncated to values of at most zero, by inversion: the quantiles of log probabilities log_uniform.

    All arguments broadcast. Exact far into both tails.

    >>> negative_normal(np.array([-40.0, 0.0, 40.0]), np.array(1.0), np.log(np.array(0.5))).round(4)
    array([-4.00000e+01, -6.74500e-01, -1.73000e-02])
    """
    drawn = ndtri_exp(log_uniform + log_ndtr(-mean / deviation))
    return np.asarray(np.minimum(mean + deviation * drawn, 0.0))


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
    diagonal = np.diagonal(precision, axis1=1, axis2=2)
    deviation = 1.0 / np.sqrt(diagonal.T)
    rows = np.moveaxis(precision / -diagonal[:, :, None], 1, 0).copy()
    rows[np.arange(n), :, np.arange(n)] = 0.0
    v, mean, later = start.copy(), np.zeros_like(start), 0
    for sweep in range(n_sweeps):
        for i in range(n - 1, -1, -1):
            given = np.einsum("tn,tn->t", rows[i], v)
            v[:, i] = negative_normal(given, deviation[i], log_uniform[sweep, i])
        found = np.einsum("ti,tij,tj->t", v, precision, v, optimize=True)
        v *= np.sqrt(squared_length[sweep] / np.maximum(found, math.ulp(0.0)))[:, None]
        if 2 * (sweep + 1) > n_sweeps:
            mean += v
            later += 1
    return Chain(v, mean / max(later, 1))
