"""A coin."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from models.numerics.validation import check_comparisons, check_items
from models.records.arrays import FloatArray


class Coin(BaseEstimator):  # type: ignore[misc]
    """A model that knows nothing: every preference is 0 and every probability one half.

    >>> Coin().fit([[0.0], [1.0]], [[0, 1]]).predict_proba([[0.0], [1.0]], [[1, 0]])
    array([0.5])
    """

    def fit(self, items: ArrayLike, comparisons: ArrayLike, *_: ArrayLike | None) -> Self:
        """Nothing is learnt from the comparisons (m, 2), rows of items (n, d), winner first."""
        check_comparisons(comparisons, len(check_items(items)))
        return self

    def decision_function(self, items: ArrayLike, pairs: ArrayLike, *_: ArrayLike | None) -> FloatArray:
        """Zero for each pair (m, 2), (m,)."""
        return np.zeros(len(check_comparisons(pairs, len(check_items(items)))))

    def predict_proba(self, items: ArrayLike, pairs: ArrayLike, *_: ArrayLike | None) -> FloatArray:
        """One half for each pair (m, 2), (m,)."""
        return self.decision_function(items, pairs) + 0.5
