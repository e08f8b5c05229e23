"""The choice of most respondents between the same two items."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from models.numerics.validation import check_comparisons, check_rows
from models.records.arrays import BoolArray, FloatArray, IntArray

MOST_NAMES = 2**31


class MajorityChoice(BaseEstimator):  # type: ignore[misc]
    """The item that won more of the training comparisons between the same two; a tie if they never met.

    >>> model = MajorityChoice().fit([5, 6, 7], [[0, 1], [0, 1], [1, 0]])
    >>> model.predict_proba([5, 6, 7], [[0, 1], [0, 2]])
    array([0.625, 0.5  ])
    """

    def fit(self, names: ArrayLike, comparisons: ArrayLike) -> Self:
        """Fit to comparisons (m, 2), rows of names (n,), winner first; rows with the same number are one item.

        Raises ValueError for names that are not whole numbers from zero below 2^31, or shapes that do not fit.
        """
        keys, won = _keys(names, comparisons)
        self.keys_, pair = np.unique(keys, return_inverse=True)
        wins, losses = (np.bincount(pair[is_first], minlength=len(self.keys_)) for is_first in (won, ~won))
        self.log_odds_ = np.log((wins + 0.5) / (losses + 0.5))
        return self

    def decision_function(self, names: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Log odds that the first of each pair (m, 2) wins, half a win added to either side, (m,)."""
        check_is_fitted(self, "log_odds_")
        keys, is_lower = _keys(names, pairs)
        place = np.searchsorted(self.keys_, keys)
        known = np.append(self.keys_, -1)[place] == keys
        odds = np.where(known, np.append(self.log_odds_, 0.0)[place], 0.0)
        return np.asarray(np.where(is_lower, odds, -odds))

    def predict_proba(self, names: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair (m, 2) is chosen, (m,)."""
        return np.asarray(expit(self.decision_function(names, pairs)))


def _keys(names: ArrayLike, pairs: ArrayLike) -> tuple[IntArray, BoolArray]:
    """A number for each pair (m,) whichever way round it stands, and whether its first name is the lower one."""
    known = check_rows(names, "names", MOST_NAMES)
    met = known[check_comparisons(pairs, len(known))]
    return met.min(axis=1) * MOST_NAMES + met.max(axis=1), met[:, 0] < met[:, 1]
