"""The expected kernel when only a coalition S of features is known (pref-shap Propositions 3.1 to 3.3).

gamma_S(x) = k_S(Z, x) * [K_{S^c}(Z, X) w(x)], where Z are the carriers of a fitted function and X the reference points
with shares p. The weights w(x) say how much each reference point stands for the unknown features of x:

- observational: w(x) = D (D K_S D + lambda I)^-1 D k_S(X, x), D^2 = diag(p). With all shares 1 / n this is the
  conditional mean embedding (K_S + n lambda I)^-1 k_S(X, x). Points that coincide count together;
- interventional: w(x) = p, the marginal mean embedding.

A function f(x) = beta' k(Z, x) has the value function beta' gamma_S(x), and a form k(Z, x)' B k(Z, x') has
gamma_S(x)' B gamma_S(x'). One factorisation per coalition serves every x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotri

from models.kernels.item_kernel import ItemKernel, distinct_rows
from models.records.arrays import BoolArray, FloatArray, IntArray

Reference = Literal["observational", "interventional"]


@dataclass(frozen=True, eq=False)
class Embedding:
    """gamma_S of m explained points, for any coalition S of d players.

    kernels: (d, u, u) the kernel of each player's columns among u distinct points.
    carriers: (r,), reference: (n,), explained: (m,) rows of these points. shares: (n,) p; they sum to 1.
    regularisation: lambda of the observational reference; None for the interventional one.
    """

    kernels: FloatArray
    carriers: IntArray
    reference: IntArray
    explained: IntArray
    shares: FloatArray
    regularisation: float | None

    def __call__(self, coalition: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Gamma of a coalition (d,) and of its complement, each (m, r); both need the same two products of kernels."""
        inside, outside = self._product(coalition), self._product(~coalition)
        return self._gamma(inside, outside), self._gamma(outside, inside)

    def gamma(self, coalition: BoolArray) -> FloatArray:
        """Gamma of one coalition (d,), (m, r)."""
        return self._gamma(self._product(coalition), self._product(~coalition))

    def unsmoothed(self) -> FloatArray:
        """k(x, Z), (m, r): gamma of all players without regularisation."""
        return _block(self._product(np.ones(len(self.kernels), dtype=np.bool_)), self.explained, self.carriers)

    def _product(self, members: BoolArray) -> FloatArray:
        if not members.any():
            return np.ones(self.kernels.shape[1:])
        first, *others = np.flatnonzero(members)
        product: FloatArray = self.kernels[first].copy()
        for player in others:
            product *= self.kernels[player]
        return product

    def _gamma(self, known: FloatArray, unknown: FloatArray) -> FloatArray:
        return np.asarray(_block(known, self.explained, self.carriers) * self._expected(known, unknown))

    def _expected(self, known: FloatArray, unknown: FloatArray) -> FloatArray:
        """w(x)' K_{S^c}(X, Z), (m, r), or (1, r) where it is the same for every point.

        If x is the reference point X_j, K_S(X, x) = K_S e_j and w = e_j - lambda D (D K_S D + lambda I)^-1 D^-1 e_j.
        For enough such points, one inverse costs less than a solve for each.
        """
        carried = _block(unknown, self.reference, self.carriers)
        if self.regularisation is None:
            return self.shares[None] @ carried
        root = np.sqrt(self.shares)
        among = _block(known, self.reference, self.reference) * np.multiply.outer(root, root)
        among[np.diag_indices_from(among)] += self.regularisation
        at = self._explained_in_reference
        if at is None:
            factor = cho_factor(among.T, lower=True, overwrite_a=True, check_finite=False)
            known_of = root[:, None] * _block(known, self.reference, self.explained)
            solved = cho_solve(factor, known_of, overwrite_b=True, check_finite=False)
            return (root[:, None] * solved).T @ carried
        smoothed = _inverse(among).take(at, axis=0) @ (root[:, None] * carried)
        smoothed *= (-self.regularisation / root[at])[:, None]
        smoothed += carried.take(at, axis=0)
        return smoothed

    @cached_property
    def _explained_in_reference(self) -> IntArray | None:
        """Position of each explained point in the reference; None if some are not in it, or if solving costs less.

        In units of n^3, an inverse and its product with the carriers cost 1 + 2 m / n; solving costs 1 / 3 + 4 m / n.
        """
        place = np.full(self.kernels.shape[1], -1)
        place[self.reference] = np.arange(len(self.reference))
        at = place[self.explained]
        return at if (at >= 0).all() and 3 * len(at) > len(self.reference) else None


def _inverse(positive_definite: FloatArray) -> FloatArray:
    """The inverse of a positive definite matrix. Overwrites the matrix."""
    factor, failed = dpotrf(positive_definite.T, lower=True, overwrite_a=True)
    if failed:
        raise LinAlgError("the kernel of a coalition is not positive definite")
    inverse, _ = dpotri(factor, lower=True, overwrite_c=True)
    return np.asarray(np.where(np.tri(len(inverse), dtype=np.bool_), inverse, inverse.T))


def _block(kernel: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    """kernel[np.ix_(rows, columns)] in half the time; the kernel itself, not a copy, if that is all of it."""
    for axis, picked in enumerate((rows, columns)):
        if not np.array_equal(picked, np.arange(kernel.shape[axis])):
            kernel = kernel.take(picked, axis=axis)
    return kernel


def distinct_points(*groups: FloatArray) -> tuple[FloatArray, list[IntArray]]:
    """The distinct points (u, d) of several groups, and for each group the rows of its points among them."""
    points, row = distinct_rows(np.concatenate(groups))
    return points, list(np.split(row, np.cumsum([len(group) for group in groups])[:-1]))


def player_kernels(kernel: ItemKernel, points: FloatArray, players: Sequence[Sequence[int]]) -> FloatArray:
    """(d, u, u) the kernel of each player's columns among u points."""
    return np.array([kernel(points, points, columns) for columns in players])
