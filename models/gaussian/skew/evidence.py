"""Laplace approximation of the evidence of comparisons, in the space of their utility differences.

The n differences y = f(winner) - f(loser) of the compared pairs are normal with covariance K, and their signs are seen
with likelihood Phi(y / scale): a probit classification without inputs of its own. Rasmussen and Williams (2006),
Algorithms 3.1 and 5.1. Any number of problems of one size are solved at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.gaussian.laplace import log_normal_cdf, probit_terms
from models.records.arrays import FloatArray

MAX_STEPS = 50
TOLERANCE = 1e-6  # of the objective, a sum of log probabilities


class Evidence(NamedTuple):
    """Of t problems: log evidence (t,), its derivative by K (t, n, n), and where the search for it ended, (t, k, n)."""

    log_evidence: FloatArray
    slope: FloatArray
    state: FloatArray


def laplace_evidence(K: FloatArray, scale: float, start: FloatArray | None = None) -> Evidence:
    """Log evidence of n comparisons in each of t problems, and its derivative.

    K: (t, n, n) prior covariance of the differences; scale: sqrt(2) times the noise of a utility; start: the state to
    start from, zeros if None; here it is a = K^-1 y at the mode, (t, 1, n).

    >>> found = laplace_evidence(np.eye(1)[None], scale=1.0)
    >>> np.exp(found.log_evidence).round(2)  # the truth is 1/2
    array([0.5])
    """
    a = np.zeros(K.shape[:2]) if start is None else start[:, 0]
    a, y, z, log_phi = _mode(K, scale, a)
    ratio, weight = probit_terms(z, log_phi)
    root = np.sqrt(weight) / scale
    inner = inner_matrix(K, root)
    R = root[:, :, None] * np.linalg.inv(inner) * root[:, None, :]
    RK = R @ K
    log_evidence = log_phi.sum(axis=1) - 0.5 * np.einsum("tn,tn->t", a, y) - 0.5 * np.linalg.slogdet(inner)[1]
    variance = np.diagonal(K, axis1=1, axis2=2) - np.einsum("tij,tij->tj", K, RK)
    change = ratio * (1.0 - weight) - weight * (z + ratio)  # of the weight, by z
    by_mode = -0.5 * variance * change / scale**3
    moved = by_mode - np.einsum("tij,tj->ti", RK, by_mode)
    outer = (0.5 * a + moved)[:, :, None] * (ratio / scale)[:, None, :]
    return Evidence(log_evidence, 0.5 * (outer + np.swapaxes(outer, 1, 2) - R), a[:, None])


def inner_matrix(K: FloatArray, root: FloatArray) -> FloatArray:
    """I + W^1/2 K W^1/2."""
    inner = root[:, :, None] * K * root[:, None, :]
    diagonal = np.arange(K.shape[1])
    inner[:, diagonal, diagonal] += 1.0
    return inner


def _mode(K: FloatArray, scale: float, a: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Newton's method with halved steps: a = K^-1 y at the mode, y, z = y / scale and log Phi(z), (t, n) each."""

    def at(a: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        y = np.einsum("tij,tj->ti", K, a)
        z = y / scale
        log_phi = log_normal_cdf(z)
        return y, z, log_phi, 0.5 * np.einsum("tn,tn->t", a, y) - log_phi.sum(axis=1)

    y, z, log_phi, objective = at(a)
    for _ in range(MAX_STEPS):
        ratio, weight = probit_terms(z, log_phi)
        root = np.sqrt(weight) / scale
        b = root * root * y + ratio / scale
        Kb = np.einsum("tij,tj->ti", K, b)
        step = b - root * np.linalg.solve(inner_matrix(K, root), (root * Kb)[..., None])[..., 0] - a
        length = np.ones(len(a))
        while True:
            trial = a + length[:, None] * step
            new = at(trial)
            rises = ~(new[3] <= objective + 1e-12 * np.abs(objective)) & (length > 0)
            if not rises.any():
                break
            length[rises] = np.where(length[rises] > 1e-6, length[rises] / 2, 0.0)
        gained = objective - new[3]
        a, (y, z, log_phi, objective) = trial, new
        if gained.max() < TOLERANCE:
            break
    return a, y, z, log_phi
