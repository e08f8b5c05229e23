"""Expected improvement, on the log scale: there it has slopes to climb even where it is too small for a number."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr

from models.records.arrays import FloatArray

_SQRT_2, _LOG_SQRT_2PI = math.sqrt(2.0), 0.5 * math.log(2.0 * math.pi)
_FAR = 1e3  # standard deviations below which 1 + z Phi(z) / phi(z) cancels to noise and its series is exact


class LogImprovement(NamedTuple):
    """The logarithm of the expected improvement and its derivatives by mean and variance."""

    value: FloatArray
    by_mean: FloatArray
    by_variance: FloatArray


def log_expected_improvement(mean: FloatArray, variance: FloatArray, best: FloatArray) -> LogImprovement:
    """Log E max(f - best, 0) for normal f; all arguments broadcast, and every variance must be positive.

    With s the standard deviation and z = (mean - best) / s, the expectation is s (phi(z) + z Phi(z)).

    >>> found = log_expected_improvement(np.zeros(1), np.ones(1), np.zeros(1))
    >>> np.exp(found.value).round(4), found.by_mean.round(4)
    (array([0.3989]), array([1.2533]))
    >>> log_expected_improvement(np.array([-40.0]), np.ones(1), np.zeros(1)).value.round(1)
    array([-808.3])
    """
    deviation = np.sqrt(variance)
    z = (mean - best) / deviation
    below, above = np.minimum(z, 0.0), np.maximum(z, 0.0)
    mills = math.sqrt(0.5 * math.pi) * erfcx(-below / _SQRT_2)  # Phi / phi
    square = np.maximum(below * below, _FAR)
    share = np.where(below < -_FAR, (1.0 - 3.0 / square) / square, 1.0 + below * mills)
    density, cumulative = np.exp(-0.5 * above * above - _LOG_SQRT_2PI), ndtr(above)
    direct = density + above * cumulative
    low = z < 0
    log_gain = np.where(low, -0.5 * below * below - _LOG_SQRT_2PI + np.log(share), np.log(direct))
    by_z = np.where(low, mills / share, cumulative / direct)
    density_share = np.where(low, 1.0 / share, density / direct)
    return LogImprovement(np.log(deviation) + log_gain, by_z / deviation, 0.5 * density_share / variance)
