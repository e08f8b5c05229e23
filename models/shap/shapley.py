"""Shapley values of many games at once that share their players (pref-shap Eq. 3): exactly, or by sampled coalitions.

A game is asked for a coalition and its complement together, because the two share most of their work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import comb

import numpy as np

from models.records.arrays import BoolArray, FloatArray

PairedValue = Callable[[BoolArray], tuple[FloatArray, FloatArray]]
"""nu of a coalition (d,) and of its complement, (m,) each: one value a game."""
Ask = Callable[[PairedValue, Iterable[BoolArray]], Iterable[tuple[FloatArray, FloatArray]]]
"""Asks for coalitions and gives the answers in their order: `map`, or that of an executor."""

FEWEST = 8
"""Coalitions sampled for each player, whatever the budget."""


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """Shapley values of d players in m games.

    values: (m, d), each row sums to full - empty; empty, full: (m,) nu of nobody and of all players.
    standard_error: (m, d) of sampled values, None where all coalitions were asked.
    coalitions: how many were asked.
    """

    values: FloatArray
    empty: FloatArray
    full: FloatArray
    standard_error: FloatArray | None
    coalitions: int


def shapley_values(
    value: PairedValue, n_players: int, *, affordable: float, seed: int, ask: Ask = map
) -> ShapleyValues:
    """All 2^d coalitions if so many are affordable, else about as many sampled ones as are, but 8 a player at least."""
    draws = max(affordable, FEWEST * n_players)
    if 2.0**n_players <= draws:
        return exact_values(value, n_players, ask=ask)
    return sampled_values(value, n_players, n_pairs=int(draws) // 2, seed=seed, ask=ask)


def exact_values(value: PairedValue, n_players: int, *, ask: Ask = map) -> ShapleyValues:
    """Ask all 2^d coalitions of d >= 1 players (Eq. 3): a coalition adds to its members and takes from the others."""
    weights = np.array([1 / (n_players * comb(n_players - 1, size)) for size in range(n_players)])
    total: FloatArray | float = 0.0
    ends: list[tuple[FloatArray, FloatArray]] = []
    codes = np.arange(2 ** (n_players - 1))
    coalitions = (codes[:, None] >> np.arange(n_players) & 1).astype(np.bool_)
    for coalition, pair in zip(coalitions, ask(value, coalitions), strict=True):
        for members, nu in zip((coalition, ~coalition), pair, strict=True):
            size = int(members.sum())
            share = np.where(members, weights[max(size - 1, 0)], -weights[min(size, n_players - 1)])
            total = total + np.multiply.outer(nu, share)
        if not coalition.any():
            ends.append(pair)
    empty, full = ends[0]
    return ShapleyValues(np.asarray(total), empty, full, None, 2**n_players)


def sampled_values(value: PairedValue, n_players: int, *, n_pairs: int, seed: int, ask: Ask = map) -> ShapleyValues:
    """Paired KernelSHAP: the weighted least squares of Algorithm 1 over drawn coalitions and their complements.

    Sizes are drawn by the Shapley kernel, 1 / (s (d - s)), and the values are made to sum to full - empty exactly. The
    standard error is that of a least-squares fit under whatever residuals (sandwich), over the n_pairs draws.
    Raises ValueError unless there are two players and as many pairs as players at least.
    """
    if n_players < 2 or n_pairs < n_players:
        raise ValueError(f"cannot sample {n_pairs} pairs of coalitions of {n_players} players")
    empty, full = value(np.zeros(n_players, dtype=np.bool_))
    coalitions, counts = _draw(n_players, n_pairs, np.random.default_rng(seed))
    asked = list(ask(value, coalitions))
    sides = np.stack([coalitions, ~coalitions], axis=1).astype(np.float64)  # (p, 2, d)
    gains = np.array(asked) - empty  # (p, 2, m)
    share = counts / (2 * n_pairs)
    gram = np.einsum("p,psi,psj->ij", share, sides, sides)
    moment = np.einsum("p,psi,psm->im", share, sides, gains)
    inverse = np.linalg.inv(gram)
    across = inverse.sum(axis=1)
    balanced = inverse - np.outer(across, across) / across.sum()
    values = balanced @ moment + np.outer(across / across.sum(), full - empty)  # (d, m)
    variance = np.zeros_like(values)
    for side, gain, count in zip(sides, gains, counts, strict=True):
        influence = balanced @ side.T @ (gain - side @ values) / 2
        variance += count * influence**2
    error = np.sqrt(variance / (n_pairs * max(n_pairs - n_players, 1)))
    return ShapleyValues(values.T, empty, full, error.T, 2 * len(coalitions) + 2)


def _draw(n_players: int, n_pairs: int, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Distinct coalitions (p, d) without the last player, and how often they or their complements were drawn, (p,)."""
    sizes = np.arange(1, n_players)
    chance = 1.0 / (sizes * (n_players - sizes))
    size = rng.choice(sizes, size=n_pairs, p=chance / chance.sum())
    ranks = rng.random((n_pairs, n_players)).argsort(axis=1).argsort(axis=1)
    drawn = ranks < size[:, None]
    drawn ^= drawn[:, -1:]
    distinct, counts = np.unique(drawn, axis=0, return_counts=True)
    return distinct, counts.astype(np.float64)
