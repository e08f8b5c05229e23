"""Factors of a kernel matrix, K = Phi Phi', exact or of low rank; items may coincide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve_triangular

from models.records.arrays import FloatArray, IntArray

NEGLIGIBLE = 1e-13
"""Eigenvalues below this share of the largest one are dropped as rounding errors."""
JITTER = 1e-8
"""Added to the diagonal of the kernel among landmarks, because two of them may nearly coincide."""


@dataclass(frozen=True, eq=False)
class KernelFactor:
    """phi: (n, r) with phi' diag(weights) phi diagonal; spectrum: (r,) that diagonal, decreasing."""

    phi: FloatArray
    spectrum: FloatArray


def exact_factor(kernel: FloatArray, weights: FloatArray) -> KernelFactor:
    """The exact features of K (n, n); weights: (n,) of the items, positive. Coinciding items add no rank.

    >>> kernel = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> factor = exact_factor(kernel, np.ones(2))
    >>> bool(np.allclose(factor.phi @ factor.phi.T, kernel))
    True
    """
    root = np.sqrt(weights)
    values, vectors = eigh(root[:, None] * kernel * root)
    kept = np.flatnonzero(values > NEGLIGIBLE * values[-1])[::-1]
    return KernelFactor(vectors[:, kept] * np.sqrt(values[kept]) / root[:, None], values[kept])


def dual_map(factor: KernelFactor, weights: FloatArray) -> FloatArray:
    """(n, r) T with phi(x) = T' k(X, x), for the exact features of the kernel among the items X; weights: (n,).

    >>> kernel = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> factor = exact_factor(kernel, np.ones(2))
    >>> bool(np.allclose(kernel @ dual_map(factor, np.ones(2)), factor.phi))
    True
    """
    return np.asarray(weights[:, None] * factor.phi / factor.spectrum)


@dataclass(frozen=True, eq=False)
class LandmarkFactor:
    """The Nystroem approximation Phi Phi' = K[:, P] K[P, P]^-1 K[P, :] with landmarks P.

    landmarks: (r,) rows of the items. to_dual: (r, r), phi(x) = to_dual' k(P, x).
    """

    factor: KernelFactor
    landmarks: IntArray
    to_dual: FloatArray


def landmark_factor(
    column: Callable[[int], FloatArray],
    n_items: int,
    rank: int,
    weights: FloatArray,
    *,
    tolerance: float = 1e-8,
) -> LandmarkFactor:
    """Choose landmarks and compute the features; parameters as for `choose_landmarks`.

    >>> kernel = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> found = landmark_factor(lambda i: kernel[i], 3, rank=3, weights=np.ones(3))
    >>> bool(np.allclose(found.factor.phi @ found.factor.phi.T, kernel))
    True
    """
    at, lower = choose_landmarks(column, n_items, rank, weights, tolerance=tolerance)
    spectrum, rotation = np.linalg.eigh(lower.T @ (weights[:, None] * lower))
    spectrum, rotation = np.maximum(spectrum[::-1], 0.0), rotation[:, ::-1]
    to_dual = solve_triangular(np.tril(lower[at]), rotation, lower=True, trans="T")
    return LandmarkFactor(KernelFactor(lower @ rotation, spectrum), at, np.asarray(to_dual))


def choose_landmarks(
    column: Callable[[int], FloatArray],
    n_items: int,
    rank: int,
    weights: FloatArray,
    *,
    tolerance: float = 1e-8,
) -> tuple[IntArray, FloatArray]:
    """Pivoted Cholesky factorisation of a kernel with k(x, x) = 1.

    column: maps i to the kernel of all items with item i, (n,).
    weights: (n,) of the items, positive. The next landmark maximises weight times residual, the part of k(x, x) that
    the landmarks so far do not span. Stops at `rank` landmarks, or where every residual is at most `tolerance`.
    Returns the landmarks (r,) and the Cholesky factor (n, r).

    >>> kernel = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> landmarks, lower = choose_landmarks(lambda i: kernel[i], 3, rank=2, weights=np.ones(3))
    >>> landmarks
    array([0, 2])
    """
    left = np.ones(n_items)
    lower = np.zeros((n_items, min(rank, n_items)))
    landmarks: list[int] = []
    while len(landmarks) < lower.shape[1]:
        if left.max() <= tolerance:
            break
        pivot = int(np.argmax(weights * left))
        known = lower[:, : len(landmarks)]
        found = (column(pivot) - known @ known[pivot]) / np.sqrt(left[pivot])
        lower[:, len(landmarks)] = found
        left = np.maximum(left - found**2, 0.0)
        left[pivot] = 0.0
        landmarks.append(pivot)
    return np.array(landmarks, dtype=np.int64), lower[:, : len(landmarks)]


@dataclass(frozen=True, eq=False)
class FixedLandmarks:
    """The approximation Phi Phi' = K[:, P] (K[P, P] + jitter)^-1 K[P, :], smooth in K because P is fixed.

    to_landmarks: (n, r) K[:, P]; among: (r, r) K[P, P]; shares: (n, r) K[:, P] (K[P, P] + jitter)^-1.
    """

    factor: KernelFactor
    to_landmarks: FloatArray
    among: FloatArray
    shares: FloatArray

    def gradients(self, by_kernel: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives by K[:, P] and by K[P, P], from those by the entries of Phi Phi' (n, n)."""
        by_shares = by_kernel @ self.shares
        return by_shares + by_kernel.T @ self.shares, -self.shares.T @ by_shares


def fixed_landmarks(to_landmarks: FloatArray, landmarks: IntArray, weights: FloatArray) -> FixedLandmarks:
    """Features for given landmarks (r,) and a kernel with k(x, x) = 1; to_landmarks: (n, r); weights: (n,)."""
    among = to_landmarks[landmarks]
    lower = np.linalg.cholesky(among + JITTER * np.eye(len(among)))
    phi = solve_triangular(lower, to_landmarks.T, lower=True).T
    shares = solve_triangular(lower, phi.T, lower=True, trans="T").T
    spectrum, rotation = np.linalg.eigh(phi.T @ (weights[:, None] * phi))
    factor = KernelFactor(phi @ rotation[:, ::-1], np.maximum(spectrum[::-1], 0.0))
    return FixedLandmarks(factor, to_landmarks, among, np.ascontiguousarray(shares))


def with_constant(factor: KernelFactor, constant: float, weights: FloatArray) -> tuple[KernelFactor, FloatArray]:
    """The features of K + constant, and the rotation (r + 1, r + 1) that maps (sqrt(constant), phi) to them."""
    phi = np.hstack([np.full((len(factor.phi), 1), np.sqrt(constant)), factor.phi])
    spectrum, rotation = np.linalg.eigh(phi.T @ (weights[:, None] * phi))
    rotation = np.ascontiguousarray(rotation[:, ::-1])
    return KernelFactor(phi @ rotation, np.maximum(spectrum[::-1], 0.0)), rotation
