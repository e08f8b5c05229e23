"""How far a recommended ranking is from a person's own: rho-regret and top-1 error (dt-pbo section 4.2 and G.1)."""

from __future__ import annotations

import numpy as np

from models.records.arrays import FloatArray, IntArray
from models.scores.accuracy import TIE_TOLERANCE

TOP = 3
"""The ranks that count as the top in the rho-regret."""


def competition_ranks(utility: FloatArray) -> IntArray:
    """Rank of each of m items by its utility, the greatest first: 1 + how many are greater, "1224"; (..., m).

    Utilities that agree to the solver's precision are tied.
    """
    greater = utility[..., None, :] > utility[..., :, None] + TIE_TOLERANCE
    return np.asarray(1 + greater.sum(axis=-1))


def position_values(n_items: int, top: int = TOP) -> FloatArray:
    """The value of each true position 1..n_items (dt-pbo Table 8): 1, 2/3, 1/3, then 1/7, 2/7, ..., 1 for ten items."""
    position = np.arange(1, n_items + 1)
    return np.where(position <= top, (top + 1 - position) / top, (position - top) / max(n_items - top, 1))


def rho_regret(true_ranks: IntArray, predicted_ranks: IntArray, *, top: int = TOP) -> FloatArray:
    """Sum of the values of the items that leave the top three, and of those that enter it (G.1); (..., m) -> (...).

    true_ranks: 1..m without ties, as people gave them; predicted_ranks: by `competition_ranks`.
    For ten items it is at most 4.57 where nothing is tied, and 6 where seven items crowd the predicted top.
    """
    value = position_values(true_ranks.shape[-1], top)[true_ranks - 1]
    moved = (true_ranks <= top) != (predicted_ranks <= top)
    return np.asarray((value * moved).sum(axis=-1))


def top1_error(true_ranks: IntArray, utility: FloatArray) -> IntArray:
    """How many other items are predicted at or above the true favourite; (..., m) -> (...).

    "At": one leaf that holds everything does not know the favourite.
    """
    favourite = np.take_along_axis(utility, true_ranks.argmin(axis=-1)[..., None], axis=-1)
    return np.asarray((utility >= favourite - TIE_TOLERANCE).sum(axis=-1) - 1)
