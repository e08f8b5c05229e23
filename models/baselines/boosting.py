"""Gradient boosting of pairs, made antisymmetric."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from models.baselines.design import Design
from models.baselines.pairs import ContextDesign, check_met
from models.numerics.validation import check_comparisons, check_items
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column


class AntisymmetricBoosting(BaseEstimator):  # type: ignore[misc]
    """scikit-learn's histogram gradient boosting on both items, their difference and the context.

    It is fitted on both orientations of each comparison; a preference is half the log odds of one orientation minus
    those of the other, so turning a pair round turns its sign.

    Parameters
    ----------
    columns, context_columns
        Descriptions of the columns of `items` and of `contexts`; all numeric if None.
    iterations, learning_rate
        See `HistGradientBoostingClassifier`.

    >>> items, cycle = [[0.0], [1.0], [2.0]], [[0, 1], [1, 2], [2, 0]]
    >>> model = AntisymmetricBoosting(iterations=50).fit(items, cycle * 40)
    >>> model.predict_proba(items, cycle).round(2)
    array([1., 1., 1.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [Sequence, None],
        "context_columns": [Sequence, None],
        "iterations": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        context_columns: Sequence[Column] | None = None,
        *,
        iterations: int = 100,
        learning_rate: float = 0.1,
    ) -> None:
        self.columns = columns
        self.context_columns = context_columns
        self.iterations = iterations
        self.learning_rate = learning_rate

    def fit(
        self,
        items: ArrayLike,
        comparisons: ArrayLike,
        contexts: ArrayLike | None = None,
        context_of: ArrayLike | None = None,
    ) -> Self:
        """Fit to comparisons (m, 2), rows of items (n, d), winner first; context_of (m,): rows of contexts (q, e).

        Raises ValueError for impossible parameters, shapes that do not fit, or no comparisons.
        """
        self._validate_params()
        X, pairs = check_met(items, comparisons)
        self.design_ = Design(X[np.unique(pairs)], self.columns)
        self.context_design_ = ContextDesign(contexts, context_of, self.context_columns)
        met = self.context_design_(contexts, context_of, len(pairs))
        both = np.vstack([self._rows(X, pairs, met), self._rows(X, pairs[:, ::-1], met)])
        # Stopping early would hold out comparisons whose other orientation is in training.
        model = HistGradientBoostingClassifier(
            max_iter=self.iterations, learning_rate=self.learning_rate, early_stopping=False, random_state=0
        )
        with threadpool_limits(1, "openmp"):  # sums over several threads differ in their last digits
            self.model_ = model.fit(both, np.repeat([1, 0], len(pairs)))
        return self

    def decision_function(
        self,
        items: ArrayLike,
        pairs: ArrayLike,
        contexts: ArrayLike | None = None,
        context_of: ArrayLike | None = None,
    ) -> FloatArray:
        """The log odds that the first of each pair (m, 2) is preferred, (m,)."""
        check_is_fitted(self, "model_")
        X = check_items(items)
        rows = check_comparisons(pairs, len(X))
        met = self.context_design_(contexts, context_of, len(rows))
        if not len(rows):
            return np.zeros(0)
        with threadpool_limits(1, "openmp"):
            one = self.model_.decision_function(self._rows(X, rows, met))
            other = self.model_.decision_function(self._rows(X, rows[:, ::-1], met))
        return np.asarray((one - other) / 2.0)

    def predict_proba(
        self,
        items: ArrayLike,
        pairs: ArrayLike,
        contexts: ArrayLike | None = None,
        context_of: ArrayLike | None = None,
    ) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred, (m,)."""
        return np.asarray(expit(self.decision_function(items, pairs, contexts, context_of)))

    def _rows(self, X: FloatArray, pairs: IntArray, contexts: FloatArray) -> FloatArray:
        """First item, second item, their difference, and the context: (m, 3 p + e)."""
        features = self.design_(X)
        one, other = features[pairs[:, 0]], features[pairs[:, 1]]
        return np.hstack([one, other, one - other, contexts])
