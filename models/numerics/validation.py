"""Checks of the arrays and parameters that estimators take; invalid ones raise a ValueError that says why."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, get_args

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from models.records.arrays import FloatArray, IntArray
from models.records.features import Column, FeatureKind

SEED = [Interval(Integral, -(2**63), 2**63 - 1, closed="both"), RandomState, None]
"""Constraint of a parameter `random_state`, for scikit-learn's `_parameter_constraints`."""


MOST_CODES = 2**20
"""Codes of a categorical column lie below this: arrays have a row for each code up to the largest."""
LARGEST = 1e150
"""Largest value of an item, up to its sign: a kernel squares differences of two."""


def words_of(literal: Any) -> StrOptions:
    """Constraint of a parameter of type `literal`; its error names the words in the order of the Literal.

    >>> from typing import Literal
    >>> print(words_of(Literal["discard", "keep"]))
    a str among {'discard', 'keep'}
    """
    return StrOptions(dict.fromkeys(get_args(literal)).keys())


def seed_of(random_state: int | RandomState | None) -> int:
    """The seed itself if it is an integer, else one drawn from the RandomState, or from NumPy's global one for None.

    >>> seed_of(7)
    7
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def check_items(items: ArrayLike, n_features: int | None = None) -> FloatArray:
    """Items as (m, d) float64; NaN is missing.

    Raises ValueError for another shape, complex numbers, infinite values, or values beyond `LARGEST`.

    >>> check_items([[1, 2], [3, float("nan")]])
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    if np.iscomplexobj(items):
        raise ValueError("items must be real numbers, found complex ones")
    X = np.asarray(items, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"items must be a matrix (items, features), found {X.ndim} dimensions")
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(f"items have {X.shape[1]} columns, the model was fitted with {n_features}")
    if np.isinf(X).any():
        infinite = np.argwhere(np.isinf(X))
        raise ValueError(f"items hold {len(infinite)} infinite values, the first in row {infinite[0][0]}")
    if (X > LARGEST).any() or (X < -LARGEST).any():
        raise ValueError(f"items hold values beyond {LARGEST:g}, whose squares overflow: rescale their columns")
    return X


def check_comparisons(comparisons: ArrayLike, n_items: int) -> IntArray:
    """Comparisons as (n, 2) rows of the items.

    Raises ValueError for another shape, rows that do not exist, or an item compared with itself.

    >>> check_comparisons([[0, 2], [1, 0]], n_items=3)
    array([[0, 2],
           [1, 0]])
    """
    pairs = np.asarray(comparisons)
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(
            f"comparisons must be integers (comparisons, 2), winner first; found {pairs.dtype} {pairs.shape}"
        )
    if pairs.min() < 0 or pairs.max() >= n_items:
        outside = np.flatnonzero(((pairs < 0) | (pairs >= n_items)).any(axis=1))
        raise ValueError(
            f"{len(outside)} comparisons name items outside 0..{n_items - 1}, "
            f"the first five in rows {outside[:5].tolist()}"
        )
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(same):
        raise ValueError(
            f"{len(same)} comparisons set an item against itself, the first five in rows {same[:5].tolist()}"
        )
    return pairs.astype(np.int64, copy=False)


def check_integers(values: ArrayLike, name: str, n: int | None = None) -> IntArray:
    """Integers as (n,) int64. Raises ValueError for floats, booleans, another shape, or another length than `n`.

    >>> check_integers([3, -1], "seeds", n=2)
    array([ 3, -1])
    >>> check_integers([0.9, 1.0], "seeds")
    Traceback (most recent call last):
    ...
    ValueError: seeds must be integers (n,), found float64 (2,)
    """
    array = np.asarray(values)
    length = "n" if n is None else n
    if array.shape == (0,) and n in (None, 0):
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or (n is not None and len(array) != n) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} must be integers ({length},), found {array.dtype} {array.shape}")
    return array.astype(np.int64, copy=False)


def check_rows(values: ArrayLike, name: str, n_rows: int, n: int | None = None) -> IntArray:
    """Row numbers in [0, n_rows) as (n,) int64, of any length where `n` is None.

    Raises ValueError for floats, booleans, another shape or length, or rows that do not exist.

    >>> check_rows([0, 2], "users", n_rows=3)
    array([0, 2])
    >>> check_rows([0, 3], "users", n_rows=3)
    Traceback (most recent call last):
    ...
    ValueError: users: 1 rows outside 0..2, the first five at [1]
    """
    rows = check_integers(values, name, n)
    outside = np.flatnonzero((rows < 0) | (rows >= n_rows))
    if len(outside):
        raise ValueError(
            f"{name}: {len(outside)} rows outside 0..{n_rows - 1}, the first five at {outside[:5].tolist()}"
        )
    return rows


def check_columns(columns: Sequence[Column] | None, n_columns: int) -> tuple[Column, ...]:
    """Descriptions of the columns; numeric columns x0, x1, ... where None are given.

    Raises ValueError where there are not `n_columns` of them, one is no `Column`, or a multi_hot feature was not
    encoded.

    >>> [column.name for column in check_columns(None, 2)]
    ['x0', 'x1']
    """
    if columns is None:
        names = [f"x{k}" for k in range(n_columns)]
        return tuple(Column(name=name, feature=name, kind=FeatureKind.NUMERIC) for name in names)
    if len(columns) != n_columns:
        raise ValueError(f"{len(columns)} columns are described, items have {n_columns}")
    if other := [column for column in columns if not isinstance(column, Column)]:
        raise ValueError(f"columns must hold Column records, found {other[0]!r}")
    whole = [column.name for column in columns if column.kind is FeatureKind.MULTI_HOT]
    if whole:
        raise ValueError(f"multi_hot features must be encoded as one binary column per level: {', '.join(whole)}")
    return tuple(columns)


def check_codes(items: FloatArray, columns: Sequence[Column], *, binary: bool = False) -> None:
    """Check that the categorical columns of items (m, d) hold codes: whole numbers from zero, or NaN; so binary ones.

    A column with levels has no code beyond them, any other none beyond `MOST_CODES`.
    Raises ValueError that names the column.

    >>> column = Column(name="colour", feature="colour", kind=FeatureKind.CATEGORICAL, levels=("red", "blue"))
    >>> check_codes(np.array([[0.5]]), [column])
    Traceback (most recent call last):
    ...
    ValueError: column colour: a categorical column holds whole numbers from zero to 1 (or NaN where missing), found 0.5
    """
    kinds = {FeatureKind.CATEGORICAL, FeatureKind.BINARY} if binary else {FeatureKind.CATEGORICAL}
    for k, column in enumerate(columns):
        if column.kind in kinds:
            known = items[~np.isnan(items[:, k]), k]
            n_codes = len(column.levels) if column.levels else MOST_CODES
            wrong = known[(known < 0) | (known >= n_codes) | (known != np.floor(known))]
            if len(wrong):
                valid = f"a {column.kind} column holds whole numbers from zero to {n_codes - 1} (or NaN where missing)"
                raise ValueError(f"column {column.name}: {valid}, found {wrong[0]:.10g}")


def check_users_items(items: ArrayLike) -> None:
    """Check that items are (users, items, features), with a user at least. Raises ValueError for another shape.

    >>> check_users_items(np.zeros((2, 5, 1)))
    """
    if np.ndim(items) != 3 or not len(np.asarray(items)):
        raise ValueError(f"items must be (users, items, features), found shape {np.shape(items)}")
