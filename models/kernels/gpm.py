"""GPM, C-GPM and UPM: the general preference model, the one that depends on a context, and the utility model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from models.kernels.dual_model import (
    LENGTHSCALES,
    DualModel,
    GeneralModel,
    check_coefficients,
    check_skew,
    check_weights,
    match_weights,
    preference_between,
)
from models.kernels.item_kernel import ItemKernel, Lengthscales, distinct_rows, item_kernel
from models.kernels.kernel_factor import KernelFactor, exact_factor
from models.kernels.match_models import UtilityModel
from models.numerics.match_counts import count_matches
from models.numerics.validation import check_columns, check_items, check_rows
from models.records.arrays import FloatArray
from models.records.features import Column

ONE_CONTEXT = KernelFactor(np.ones((1, 1)), np.ones(1))
"""The features of the only context of a model without contexts."""


class GPM(GeneralModel):
    """The general preference model (pref-shap Eq. 2): it can learn cycles.

    Parameters and attributes: see `DualModel` and `GeneralModel`.
    dual_: (n, n) skew-symmetric B, g(x, x') = k(x)' B k(x') + utility_' (k(x) - k(x')).

    >>> items, cycle = [[0.0], [1.0], [2.0]], [[0, 1], [1, 2], [2, 0]]
    >>> model = GPM(lengthscales=0.5, penalty=0.01).fit(items, cycle)
    >>> model.predict_proba(items, cycle).round(2)
    array([0.92, 0.92, 0.92])
    """

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        *,
        lengthscales: Lengthscales = None,
        penalty: float = 1e-4,
        utility: float = 0.0,
        rank: int | None = None,
        tolerance: float = 1e-6,
    ) -> None:
        super().__init__(columns, lengthscales=lengthscales, penalty=penalty, rank=rank, tolerance=tolerance)
        self.utility = utility

    @classmethod
    def from_dual(
        cls,
        items: ArrayLike,
        dual: ArrayLike,
        *,
        columns: Sequence[Column] | None = None,
        lengthscales: Mapping[str, float] | float,
        utility: ArrayLike | None = None,
        known_items: ArrayLike | None = None,
    ) -> Self:
        """A fitted model with the given dual coefficients. A later `fit` replaces all of it.

        items: (n, d) the items that carry them. dual: (n, n) skew-symmetric B.
        lengthscales: by feature or one for all; for numbers, in the units of their columns.
        utility: (n,) the coefficients `utility_`; zeros if None.
        known_items: (k, d) the items whose known values stand for a missing one; `items` if None.
        Raises ValueError for shapes that do not fit, a dual that is not skew-symmetric, or impossible lengthscales.

        >>> items = [[0.0], [3.0]]
        >>> model = GPM.from_dual(items, [[0, 2], [-2, 0]], lengthscales=1.0)
        >>> model.decision_function(items, [[0, 1], [1, 0]]).round(3)
        array([ 2., -2.])
        """
        model = cls(columns)
        model._set_kernel(items, columns, lengthscales, known_items)
        n = len(model.items_)
        model.dual_ = check_skew(dual, (n, n))
        model.utility_ = check_coefficients(utility, "utility", (n,))
        return model

    def fit(self, items: ArrayLike, comparisons: ArrayLike, *, weights: ArrayLike | None = None) -> Self:
        """Fit to comparisons (m, 2), rows of `items` (n, d), winner first.

        weights: (m,) of the comparisons in the mean loss, all the same if None. Kernel and landmarks do not depend on
        them. Raises ValueError for impossible parameters, shapes that do not fit, or no comparisons.
        """
        X, pairs = self._prepare(items, comparisons)
        matches = count_matches(pairs, len(X), weights=match_weights(weights, len(pairs)))
        self._fit_by_context(X, matches, ONE_CONTEXT)
        self.dual_, self.utility_ = self.dual_[0], self.utility_[0]
        return self

    def decision_function(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """The preference g for the first of each pair (m, 2) of item rows over the second, (m,)."""
        kernel, rows = self._known(items, pairs)
        return preference_between(kernel, self.dual_, self.utility_, rows)

    def predict_proba(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred, (m,)."""
        return np.asarray(expit(self.decision_function(items, pairs)))


class CGPM(GeneralModel):
    """The preference model that depends on a context (pref-shap Eq. 7).

    Parameters and attributes: see `DualModel` and `GeneralModel`.

    Further parameters
    ------------------
    context_columns, context_lengthscales
        The same as `columns` and `lengthscales`, for contexts.

    Further attributes
    ------------------
    dual_
        (q, n, n) skew-symmetric B_c: the dual coefficients in context u are sum_c k_U(u, c) B_c.
    contexts_, context_shares_
        (q, e) the distinct contexts of the training matches; (q,) the share of these matches in each.
    context_kernel_
        The kernel k_U of contexts.

    >>> items, contexts = [[0.0], [1.0]], [[0.0], [1.0]]
    >>> model = CGPM(context_lengthscales=0.5, penalty=0.1).fit(items, [[0, 1], [1, 0]], contexts, [0, 1])
    >>> model.predict_proba(items, [[0, 1], [0, 1]], contexts, [0, 1]).round(2)
    array([0.76, 0.24])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralModel._parameter_constraints,
        "context_columns": [Sequence, None],
        "context_lengthscales": LENGTHSCALES,
    }

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        context_columns: Sequence[Column] | None = None,
        *,
        lengthscales: Lengthscales = None,
        context_lengthscales: Lengthscales = None,
        penalty: float = 1e-4,
        utility: float = 0.0,
        rank: int | None = None,
        tolerance: float = 1e-6,
    ) -> None:
        super().__init__(columns, lengthscales=lengthscales, penalty=penalty, rank=rank, tolerance=tolerance)
        self.utility = utility
        self.context_columns = context_columns
        self.context_lengthscales = context_lengthscales

    @classmethod
    def from_dual(
        cls,
        items: ArrayLike,
        contexts: ArrayLike,
        dual: ArrayLike,
        *,
        columns: Sequence[Column] | None = None,
        context_columns: Sequence[Column] | None = None,
        lengthscales: Mapping[str, float] | float,
        context_lengthscales: Mapping[str, float] | float,
        utility: ArrayLike | None = None,
        context_shares: ArrayLike | None = None,
        known_items: ArrayLike | None = None,
        known_contexts: ArrayLike | None = None,
    ) -> Self:
        """A fitted model with the given dual coefficients; see `GPM.from_dual`.

        contexts: (q, e). dual: (q, n, n) skew-symmetric B_c. utility: (q, n); zeros if None.
        context_shares: (q,) the weights of the contexts in explanations; all the same if None.
        known_contexts: (k, e) the contexts whose known values stand for a missing one; `contexts` if None.
        """
        model = cls(columns, context_columns)
        model._set_kernel(items, columns, lengthscales, known_items)
        U = model.contexts_ = check_items(contexts)
        known = U if known_contexts is None else check_items(known_contexts, U.shape[1])
        described = check_columns(context_columns, U.shape[1])
        model.context_kernel_ = item_kernel(known, described, context_lengthscales, absolute=True)
        weights = check_weights(context_shares, "context_shares", len(U))
        model.context_shares_ = weights / weights.sum()
        n = len(model.items_)
        model.dual_ = check_skew(dual, (len(U), n, n))
        model.utility_ = check_coefficients(utility, "utility", (len(U), n))
        return model

    def fit(
        self,
        items: ArrayLike,
        comparisons: ArrayLike,
        contexts: ArrayLike,
        context_of: ArrayLike,
        *,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Fit to comparisons (m, 2), rows of `items` (n, d), winner first.

        contexts: (q, e); equal rows are one context. context_of: (m,) the row of `contexts` of each comparison.
        weights: see `GPM.fit`.
        Raises ValueError as `GPM.fit` does, and for rows of contexts that are not whole numbers or do not exist.
        """
        X, pairs = self._prepare(items, comparisons)
        U = check_items(contexts)
        rows = check_rows(context_of, "context_of", len(U), len(pairs))
        used, used_rows = np.unique(rows, return_inverse=True)
        self.contexts_, distinct = distinct_rows(U[used])
        columns = check_columns(self.context_columns, U.shape[1])
        self.context_kernel_: ItemKernel = item_kernel(self.contexts_, columns, self.context_lengthscales)
        weight = match_weights(weights, len(pairs))
        matches = count_matches(pairs, len(X), distinct[used_rows], weights=weight)
        self.context_shares_ = matches.context_shares
        kernel = self.context_kernel_(self.contexts_, self.contexts_)
        self._fit_by_context(X, matches, exact_factor(kernel, matches.context_shares))
        return self

    def dual_in(self, contexts: ArrayLike) -> FloatArray:
        """The dual coefficients B of the preference in each context (m, e), (m, n, n)."""
        return np.tensordot(self._context_weights(contexts), self.dual_, axes=1)

    def utility_in(self, contexts: ArrayLike) -> FloatArray:
        """The coefficients beta of the utility in each context (m, e), (m, n)."""
        return np.asarray(self._context_weights(contexts) @ self.utility_)

    def decision_function(
        self, items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike, context_of: ArrayLike
    ) -> FloatArray:
        """The preference for the first of each pair (m, 2) over the second, in the context of row context_of (m,)."""
        kernel, rows = self._known(items, pairs)
        U = check_items(contexts, self.contexts_.shape[1])
        distinct, row_of_context = distinct_rows(U)
        context = row_of_context[check_rows(context_of, "context_of", len(U), len(rows))]
        preference = np.empty(len(rows))
        for at in np.unique(context):
            here, where = np.flatnonzero(context == at), distinct[at : at + 1]
            [dual], [utility] = self.dual_in(where), self.utility_in(where)
            preference[here] = preference_between(kernel, dual, utility, rows[here])
        return preference

    def predict_proba(
        self, items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike, context_of: ArrayLike
    ) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred in the context of row context_of, (m,)."""
        return np.asarray(expit(self.decision_function(items, pairs, contexts, context_of)))

    def _context_weights(self, contexts: ArrayLike) -> FloatArray:
        """k_U of contexts (m, e) with the training contexts, (m, q)."""
        check_is_fitted(self, "dual_")
        return self.context_kernel_(check_items(contexts, self.contexts_.shape[1]), self.contexts_)


class UPM(DualModel):
    """The utility model (pref-shap Eq. 1): each item has one utility, and the penalty is on the norm of f.

    Parameters and attributes: see `DualModel`.
    dual_: (n,) beta, f(x) = beta' k(x).

    >>> items = [[0.0], [1.0], [2.0]]
    >>> model = UPM().fit(items, [[1, 0], [2, 1]])
    >>> model.predict(items).argmax()
    np.int64(2)
    >>> cycle = [[0, 1], [1, 2], [2, 0]]
    >>> UPM().fit(items, cycle).predict_proba(items, cycle)
    array([0.5, 0.5, 0.5])
    """

    @classmethod
    def from_dual(
        cls,
        items: ArrayLike,
        dual: ArrayLike,
        *,
        columns: Sequence[Column] | None = None,
        lengthscales: Mapping[str, float] | float,
        known_items: ArrayLike | None = None,
    ) -> Self:
        """A fitted model with the given dual coefficients beta (n,); see `GPM.from_dual`.

        >>> UPM.from_dual([[0.0], [3.0]], [2.0, -1.0], lengthscales=1.0).predict([[0.0], [1.0]]).round(2)
        array([1.99, 1.08])
        """
        model = cls(columns)
        model._set_kernel(items, columns, lengthscales, known_items)
        model.dual_ = check_coefficients(dual, "dual", (len(model.items_),))
        return model

    def fit(self, items: ArrayLike, comparisons: ArrayLike, *, weights: ArrayLike | None = None) -> Self:
        """Fit to comparisons (m, 2), rows of `items` (n, d), winner first; see `GPM.fit`."""
        X, pairs = self._prepare(items, comparisons)
        matches = count_matches(pairs, len(X), weights=match_weights(weights, len(pairs)))
        factor, to_dual = self._factor(X, matches.item_shares)
        self.dual_ = to_dual @ self._minimise(UtilityModel(factor, matches), matches)
        return self

    def predict(self, items: ArrayLike) -> FloatArray:
        """The utility f of each item (n, d), (n,)."""
        check_is_fitted(self, "dual_")
        return np.asarray(self.kernel_(check_items(items, self.n_features_in_), self.items_) @ self.dual_)

    def decision_function(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Utility of the first of each pair (m, 2) of item rows minus that of the second, (m,)."""
        kernel, rows = self._known(items, pairs)
        utility = kernel @ self.dual_
        return np.asarray(utility[rows[:, 0]] - utility[rows[:, 1]])

    def predict_proba(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred, (m,)."""
        return np.asarray(expit(self.decision_function(items, pairs)))
