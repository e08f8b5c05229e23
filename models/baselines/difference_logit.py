"""Logistic regression on differences of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from models.baselines.design import Design
from models.baselines.pairs import STRENGTH, ContextDesign, check_met, ridge_logit
from models.numerics.validation import check_comparisons, check_items
from models.records.arrays import FloatArray
from models.records.features import Column


class DifferenceLogit(BaseEstimator):  # type: ignore[misc]
    """Logistic regression on the difference of the two items' features, by itself and times each context column.

    Without contexts it is a utility that is linear in the features (see `models.baselines.design.Design` for these).
    With contexts, or covariates of the one who compares, each has a coefficient of its own for every feature.

    Parameters
    ----------
    columns, context_columns
        Descriptions of the columns of `items` and of `contexts`; all numeric if None.
    strength
        Inverse of the ridge penalty on the sum of log losses (scikit-learn's C).

    Attributes
    ----------
    coefficients_
        (1 + e, p) by context column, the first for all contexts, and by column of the design.

    >>> items = [[0.0], [1.0], [2.0]]
    >>> DifferenceLogit(strength=1e3).fit(items, [[1, 0], [2, 1], [0, 2]]).predict_proba(items, [[1, 0]])
    array([0.5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [Sequence, None],
        "context_columns": [Sequence, None],
        "strength": STRENGTH,
    }

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        context_columns: Sequence[Column] | None = None,
        *,
        strength: float = 1.0,
    ) -> None:
        self.columns = columns
        self.context_columns = context_columns
        self.strength = strength

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
        features = self.design_(X)
        difference = features[pairs[:, 0]] - features[pairs[:, 1]]
        weights = self._weights(contexts, context_of, len(pairs))
        crossed = (weights[:, :, None] * difference[:, None, :]).reshape(len(pairs), -1)
        found = ridge_logit(crossed, self.strength)
        self.coefficients_ = found.reshape(weights.shape[1], features.shape[1])
        return self

    def decision_function(
        self,
        items: ArrayLike,
        pairs: ArrayLike,
        contexts: ArrayLike | None = None,
        context_of: ArrayLike | None = None,
    ) -> FloatArray:
        """The log odds that the first of each pair (m, 2) is preferred, (m,)."""
        check_is_fitted(self, "coefficients_")
        X = check_items(items)
        rows = check_comparisons(pairs, len(X))
        utilities = self.design_(X) @ self.coefficients_.T
        weights = self._weights(contexts, context_of, len(rows))
        return np.asarray(((utilities[rows[:, 0]] - utilities[rows[:, 1]]) * weights).sum(axis=1))

    def predict_proba(
        self,
        items: ArrayLike,
        pairs: ArrayLike,
        contexts: ArrayLike | None = None,
        context_of: ArrayLike | None = None,
    ) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred, (m,)."""
        return np.asarray(expit(self.decision_function(items, pairs, contexts, context_of)))

    def _weights(self, contexts: ArrayLike | None, context_of: ArrayLike | None, n: int) -> FloatArray:
        """One and the context columns of each comparison, (n, 1 + e)."""
        return np.hstack([np.ones((n, 1)), self.context_design_(contexts, context_of, n)])
