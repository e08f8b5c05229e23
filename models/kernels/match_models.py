"""Linear models of preferences: skew-symmetric forms of item features, and utilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from models.kernels.kernel_factor import KernelFactor
from models.numerics.match_counts import MatchCounts
from models.records.arrays import FloatArray, IntArray

BLOCK = 128
"""Number of pairs whose features are gathered at a time, so that they fit into the processor's cache."""
DENSE = 32
"""If a full matrix product has at most this many entries per pair, it costs less than gathering the pairs."""


@dataclass(frozen=True, eq=False)
class _InContext:
    """The pairs of one context.

    at: their positions among all pairs; firsts: (f,) the distinct first items; row: for each pair, its first item as a
    row of `firsts`; second: its second item; starts: (f + 1,) where the pairs of each first item begin.
    """

    at: slice
    firsts: IntArray
    row: IntArray
    second: IntArray
    starts: IntArray


@dataclass(frozen=True, eq=False)
class SkewModel:
    """z = g_U(u, x, x') = sum_c psi_c(u) phi(x)' W_c phi(x'), W (k, r, r) skew-symmetric (pref-shap section 2.1).

    |g|^2 = sum_c |W_c|_F^2 / 2. No array but z has a row per pair: a product costs O(n r^2 + p r) per context.
    """

    items: KernelFactor
    contexts: KernelFactor
    matches: MatchCounts
    inner: ClassVar[float] = 0.5

    @cached_property
    def spectrum(self) -> FloatArray:
        """See `LinearModel`."""
        of_items = 2.0 * np.multiply.outer(self.items.spectrum, self.items.spectrum)
        return np.multiply.outer(self.contexts.spectrum, of_items)

    @cached_property
    def gram(self) -> FloatArray:
        """See `LinearModel`: k_U(u, v) (k(x, y) k(x', y') - k(x, y') k(x', y))."""
        first, second, context = self.matches.first, self.matches.second, self.matches.context
        K, K_U = self.items.phi @ self.items.phi.T, self.contexts.phi @ self.contexts.phi.T
        straight = K[np.ix_(first, first)] * K[np.ix_(second, second)]
        crossed = K[np.ix_(first, second)] * K[np.ix_(second, first)]
        return np.asarray(K_U[np.ix_(context, context)] * (straight - crossed))

    @cached_property
    def _in_context(self) -> list[_InContext]:
        groups = []
        for context in range(self.matches.n_contexts):
            at = self.matches.in_context(context)
            firsts, starts = np.unique(self.matches.first[at], return_index=True)
            row = np.searchsorted(firsts, self.matches.first[at])
            starts = np.append(starts, len(row))
            groups.append(_InContext(at, firsts, row, self.matches.second[at], starts))
        return groups

    def z(self, w: FloatArray) -> FloatArray:
        """See `LinearModel`."""
        phi, z = self.items.phi, np.empty(len(self.matches.first))
        for psi, group in zip(self.contexts.phi, self._in_context, strict=True):
            product = phi[group.firsts] @ np.tensordot(psi, w, axes=1)
            z[group.at] = row_products(product, phi, group.row, group.second)
        return z

    def of_form(self, form: FloatArray) -> FloatArray:
        """phi(x)' form phi(x') of all pairs, (p,), for one form (r, r) in all contexts."""
        phi = self.items.phi
        return row_products(phi @ form, phi, self.matches.first, self.matches.second)

    def adjoint(self, slopes: FloatArray) -> FloatArray:
        """See `LinearModel`: sum of slope psi_c(u) (phi(x) phi(x')' - phi(x') phi(x)')."""
        return np.asarray(np.tensordot(self.contexts.phi, self.by_context(slopes), axes=(0, 0)))

    def by_context(self, slopes: FloatArray) -> FloatArray:
        """The sum of slope (phi(x) phi(x')' - phi(x') phi(x)') over the pairs of each context, (q, r, r)."""
        phi = self.items.phi
        total = np.empty((self.matches.n_contexts, phi.shape[1], phi.shape[1]))
        for context, group in enumerate(self._in_context):
            shape = (len(group.firsts), len(phi))
            met = csr_array((slopes[group.at], group.second, group.starts), shape=shape)
            half: FloatArray = phi[group.firsts].T @ np.asarray(met @ phi)
            total[context] = half - half.T
        return total


def row_products(a: FloatArray, b: FloatArray, rows_of_a: IntArray, rows_of_b: IntArray) -> FloatArray:
    """Products of a row of a with a row of b, for p pairs of rows, (p,)."""
    if len(a) * len(b) <= DENSE * len(rows_of_a):
        return np.asarray((a @ b.T)[rows_of_a, rows_of_b])
    found = np.empty(len(rows_of_a))
    for start in range(0, len(found), BLOCK):
        block = slice(start, start + BLOCK)
        found[block] = np.einsum("pr,pr->p", a[rows_of_a[block]], b[rows_of_b[block]])
    return found


@dataclass(frozen=True, eq=False)
class UtilityModel:
    """z = f(x) - f(x'), f(x) = w' phi(x), w (r,); |f|^2 = |w|^2 (pref-shap Eq. 1)."""

    items: KernelFactor
    matches: MatchCounts
    inner: ClassVar[float] = 1.0

    @cached_property
    def spectrum(self) -> FloatArray:
        """See `LinearModel`."""
        return 2.0 * self.items.spectrum

    @cached_property
    def gram(self) -> FloatArray:
        """See `LinearModel`."""
        apart = self.items.phi[self.matches.first] - self.items.phi[self.matches.second]
        return np.asarray(apart @ apart.T)

    def z(self, w: FloatArray) -> FloatArray:
        """See `LinearModel`."""
        utility = self.items.phi @ w
        return np.asarray(utility[self.matches.first] - utility[self.matches.second])

    def adjoint(self, slopes: FloatArray) -> FloatArray:
        """See `LinearModel`."""
        return np.asarray(self.items.phi.T @ net(self.matches, slopes))


def net(matches: MatchCounts, slopes: FloatArray) -> FloatArray:
    """For each item, the slopes (p,) of pairs in which it is first, minus those in which it is second: (n_items,)."""
    total = np.bincount(matches.first, weights=slopes, minlength=matches.n_items)
    return np.asarray(total - np.bincount(matches.second, weights=slopes, minlength=matches.n_items))
