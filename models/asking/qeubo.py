"""qEUBO for pairs, in closed form over all pairs at once (dt-pbo section 3.3 and D.2).

The expected utility of the better of two jointly Gaussian options. Any number of problems are scored together.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from models.records.arrays import FloatArray, IntArray

_SQRT_2PI = math.sqrt(2.0 * math.pi)


def qeubo(mean: FloatArray, covariance: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """E max(f_i, f_j) of the pairs (first, second) (p,) of m options, in each problem: (..., p).

    mean: (..., m); covariance: (..., m, m). With s the standard deviation of f_i - f_j and z = |mean_i - mean_j| / s
    the value is max(mean_i, mean_j) + s (phi(z) - z Phi(-z)): D.2's score, written so that (i, j) and (j, i) agree to
    the last bit. Where s = 0, as within a leaf, the value is the larger mean.
    Raises ValueError where mean and covariance do not fit together.

    >>> mean, covariance = np.array([0.0, 0.0, 1.0]), np.diag([1.0, 3.0, 0.0])
    >>> qeubo(mean, covariance, np.array([0, 0, 1]), np.array([1, 2, 2])).round(3)
    array([0.798, 1.083, 1.303])
    """
    if covariance.shape != (*mean.shape, mean.shape[-1]):
        raise ValueError(f"covariance must be {(*mean.shape, mean.shape[-1])} for this mean, found {covariance.shape}")
    one, other = mean[..., first], mean[..., second]
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)
    shared = covariance[..., first, second] + covariance[..., second, first]
    spread = np.sqrt(np.maximum(variances[..., first] + variances[..., second] - shared, 0.0))
    gap = np.abs(one - other)
    z = np.divide(gap, spread, out=np.zeros_like(gap), where=spread > 0)
    gain = spread * np.exp(-0.5 * z * z) / _SQRT_2PI - gap * ndtr(-z)
    return np.asarray(np.maximum(one, other) + np.where(spread > 0, gain, 0.0))
