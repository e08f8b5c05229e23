"""Stationary kernels of unit amplitude with one length scale per feature, for a batch of runs at once."""

from __future__ import annotations

from typing import Literal

import numpy as np

from models.records.arrays import FloatArray

KernelName = Literal["rbf", "matern12", "matern32", "matern52"]
"""The radial basis function kernel, and Matérn's of smoothness 1/2, 3/2 and 5/2."""

_CENTRE = 0.5  # of the unit cube: squares of small numbers cancel to small errors
_NEAREST = 1e-6  # in length scales: the slope of Matérn 1/2 has a pole where two points coincide


def scaled_squares(X: FloatArray, Y: FloatArray, lengths: FloatArray) -> FloatArray:
    """Squared distances in length scales, (t, a, b), of points X (t, a, d) and Y (t, b, d); lengths: (t, d).

    >>> scaled_squares(np.array([[[0.0], [1.0]]]), np.array([[[0.5]]]), np.array([[0.25]]))
    array([[[4.],
            [4.]]])
    """
    a, b = (np.ascontiguousarray((points - _CENTRE) / lengths[:, None]) for points in (X, Y))
    squares = a @ np.swapaxes(-2.0 * b, 1, 2)
    squares += np.einsum("tad,tad->ta", a, a)[:, :, None]
    squares += np.einsum("tbd,tbd->tb", b, b)[:, None]
    return np.asarray(np.maximum(squares, 0.0, out=squares))


def correlation(kernel: KernelName, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The kernel at squared scaled distances, and its derivative with respect to them.

    >>> [float(part.round(4)) for part in correlation("rbf", np.array(2.0))]
    [0.3679, -0.1839]
    """
    if kernel == "rbf":
        value = np.exp(-0.5 * squares)
        return value, -0.5 * value
    if kernel == "matern12":
        r = np.sqrt(squares)
        value = np.exp(-r)
        return value, -0.5 * value / np.maximum(r, _NEAREST)
    if kernel == "matern32":
        r = np.sqrt(3.0 * squares)
        decay = np.exp(-r)
        return (1.0 + r) * decay, -1.5 * decay
    r = np.sqrt(5.0 * squares)
    decay = np.exp(-r)
    return (1.0 + r + r * r / 3.0) * decay, -(5.0 / 6.0) * (1.0 + r) * decay


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
        *(correlation(kernel, scaled_squares(X[:, :, i], Y[:, :, j], lengths)) for i in (0, 1) for j in (0, 1)),
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
        correlation(kernel, scaled_squares(x, pairs[:, :, end], lengths)) for end in (0, 1)
    )
    return loser - winner, np.stack([by_winner, by_loser])
