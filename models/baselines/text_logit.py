"""Logistic regression on differences of weighted words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from models.baselines.pairs import STRENGTH, ridge_logit
from models.numerics.validation import check_comparisons
from models.records.arrays import FloatArray


class TextLogit(BaseEstimator):  # type: ignore[misc]
    """Each text has a utility that is linear in its words, weighted by TF-IDF; words come from training texts only.

    Parameters
    ----------
    strength
        Inverse of the ridge penalty on the sum of log losses (scikit-learn's C).

    >>> texts = ["severe chest pain", "refill please", "mild pain", "refill of severe things"]
    >>> TextLogit().fit(texts, [[0, 1], [2, 1]]).predict_proba(texts, [[0, 3]]).round(2)
    array([0.63])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"strength": STRENGTH}

    def __init__(self, *, strength: float = 1.0) -> None:
        self.strength = strength

    def fit(self, texts: Sequence[str], comparisons: ArrayLike) -> Self:
        """Fit to comparisons (m, 2), rows of texts (n,), the preferred one first.

        Raises ValueError for impossible parameters, no comparisons, or texts without words.
        """
        self._validate_params()
        pairs = check_comparisons(comparisons, len(texts))
        if not len(pairs):
            raise ValueError("there are no comparisons to learn from")
        self.words_ = TfidfVectorizer(sublinear_tf=True)
        self.words_.fit([texts[at] for at in np.unique(pairs)])
        found = csr_array(self.words_.transform(texts))
        self.coefficients_ = ridge_logit(csr_array(found[pairs[:, 0]] - found[pairs[:, 1]]), self.strength)
        return self

    def decision_function(self, texts: Sequence[str], pairs: ArrayLike) -> FloatArray:
        """The log odds that the first of each pair (m, 2) is preferred, (m,)."""
        check_is_fitted(self, "coefficients_")
        rows = check_comparisons(pairs, len(texts))
        utility = np.asarray(self.words_.transform(texts) @ self.coefficients_)
        return np.asarray(utility[rows[:, 0]] - utility[rows[:, 1]])

    def predict_proba(self, texts: Sequence[str], pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred, (m,)."""
        return np.asarray(expit(self.decision_function(texts, pairs)))
