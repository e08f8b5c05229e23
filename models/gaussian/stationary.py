"""Stationary kernels of points of a box, with one length scale per dimension, for many problems at once.

Rasmussen and Williams (2006), section 4.2.1: the RBF and the Matérn kernels with nu = 1/2, 3/2 and 5/2.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from models.records.arrays import FloatArray

KernelName = Literal["rbf", "matern12", "matern32", "matern52"]
"""The kernels of dt-pbo F.3; a Matérn kernel is named after its nu."""

_SQRT_3, _SQRT_5 = math.sqrt(3.0), math.sqrt(5.0)


def squared_distances(first: FloatArray, second: FloatArray, lengthscales: FloatArray) -> FloatArray:
    """Squared distances of points (..., a, d) and (..., b, d) in units of the length scales (..., d): (..., a, b).

    One matrix product a problem. Its rounding error is about 1e-16 times the squared width of the box.

    >>> squared_distances(np.array([[0.0, 1.0]]), np.array([[0.5, 0.0], [0.0, 1.0]]), np.array([0.5, 1.0]))
    array([[2., 0.]])
    """
    x, y = ((points - 0.5) / lengthscales[..., None, :] for points in (first, second))
    of_x = np.concatenate([-2.0 * x, np.square(x).sum(axis=-1, keepdims=True), np.ones_like(x[..., :1])], axis=-1)
    of_y = np.concatenate([y, np.ones_like(y[..., :1]), np.square(y).sum(axis=-1, keepdims=True)], axis=-1)
    return np.asarray(np.maximum(of_x @ np.swapaxes(of_y, -1, -2), 0.0))


def correlations(kernel: KernelName, squared: FloatArray) -> FloatArray:
    """The kernel of unit amplitude at squared distances, of any shape.

    >>> correlations("matern12", np.array([0.0, 4.0])).round(3)
    array([1.   , 0.135])
    """
    return correlations_and_slopes(kernel, squared)[0]


def correlations_and_slopes(kernel: KernelName, squared: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The kernel of unit amplitude and its derivative by the squared distance, each of the shape given.

    The Matérn kernel with nu = 1/2 has no derivative at distance zero; it is given as 0 there.

    >>> [part.round(3).tolist() for part in correlations_and_slopes("rbf", np.array([0.0, 2.0]))]
    [[1.0, 0.368], [-0.5, -0.184]]
    """
    if kernel == "rbf":
        value = np.exp(-0.5 * squared)
        return value, -0.5 * value
    r = np.sqrt(squared)
    if kernel == "matern12":
        value = np.exp(-r)
        return value, np.divide(-0.5 * value, r, out=np.zeros_like(r), where=r > 0)
    if kernel == "matern32":
        decay = np.exp(-_SQRT_3 * r)
        return decay * (1.0 + _SQRT_3 * r), -1.5 * decay
    decay = np.exp(-_SQRT_5 * r)
    rising = decay * (1.0 + _SQRT_5 * r)
    return rising + (5.0 / 3.0) * decay * squared, (-5.0 / 6.0) * rising
