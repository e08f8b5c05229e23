"""Bradley-Terry: a strength for each item by name, whatever its features are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from models.baselines.pairs import STRENGTH, ContextDesign, ridge_logit
from models.numerics.validation import check_comparisons, check_integers
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column

CONTEXT_WEIGHT = 0.5
"""Scale of a name's columns for contexts beside its own: a strength in one context is shrunk to the name's strength."""


class ByName(BaseEstimator):  # type: ignore[misc]
    """Bradley-Terry as ridge logistic regression: one strength for each name, and one for each name in each context.

    A name that was not in training has strength zero.

    Parameters
    ----------
    context_columns
        Descriptions of the columns of `contexts`; all numeric if None.
    strength
        Inverse of the ridge penalty on the sum of log losses (scikit-learn's C).

    Attributes
    ----------
    names_
        (n,) the names of the training comparisons, ascending.
    strengths_
        (1 + e, n) by context column, the first for all contexts.

    >>> model = ByName(strength=100.0).fit([7, 8, 9], [[0, 1], [1, 2], [0, 2]])
    >>> model.decision_function([7, 8, 9, 10], [[0, 1], [2, 3]]).round(1)
    array([ 3.4, -3.4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "context_columns": [Sequence, None],
        "strength": STRENGTH,
    }

    def __init__(self, context_columns: Sequence[Column] | None = None, *, strength: float = 1.0) -> None:
        self.context_columns = context_columns
        self.strength = strength

    def fit(
        self,
        names: ArrayLike,
        comparisons: ArrayLike,
        contexts: ArrayLike | None = None,
        context_of: ArrayLike | None = None,
    ) -> Self:
        """Fit to comparisons (m, 2), rows of names (n,), winner first; context_of (m,): rows of contexts (q, e).

        names: integers that identify the items; rows with the same number are one item.
        Raises ValueError for impossible parameters, shapes that do not fit, or no comparisons.
        """
        self._validate_params()
        known = check_integers(names, "names")
        pairs = check_comparisons(comparisons, len(known))
        if not len(pairs):
            raise ValueError("there are no comparisons to learn from")
        self.names_ = np.unique(known[pairs])
        self.context_design_ = ContextDesign(contexts, context_of, self.context_columns)
        columns = np.searchsorted(self.names_, known[pairs])
        weights = self._weights(contexts, context_of, len(pairs))
        self.strengths_ = ridge_logit(_differences(columns, weights, len(self.names_)), self.strength).reshape(
            weights.shape[1], len(self.names_)
        )
        return self

    def decision_function(
        self,
        names: ArrayLike,
        pairs: ArrayLike,
        contexts: ArrayLike | None = None,
        context_of: ArrayLike | None = None,
    ) -> FloatArray:
        """The log odds that the first of each pair (m, 2) is preferred, (m,)."""
        check_is_fitted(self, "strengths_")
        known = check_integers(names, "names")
        rows = check_comparisons(pairs, len(known))
        column = np.searchsorted(self.names_, known)
        is_new = self.names_[np.minimum(column, len(self.names_) - 1)] != known
        strengths = np.vstack([self.strengths_.T, np.zeros(len(self.strengths_))])
        of_item = strengths[np.where(is_new, len(self.names_), column)]
        weights = self._weights(contexts, context_of, len(rows))
        return np.asarray(((of_item[rows[:, 0]] - of_item[rows[:, 1]]) * weights).sum(axis=1))

    def predict_proba(
        self,
        names: ArrayLike,
        pairs: ArrayLike,
        contexts: ArrayLike | None = None,
        context_of: ArrayLike | None = None,
    ) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred, (m,)."""
        return np.asarray(expit(self.decision_function(names, pairs, contexts, context_of)))

    def _weights(self, contexts: ArrayLike | None, context_of: ArrayLike | None, n: int) -> FloatArray:
        return np.hstack([np.ones((n, 1)), CONTEXT_WEIGHT * self.context_design_(contexts, context_of, n)])


def _differences(pairs: IntArray, weights: FloatArray, n_names: int) -> csr_array:
    """Winner minus loser of pairs (m, 2) with the weights (m, 1 + e) of their contexts: (m, (1 + e) n_names)."""
    comparison, part = np.nonzero(weights)
    values = weights[comparison, part]
    columns = part[:, None] * n_names + pairs[comparison]
    return csr_array(
        (np.stack([values, -values], axis=1).ravel(), (np.repeat(comparison, 2), columns.ravel())),
        shape=(len(pairs), weights.shape[1] * n_names),
    )
