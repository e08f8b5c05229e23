"""Shapley values of many games with the same players (pref-shap Eq. 3), exact or from sampled coalitions.

A coalition and its complement are evaluated together, because they share most of their work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import comb
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.records.arrays import BoolArray, FloatArray

PairedValue = Callable[[BoolArray], tuple[FloatArray, FloatArray]]
"""nu of a coalition (d,) and of its complement, (m,) each: one value per game."""
Ask = Callable[[PairedValue, Iterable[BoolArray]], Iterable[tuple[FloatArray, FloatArray]]]
"""Evaluates coalitions and returns the values in the same order: `map`, or the `map` of an executor."""

FEWEST = 8
"""Least number of coalitions sampled per player, whatever the budget."""


_GAME: dict[str, list[Any]] = {
    "n_players": [Interval(Integral, 1, None, closed="left")],
    "affordable": [Interval(Real, 0, None, closed="left")],
}


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """Shapley values of d players in m games.

    values: (m, d), each row sums to full - empty. empty, full: (m,) nu of the empty coalition and of all players.
    standard_error: (m, d) of sampled values; None if all coalitions were evaluated.
    coalitions: number of distinct coalitions evaluated.
    """

    values: FloatArray
    empty: FloatArray
    full: FloatArray
    standard_error: FloatArray | None
    coalitions: int


def shapley_values(
    value: PairedValue, n_players: int, *, affordable: float, seed: int, ask: Ask = map
) -> ShapleyValues:
    """Shapley values from all 2^d coalitions if affordable, otherwise from a sample.

    affordable: number of coalitions. The sample has about that size, but at least 8 per player (`FEWEST`).
    Raises ValueError for fewer than one player, or a number of coalitions that is none.

    >>> def game(coalition):  # worth 1 for the first player, and 4 for the other two together
    ...     worth = [float(one[0] + 4 * (one[1] and one[2])) for one in (coalition, ~coalition)]
    ...     return np.array(worth[:1]), np.array(worth[1:])
    >>> shapley_values(game, 3, affordable=8, seed=0).values
    array([[1., 2., 2.]])
    """
    validate_parameter_constraints(_GAME, {"n_players": n_players, "affordable": affordable}, "shapley_values")
    draws = max(affordable, FEWEST * n_players)
    if n_players <= np.log2(draws):
        return exact_values(value, n_players, ask=ask)
    return sampled_values(value, n_players, n_pairs=int(draws) // 2, seed=seed, ask=ask)


def exact_values(value: PairedValue, n_players: int, *, ask: Ask = map) -> ShapleyValues:
    """Evaluate all 2^d coalitions of d >= 1 players (Eq. 3).

    nu of a coalition is added to the values of its members, and subtracted from those of the others.

    >>> def game(coalition):  # worth 1 for the first player, and 4 for the other two together
    ...     worth = [float(one[0] + 4 * (one[1] and one[2])) for one in (coalition, ~coalition)]
    ...     return np.array(worth[:1]), np.array(worth[1:])
    >>> exact_values(game, 3).values
    array([[1., 2., 2.]])
    """
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
    """Paired KernelSHAP: the weighted least squares of Algorithm 1 over sampled coalitions and their complements.

    Sizes s are drawn from the Shapley kernel, with weights 1 / (s (d - s)). A constraint makes the values sum to
    full - empty exactly. The standard error is the sandwich estimate over the draws, n_pairs of them, or more where the
    first ones do not tell all players apart.
    Raises ValueError for fewer than two players, or fewer pairs than players.

    >>> def game(coalition):  # worth 1 for the first player, and 4 for the other two together
    ...     worth = [float(one[0] + 4 * (one[1] and one[2])) for one in (coalition, ~coalition)]
    ...     return np.array(worth[:1]), np.array(worth[1:])
    >>> found = sampled_values(game, 3, n_pairs=100, seed=0)
    >>> found.values.sum().round(6), found.standard_error.shape
    (np.float64(5.0), (1, 3))
    """
    if n_players < 2 or n_pairs < n_players:
        raise ValueError(f"cannot sample {n_pairs} pairs of coalitions of {n_players} players")
    empty, full = value(np.zeros(n_players, dtype=np.bool_))
    coalitions, counts = _draw(n_players, n_pairs, np.random.default_rng(seed))
    n_pairs = int(counts.sum())
    asked = list(ask(value, coalitions))
    sides = _with_complements(coalitions)
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
    """Sample coalitions. Returns the distinct ones (p, d), none with the last player, and their counts (p,).

    A coalition with the last player counts as its complement. While two players are on the same side of every
    coalition, or others cannot be told apart, as many again are drawn.
    """
    sizes = np.arange(1, n_players)
    chance = 1.0 / (sizes * (n_players - sizes))
    everything = np.zeros((0, n_players), dtype=np.bool_)
    while True:
        size = rng.choice(sizes, size=n_pairs, p=chance / chance.sum())
        ranks = rng.random((n_pairs, n_players)).argsort(axis=1).argsort(axis=1)
        drawn = ranks < size[:, None]
        drawn ^= drawn[:, -1:]
        everything = np.concatenate([everything, drawn])
        distinct, counts = np.unique(everything, axis=0, return_counts=True)
        if np.linalg.matrix_rank(_with_complements(distinct).reshape(-1, n_players)) == n_players:
            return distinct, counts.astype(np.float64)


def _with_complements(coalitions: BoolArray) -> FloatArray:
    """Coalitions (p, d) and their complements as zeros and ones, (p, 2, d)."""
    return np.stack([coalitions, ~coalitions], axis=1).astype(np.float64)
