"""Length scales of greatest evidence, for a batch of runs at once.

The implementation of Takeno et al. (2023) climbs Laplace's approximation of the evidence from ten starts, among the
values of all 2n points, with numerical slopes. "laplace" is the same evidence in the space of the n differences, with
exact slopes; "ep" costs as much and is closer to the truth.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from models.gaussian.skew.evidence import laplace_evidence
from models.gaussian.skew.expectation_propagation import ep_evidence
from models.gaussian.skew.kernels import covariance_slope, difference_covariance
from models.gaussian.stationary import KernelName
from models.numerics.box_minimiser import minimise_in_box
from models.records.arrays import FloatArray, IntArray

EvidenceName = Literal["laplace", "ep"]

EVIDENCES = {"laplace": (laplace_evidence, 1), "ep": (ep_evidence, 2)}
"""How the evidence is approximated, and the number of values a comparison in its state."""

JITTER = 1e-8
"""Added to the prior variance of each difference, so that pairs compared twice keep the covariance definite."""

_MAX_STEPS, _LONGEST = 10, 1.0
_SETTLED = 2e-3  # share of the log evidence; the implementation of Takeno et al. stops at 0.1


def choose_length_scales(
    kernel: KernelName,
    evidence: EvidenceName,
    pairs: FloatArray,
    noise: float,
    bounds: tuple[float, float],
    start: FloatArray,
) -> FloatArray:
    """Climb the evidence from the best of three starts: `start` (t, d), all lengths at the upper bound, and midway.

    pairs: (t, n, 2, d), winner first; noise: standard deviation of each utility's noise, in units of the prior's.
    Returns (t, d) length scales within the bounds.

    >>> x = np.linspace(0, 1, 12)
    >>> pairs = np.stack([x[1:], x[:-1]], axis=1)[None, ..., None]  # more is better
    >>> choose_length_scales("rbf", "laplace", pairs, 0.01, (0.1, 2.0), np.ones((1, 1)))
    array([[2.]])
    """
    n_runs, n = pairs.shape[:2]
    scale, jitter = math.sqrt(2.0) * noise, JITTER * np.eye(n)
    find, k = EVIDENCES[evidence]
    states = np.zeros((n_runs, k, n))  # where the search for the evidence ended last

    def descend(theta: FloatArray, runs: IntArray) -> tuple[FloatArray, FloatArray]:
        lengths = np.exp(theta)
        covariance, slopes = difference_covariance(kernel, pairs[runs], pairs[runs], lengths)
        found = find(covariance + jitter, scale, states[runs])
        states[runs] = found.state
        return -found.log_evidence, -covariance_slope(found.slope, slopes, pairs[runs], lengths)

    low, high = (np.full(start.shape[1], math.log(bound)) for bound in bounds)
    starts = np.stack([np.log(start), *(np.broadcast_to(at, start.shape) for at in ((low + high) / 2, high))])
    values = np.stack([descend(theta, np.arange(n_runs))[0] for theta in starts])
    best = starts[values.argmin(axis=0), np.arange(n_runs)]
    found = minimise_in_box(descend, best, low, high, max_steps=_MAX_STEPS, longest=_LONGEST, settled=_SETTLED)
    return np.exp(found.point)
