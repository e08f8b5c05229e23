"""Choice of test comparisons: some pairs of each user, or all pairs with some items, which training then never sees.

The choice depends on the seed and on who compared what, never on the order of rows or on the other users.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.numerics.hashing import HashArray, mix
from models.numerics.validation import check_comparisons, check_integers, check_rows
from models.records.arrays import BoolArray, IntArray

_CONSTRAINTS = {"share": [Interval(Real, 0, 1, closed="both")], "seed": [Integral]}


def hold_out_pairs(
    comparisons: ArrayLike, users: ArrayLike, user_keys: HashArray, *, share: float, seed: int
) -> BoolArray:
    """Choose test comparisons among (n, 2), for each user about a share of the user's own: (n,) booleans.

    Of a user's n_u comparisons, share * n_u are held out, rounded to a whole number (halves up); if n_u is small, this
    may be none or all. A user's repeats of a pair stay together, which may make the number larger.
    users: (n,) rows of user_keys; user_keys: (u,) a number that identifies each user.
    Raises ValueError for a share outside 0..1, or for comparisons, users or keys that are not integers of these shapes.

    >>> pairs, ann = np.array([[0, 1], [2, 1], [0, 2], [3, 0], [3, 1]]), np.zeros(5, dtype=int)
    >>> hold_out_pairs(pairs, ann, np.array([7]), share=0.4, seed=1)
    array([False, False, False,  True,  True])
    """
    pairs, owner, user_keys = _check(comparisons, users, user_keys, {"share": share, "seed": seed}, "hold_out_pairs")
    lot = mix(mix(mix(seed, user_keys[owner]), pairs.min(axis=1)), pairs.max(axis=1))
    return _lowest_share(lot, owner, len(user_keys), share)


def hold_out_items(
    comparisons: ArrayLike, users: ArrayLike, user_keys: HashArray, *, share: float, seed: int
) -> BoolArray:
    """Choose test comparisons among (n, 2): those with an item that is held out from their user, (n,) booleans.

    Of a user's m_u items, share * m_u are held out, rounded to a whole number (halves up).
    Arguments and errors as for `hold_out_pairs`.

    >>> pairs, ann = np.array([[0, 1], [2, 1], [0, 2], [3, 0], [3, 1]]), np.zeros(5, dtype=int)
    >>> hold_out_items(pairs, ann, np.array([7]), share=0.25, seed=1)
    array([ True,  True, False, False,  True])
    """
    pairs, owner, user_keys = _check(comparisons, users, user_keys, {"share": share, "seed": seed}, "hold_out_items")
    n_items = int(pairs.max(initial=-1)) + 1
    seen = np.unique(owner[:, None] * n_items + pairs)
    user, item = np.divmod(seen, n_items)
    held_out = _lowest_share(mix(mix(seed, user_keys[user]), item), user, len(user_keys), share)
    place = np.searchsorted(seen, owner[:, None] * n_items + pairs)
    return np.asarray(held_out[place].any(axis=1))


def _check(
    comparisons: ArrayLike, users: ArrayLike, user_keys: ArrayLike, settings: dict[str, float], caller: str
) -> tuple[IntArray, IntArray, HashArray]:
    """Comparisons (n, 2), users (n,) and keys (u,) as integers."""
    validate_parameter_constraints(_CONSTRAINTS, settings, caller)
    pairs = check_comparisons(comparisons, np.iinfo(np.int64).max)
    keys = check_integers(user_keys, "user_keys").astype(np.uint64)
    if int(pairs.max(initial=0)) >= 2**62 // max(len(keys), 1):
        raise ValueError(f"items must be numbered below 2**62 over {len(keys)} users, found {int(pairs.max())}")
    return pairs, check_rows(users, "users", len(keys), len(pairs)), keys


def _lowest_share(lot: HashArray, group: IntArray, n_groups: int, share: float) -> BoolArray:
    """Whether each lot (n,) is among the lowest share * size of its group, rounded to a whole number (halves up).

    Equal lots stay together: if the first of them is among the lowest, all are.
    """
    order = np.lexsort((lot, group))
    sizes = np.bincount(group, minlength=n_groups)
    rank = np.arange(len(lot)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    repeats = np.r_[False, (np.diff(lot[order]) == 0) & (np.diff(group[order]) == 0)][: len(lot)]
    rank = rank[np.maximum.accumulate(np.where(repeats, 0, np.arange(len(lot))))]
    lowest = np.empty(len(lot), dtype=bool)
    lowest[order] = rank < np.floor(share * sizes + 0.5)[group[order]]
    return lowest
