"""Which comparisons are kept back for testing: by pairs, or by items so that the test items are unseen.

What is held out depends on the seed and on who compared what, never on the order of rows or on who else is there.
"""

from __future__ import annotations

import numpy as np

from models.numerics.hashing import HashArray, mix
from models.records.arrays import BoolArray, IntArray


def hold_out_pairs(
    comparisons: IntArray, users: IntArray, user_keys: HashArray, *, share: float, seed: int
) -> BoolArray:
    """Which comparisons (n, 2) are for testing: of each user's n_u the nearest whole number to share * n_u, (n,).

    users: (n,) rows of user_keys, which name the users lastingly. Repeats of a pair by one user share their fate.
    """
    low, high = comparisons.min(axis=1), comparisons.max(axis=1)
    lot = mix(mix(mix(seed, user_keys[users]), low), high)
    return _lowest_share(lot, users, len(user_keys), share)


def hold_out_items(
    comparisons: IntArray, users: IntArray, user_keys: HashArray, *, share: float, seed: int
) -> BoolArray:
    """Which comparisons (n, 2) are for testing: those with an item held out from that user, (n,).

    Of each user's m_u items the nearest whole number to share * m_u are held out.
    """
    n_items = int(comparisons.max(initial=-1)) + 1
    seen = np.unique(users[:, None] * n_items + comparisons)
    owner, item = np.divmod(seen, n_items)
    held_out = _lowest_share(mix(mix(seed, user_keys[owner]), item), owner, len(user_keys), share)
    place = np.searchsorted(seen, users[:, None] * n_items + comparisons)
    return np.asarray(held_out[place].any(axis=1))


def _lowest_share(lot: HashArray, group: IntArray, n_groups: int, share: float) -> BoolArray:
    order = np.lexsort((lot, group))
    sizes = np.bincount(group, minlength=n_groups)
    rank = np.arange(len(lot)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    lowest = np.empty(len(lot), dtype=bool)
    lowest[order] = rank < np.floor(share * sizes + 0.5)[group[order]]
    return lowest
