"""What is left of a kernel when only a coalition of features is known (pref-shap Propositions 3.1 to 3.3).

For points x of n features, gamma_S(x) = k_S(Z, x) * [K_{S^c}(Z, X) w(x)] with the carriers Z of a fitted function, its
reference points X of shares p, and the weights of those that stand for what is not known of x:

- observational: w(x) = D (D K_S D + lambda I)^-1 D k_S(X, x), D^2 = diag(p), the conditional mean embedding
  (K_S + n lambda I)^-1 k_S(X, x) where all shares are 1 / n; points that coincide count together;
- interventional: w(x) = p, the marginal mean embedding.

A function f(x) = beta' k(Z, x) then has the value function beta' gamma_S(x), a form k(Z, x)' B k(Z, x') has
gamma_S(x)' B gamma_S(x'). One Cholesky factorisation a coalition serves every x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from models.item_kernel import ItemKernel, distinct_rows
from models.records import BoolArray, FloatArray, IntArray

Reference = Literal["observational", "interventional"]


@dataclass(frozen=True, eq=False)
class Embedding:
    """gamma_S of explained points, for any coalition S of d players.

    kernels: (d, u, u) of each player's columns between u distinct points.
    carriers: (r,), reference: (n,), explained: (m,) which of these points are which; shares: (n,) p, they sum to 1.
    regularisation: lambda of the observational reference; None makes it interventional.
    """

    kernels: FloatArray
    carriers: IntArray
    reference: IntArray
    explained: IntArray
    shares: FloatArray
    regularisation: float | None

    def __call__(self, coalition: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Gamma of a coalition (d,) and of its complement, each (r, m): they share their kernels."""
        inside, outside = self._product(coalition), self._product(~coalition)
        return self._gamma(inside, outside), self._gamma(outside, inside)

    def of_everything(self) -> FloatArray:
        """k(Z, x) itself, (r, m), which no regularisation has smoothed."""
        return _block(self._product(np.ones(len(self.kernels), dtype=np.bool_)), self.carriers, self.explained)

    def _product(self, members: BoolArray) -> FloatArray:
        product = np.ones(self.kernels.shape[1:])
        for player in np.flatnonzero(members):
            product *= self.kernels[player]
        return product

    def _gamma(self, known: FloatArray, unknown: FloatArray) -> FloatArray:
        expected = _block(unknown, self.carriers, self.reference) @ self._weights(known)
        return np.asarray(_block(known, self.carriers, self.explained) * expected)

    def _weights(self, known: FloatArray) -> FloatArray:
        """w: (n, m), or (n, 1) where it is the same for every point."""
        if self.regularisation is None:
            return self.shares[:, None]
        root = np.sqrt(self.shares)[:, None]
        among = root * _block(known, self.reference, self.reference) * root.T
        among[np.diag_indices_from(among)] += self.regularisation
        factor = cho_factor(among.T, lower=True, overwrite_a=True, check_finite=False)
        to_explained = root * _block(known, self.reference, self.explained)
        return np.asarray(root * cho_solve(factor, to_explained, overwrite_b=True, check_finite=False))


def _block(kernel: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    """What `np.ix_` picks, in half the time."""
    return kernel.take(rows, axis=0).take(columns, axis=1)


def distinct_points(*groups: FloatArray) -> tuple[FloatArray, list[IntArray]]:
    """The points (., d) of several groups that differ, and which of them each point of a group is."""
    points, row = distinct_rows(np.concatenate(groups))
    return points, list(np.split(row, np.cumsum([len(group) for group in groups])[:-1]))


def player_kernels(kernel: ItemKernel, points: FloatArray, players: Sequence[Sequence[int]]) -> FloatArray:
    """(d, u, u) the kernel of each player's columns between u points."""
    return np.array([kernel(points, points, columns) for columns in players])
