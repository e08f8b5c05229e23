"""Prior covariances of utility differences under a stationary kernel of unit amplitude, for a batch of runs at once."""

from __future__ import annotations

import numpy as np

from models.gaussian.stationary import KernelName, correlations_and_slopes, squared_distances
from models.records.arrays import FloatArray


def difference_covariance(
    kernel: KernelName, X: FloatArray, Y: FloatArray, lengths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Prior covariance of utility differences f(loser) - f(winner): of pairs X (t, a, 2, d) with Y (t, b, 2, d).

    A pair holds its winner first. lengths: (t, d). Returns (t, a, b), and the derivatives of the kernel between each
    two ends with respect to squared scaled distances, (2, 2, t, a, b), by end of X and of Y.

    >>> pair = np.array([[[[0.0], [1.0]]]])
    >>> difference_covariance("rbf", pair, pair, np.ones((1, 1)))[0].round(3)
    array([[[0.787]]])
    """
    values, slopes = zip(
        *(
            correlations_and_slopes(kernel, squared_distances(X[:, :, i], Y[:, :, j], lengths))
            for i in (0, 1)
            for j in (0, 1)
        ),
        strict=True,
    )
    covariance = values[0] + values[3] - values[1] - values[2]
    return covariance, np.stack(slopes).reshape(2, 2, *covariance.shape)


def covariance_slope(pull: FloatArray, slopes: FloatArray, X: FloatArray, lengths: FloatArray) -> FloatArray:
    """Derivative with respect to the log length scales, (t, d), of something with derivative `pull`, (t, n, n).

    pull: with respect to `difference_covariance` of pairs X (t, n, 2, d) with themselves, whose slopes are given.
    """
    total = np.zeros((len(X), X.shape[3]))
    for i in (0, 1):
        for j in (0, 1):
            weight = (1.0 if i == j else -1.0) * pull * slopes[i, j]
            one, other = X[:, :, i], X[:, :, j]
            total += np.einsum("tn,tnd->td", weight.sum(axis=2), one * one)
            total += np.einsum("tn,tnd->td", weight.sum(axis=1), other * other)
            total -= 2.0 * np.einsum("tnd,tnd->td", one, weight @ other)
    return np.asarray(-2.0 * total / lengths**2)


def cross_covariance(
    kernel: KernelName, x: FloatArray, pairs: FloatArray, lengths: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Prior covariance of utilities at x (t, c, d) with differences of pairs (t, n, 2, d): (t, c, n).

    Also returns the derivatives of k(x, winner) and k(x, loser) by squared scaled distance, (2, t, c, n).

    >>> at = np.array([[[0.5], [1.0]]])  # between the two points, and at the loser
    >>> cross_covariance("rbf", at, np.array([[[[0.0], [1.0]]]]), np.ones((1, 1)))[0].round(3)
    array([[[0.   ],
            [0.393]]])
    """
    (winner, by_winner), (loser, by_loser) = (
        correlations_and_slopes(kernel, squared_distances(x, pairs[:, :, end], lengths)) for end in (0, 1)
    )
    return loser - winner, np.stack([by_winner, by_loser])
