"""What the plain models share: checked comparisons, contexts as numbers, and ridge logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import Interval

from models.baselines.design import Design
from models.numerics.validation import check_comparisons, check_items, check_rows
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column

STRENGTH = [Interval(Real, 0, None, closed="neither")]
"""Constraint of a parameter that says how freely coefficients may move: scikit-learn's C."""
MOST_STEPS = 2_000


class ContextDesign:
    """Contexts as columns of numbers, learnt from those of the training comparisons; no columns without contexts."""

    def __init__(self, contexts: ArrayLike | None, context_of: ArrayLike | None, columns: Sequence[Column] | None):
        self._design: Design | None = None
        if contexts is not None:
            known = check_items(contexts)
            used = check_rows(() if context_of is None else context_of, "context_of", len(known))
            self._design = Design(known[np.unique(used)], columns)

    def __call__(self, contexts: ArrayLike | None, context_of: ArrayLike | None, n: int) -> FloatArray:
        """The context of each of n comparisons, (n, e). Raises ValueError if contexts are missing or not expected."""
        if (self._design is None) != (contexts is None):
            raise ValueError("contexts must be given to fit and to predict, or to neither")
        if self._design is None or contexts is None:
            return np.zeros((n, 0))
        known = check_items(contexts)
        rows = check_rows(() if context_of is None else context_of, "context_of", len(known), n)
        return self._design(known)[rows]


def check_met(items: ArrayLike, comparisons: ArrayLike) -> tuple[FloatArray, IntArray]:
    """Items (n, d) and comparisons (m, 2), winner first. Raises ValueError for shapes that do not fit, or none."""
    X = check_items(items)
    pairs = check_comparisons(comparisons, len(X))
    if not len(pairs):
        raise ValueError("there are no comparisons to learn from")
    return X, pairs


def ridge_logit(differences: FloatArray | csr_array, strength: float) -> FloatArray:
    """Coefficients (p,) of logistic regression without intercept on winner minus loser, (m, p).

    The sum of log losses plus |coefficients|^2 / (2 strength) is minimised. A column of zeros gets zero.

    >>> ridge_logit(np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]), 1e6).round(2)
    array([0.69, 0.  ])
    """
    if not differences.shape[1]:
        return np.zeros(0)
    # scikit-learn wants two classes: every other comparison is turned round, and so is a copy of the only one.
    only_one = differences.shape[0] == 1
    rows: Any = csr_array(np.repeat(_dense(differences), 2, axis=0)) if only_one else differences
    sign = np.where(np.arange(rows.shape[0]) % 2, -1.0, 1.0)
    is_dense = isinstance(rows, np.ndarray)
    turned: Any = rows * sign[:, None] if is_dense else csr_array(diags_array(sign) @ rows)
    model = LogisticRegression(
        C=strength / 2 if only_one else strength,
        fit_intercept=False,
        solver="newton-cholesky" if is_dense else "lbfgs",
        max_iter=MOST_STEPS,
        tol=1e-5,
    )
    return np.asarray(model.fit(turned, sign > 0).coef_[0])


def _dense(differences: FloatArray | csr_array) -> FloatArray:
    return differences if isinstance(differences, np.ndarray) else differences.toarray()
