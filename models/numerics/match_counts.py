"""Counts of matches: how often each of two items beat the other, in each context."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MatchCounts:
    """The p distinct pairs of items that met in a context, sorted by context, first and second.

    context, first, second: (p,), first < second. wins, losses: (p,) how often the first won and lost, each match
    counted with its weight. met: (p,) number of matches, without weights.
    """

    n_items: int
    n_contexts: int
    context: IntArray
    first: IntArray
    second: IntArray
    wins: FloatArray
    losses: FloatArray
    met: FloatArray

    @cached_property
    def played(self) -> FloatArray:
        """(p,) total weight of the matches of each pair; their number if none has a weight."""
        return self.wins + self.losses

    @cached_property
    def item_shares(self) -> FloatArray:
        """(n_items,) the share of each item in all sides of matches; two sides per match."""
        sides = np.bincount(self.first, weights=self.met, minlength=self.n_items)
        sides += np.bincount(self.second, weights=self.met, minlength=self.n_items)
        return np.asarray(sides / sides.sum())

    @cached_property
    def context_shares(self) -> FloatArray:
        """(n_contexts,) the share of all matches in each context."""
        met = np.bincount(self.context, weights=self.met, minlength=self.n_contexts)
        return np.asarray(met / met.sum())

    def in_context(self, context: int) -> slice:
        """The pairs of a context."""
        return slice(*np.searchsorted(self.context, [context, context + 1]))


def count_matches(
    comparisons: IntArray,
    n_items: int,
    context: IntArray | None = None,
    n_contexts: int | None = None,
    weights: FloatArray | None = None,
) -> MatchCounts:
    """Count comparisons (n, 2), winner first.

    context: (n,) in [0, n_contexts); a single context if None. n_contexts: the largest context plus one if None.
    weights: (n,) of the comparisons; each counts once if None.

    >>> matches = count_matches(np.array([[0, 1], [1, 0], [0, 1], [2, 1]]), n_items=3)
    >>> matches.first, matches.second, matches.wins, matches.losses
    (array([0, 1]), array([1, 2]), array([2., 0.]), array([1., 1.]))
    """
    where = np.zeros(len(comparisons), dtype=np.int64) if context is None else context
    first, second = comparisons.min(axis=1), comparisons.max(axis=1)
    keys = (where * n_items + first) * n_items + second
    distinct, pair = np.unique(keys, return_inverse=True)
    weight = np.ones(len(comparisons)) if weights is None else weights
    first_won = comparisons[:, 0] == first
    won, lost, met = (
        np.asarray(np.bincount(pair, weights=each, minlength=len(distinct)), dtype=np.float64)
        for each in (weight * first_won, weight * ~first_won, np.ones(len(pair)))
    )
    rest, seconds = np.divmod(distinct, n_items)
    contexts, firsts = np.divmod(rest, n_items)
    n_contexts = int(where.max(initial=0)) + 1 if n_contexts is None else n_contexts
    return MatchCounts(n_items, n_contexts, contexts, firsts, seconds, won, lost, met)
