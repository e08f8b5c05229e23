"""The generalised preference model with contexts or without, and the utility model, all in items (pref-shap 2.1).

A comparison is never a row of a matrix. With A[i, j] the sum of the dual coefficients of the matches of i against j and
B = A - A', the preference function is g(x, x') = k(x)' B k(x'), k(x) the kernel of x with all items (DESIGN 3.3).

A general preference can be given a utility of its own, which the paper's has not: a constant u added to the item
kernel makes the kernel of matches k_E + u k_U, k_U that of the utility model, as what is constant in both cancels.
With beta = u B 1, g(x, x') = k(x)' B k(x') + beta' (k(x) - k(x')): a ranking, and what departs from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator

from models.kernels.item_kernel import ItemKernel, distinct_rows, item_kernel
from models.kernels.kernel_factor import KernelFactor, exact_factor, landmark_factor, with_constant
from models.kernels.logistic_newton import Fitted, minimise
from models.kernels.match_models import SkewModel, UtilityModel, net, row_products
from models.numerics.match_counts import MatchCounts, count_matches
from models.numerics.validation import check_columns, check_comparisons, check_items
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column

Lengthscales = Mapping[str, float] | float | None


class _KernelModel(BaseEstimator):  # type: ignore[misc]
    """What the three models share.

    Parameters
    ----------
    columns
        What the columns of `items` are; all numeric if None.
    lengthscales
        Of the item kernel, see `models.kernels.item_kernel.item_kernel`.
    penalty
        Of the squared norm of the preference function, beside the mean loss of a match.
    rank
        At most so many landmarks carry the items' kernel (pivoted Cholesky); None: it is exact.
    tolerance
        Fitting ends when the gradient is that much smaller than at zero.

    Attributes
    ----------
    items_
        (n, d) the items that carry the dual coefficients: the distinct ones of the training matches, or the landmarks.
    dual_
        The dual coefficients, see the models.
    kernel_
        The item kernel; its scales are those of the items of the training matches.
    gradient_, n_steps_, n_products_
        The norm of the last gradient as a share of that at zero, Newton steps, products with the Hessian.
    """

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        *,
        lengthscales: Lengthscales = None,
        penalty: float = 1e-4,
        rank: int | None = None,
        tolerance: float = 1e-6,
    ) -> None:
        self.columns = columns
        self.lengthscales = lengthscales
        self.penalty = penalty
        self.rank = rank
        self.tolerance = tolerance

    def _prepare(self, items: ArrayLike, comparisons: ArrayLike) -> tuple[FloatArray, IntArray]:
        """The distinct items that play, and the comparisons as rows of them."""
        X = check_items(items)
        pairs = check_comparisons(comparisons, len(X))
        if not len(pairs):
            raise ValueError("there are no comparisons to learn from")
        if not self.penalty > 0:
            raise ValueError(f"penalty must be positive, not {self.penalty}")
        self.columns_ = check_columns(self.columns, X.shape[1])
        self.n_features_in_ = X.shape[1]
        playing, rows = np.unique(pairs, return_inverse=True)
        self.kernel_: ItemKernel = item_kernel(X[playing], self.columns_, self.lengthscales)
        distinct, row = distinct_rows(X[playing])
        return distinct, row[rows.reshape(pairs.shape)]

    def _factor(self, X: FloatArray, weights: FloatArray) -> KernelFactor:
        """The features of the items; settles which items carry the dual."""
        if self.rank is None:
            self.items_, self._to_dual = X, None
            return exact_factor(self.kernel_(X, X), weights)
        low = landmark_factor(lambda row: self.kernel_(X, X[row : row + 1])[:, 0], len(X), self.rank, weights)
        self.items_, self._to_dual = X[low.landmarks], low.to_dual
        return low.factor

    def _keep(self, fitted: Fitted) -> None:
        self.gradient_, self.n_steps_, self.n_products_ = fitted.gradient, fitted.steps, fitted.products

    def _known(self, items: ArrayLike, pairs: ArrayLike) -> tuple[FloatArray, IntArray]:
        """The kernel of the items that the pairs name with those that carry the dual, and the pairs as its rows."""
        X = check_items(items, self.n_features_in_)
        rows = check_comparisons(pairs, len(X))
        named, row_of_named = np.unique(rows, return_inverse=True)
        distinct, row = distinct_rows(X[named])
        return self.kernel_(distinct, self.items_), row[row_of_named.reshape(rows.shape)]

    def _pull(self, matches: MatchCounts, fitted: Fitted) -> FloatArray:
        """(p,) the dual coefficients of the pairs where the gradient is zero: minus the slope of the loss / penalty."""
        surprise = matches.wins - matches.played * expit(fitted.z)
        return np.asarray(surprise / (matches.played.sum() * self.penalty))


class _SkewModel(_KernelModel):
    """What the general preference models share.

    Further parameter
    -----------------
    utility
        u, the weight of a utility of its own beside the general preference; zero, as in the paper, for none.

    Further attribute
    -----------------
    utility_
        (n,) or (q, n), the beta that belongs to each B.
    """

    utility: float
    utility_: FloatArray

    def _fit_skew(self, X: FloatArray, matches: MatchCounts, contexts: KernelFactor) -> None:
        """Settle the dual coefficients of each context, (q, n, n), and of their utilities, (q, n)."""
        if self.utility < 0:
            raise ValueError(f"utility is the weight of a kernel and cannot be {self.utility}")
        factor, rotation = self._factor(X, matches.item_shares), None
        if self.utility:
            factor, rotation = with_constant(factor, self.utility, matches.item_shares)
        model = SkewModel(factor, contexts, matches)
        fitted = minimise(model, matches, self.penalty, tolerance=self.tolerance)
        self._keep(fitted)
        pull = self._pull(matches, fitted)
        if self._to_dual is None:
            dual = np.zeros((matches.n_contexts, len(X), len(X)))
            dual[matches.context, matches.first, matches.second] = pull
            self.dual_ = dual - np.swapaxes(dual, 1, 2)
            self.utility_ = self.utility * self.dual_.sum(axis=2)
            return
        form, constant = model.by_context(pull), 0
        if rotation is not None:
            form, constant = rotation @ form @ rotation.T, 1
        self.dual_ = np.asarray(self._to_dual @ form[:, constant:, constant:] @ self._to_dual.T)
        self.utility_ = np.sqrt(self.utility) * (form[:, constant:, 0] @ self._to_dual.T)


def preference_between(kernel: FloatArray, dual: FloatArray, utility: FloatArray, pairs: IntArray) -> FloatArray:
    """k(x)' B k(x') + beta' (k(x) - k(x')) of pairs (m, 2) of rows of k (., n), B skew-symmetric: (m,).

    k(x)' B is asked of one item of each pair, of that in the more pairs: of few items, most often.
    """
    value, (first, second) = kernel @ utility, pairs.T
    busy = np.bincount(pairs.ravel(), minlength=len(kernel))
    turned = busy[second] > busy[first]
    asked, row = np.unique(np.where(turned, second, first), return_inverse=True)
    form = row_products(kernel[asked] @ dual, kernel, row, np.where(turned, first, second))
    return np.asarray(np.where(turned, -form, form) + value[first] - value[second])


class GPM(_SkewModel):
    """The generalised preference model (pref-shap Eq. 2); parameters and attributes as for its bases.

    dual_: (n, n) skew-symmetric B, g(x, x') = k(x)' B k(x') + utility_' (k(x) - k(x')).
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

    def fit(self, items: ArrayLike, comparisons: ArrayLike) -> Self:
        """Fit to comparisons (m, 2), rows of `items` (n, d), winner first.

        Raises ValueError for shapes that do not fit, no comparisons, or a lengthscale or penalty that is not positive.
        """
        X, pairs = self._prepare(items, comparisons)
        self._fit_skew(X, count_matches(pairs, len(X)), ONE_CONTEXT)
        self.dual_, self.utility_ = self.dual_[0], self.utility_[0]
        return self

    def decision_function(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """The preference g of the first over the second of each pair (m, 2) of item rows, (m,)."""
        kernel, rows = self._known(items, pairs)
        return preference_between(kernel, self.dual_, self.utility_, rows)

    def predict_proba(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred, (m,)."""
        return np.asarray(expit(self.decision_function(items, pairs)))


class CGPM(_SkewModel):
    """The preference model that knows the context (pref-shap Eq. 7); parameters and attributes as for its bases.

    Further parameters
    ------------------
    context_columns, context_lengthscales
        What `columns` and `lengthscales` are to the items.

    Further attributes
    ------------------
    dual_
        (q, n, n) skew-symmetric B_c: the preference in context u is that of sum_c k_U(u, c) B_c.
    contexts_, context_shares_
        (q, e) the distinct contexts of the training matches, (q,) the share of these matches in each.
    context_kernel_
        The kernel k_U of contexts.
    """

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

    def fit(self, items: ArrayLike, comparisons: ArrayLike, contexts: ArrayLike, context_of: ArrayLike) -> Self:
        """Fit to comparisons (m, 2), rows of `items` (n, d), winner first, in the contexts of rows context_of (m,).

        contexts: (q, e); equal rows are one context. Raises ValueError as `GPM.fit` does.
        """
        X, pairs = self._prepare(items, comparisons)
        U = check_items(contexts)
        rows = check_contexts(context_of, len(pairs), len(U))
        used, used_rows = np.unique(rows, return_inverse=True)
        self.contexts_, distinct = distinct_rows(U[used])
        columns = check_columns(self.context_columns, U.shape[1])
        self.context_kernel_: ItemKernel = item_kernel(self.contexts_, columns, self.context_lengthscales)
        matches = count_matches(pairs, len(X), distinct[used_rows])
        self.context_shares_ = matches.context_shares
        kernel = self.context_kernel_(self.contexts_, self.contexts_)
        self._fit_skew(X, matches, exact_factor(kernel, matches.context_shares))
        return self

    def dual_in(self, contexts: ArrayLike) -> FloatArray:
        """The dual coefficients B of the preference in each context (m, e), (m, n, n)."""
        U = check_items(contexts, self.contexts_.shape[1])
        return np.tensordot(self.context_kernel_(U, self.contexts_), self.dual_, axes=1)

    def utility_in(self, contexts: ArrayLike) -> FloatArray:
        """The coefficients beta of the utility in each context (m, e), (m, n)."""
        U = check_items(contexts, self.contexts_.shape[1])
        return np.asarray(self.context_kernel_(U, self.contexts_) @ self.utility_)

    def decision_function(
        self, items: ArrayLike, pairs: ArrayLike, contexts: ArrayLike, context_of: ArrayLike
    ) -> FloatArray:
        """The preference of the first over the second of each pair (m, 2), in the context of row context_of (m,)."""
        kernel, rows = self._known(items, pairs)
        U = check_items(contexts)
        distinct, row_of_context = distinct_rows(U)
        context = row_of_context[check_contexts(context_of, len(rows), len(U))]
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


def check_contexts(context_of: ArrayLike, n: int, n_contexts: int) -> IntArray:
    """The context of each of n comparisons, (n,). Raises ValueError unless each is one of the contexts' rows."""
    rows = np.asarray(context_of, dtype=np.int64)
    if rows.shape != (n,) or rows.min(initial=0) < 0 or rows.max(initial=-1) >= n_contexts:
        raise ValueError(f"context_of must give one of the {n_contexts} contexts for each of the {n} comparisons")
    return rows


class UPM(_KernelModel):
    """The utility model (pref-shap Eq. 1); parameters and attributes as for `_KernelModel`.

    dual_: (n,) beta, f(x) = beta' k(x); the penalty is on the squared norm of f.
    """

    def fit(self, items: ArrayLike, comparisons: ArrayLike) -> Self:
        """Fit to comparisons (m, 2), rows of `items` (n, d), winner first. Raises ValueError as `GPM.fit` does."""
        X, pairs = self._prepare(items, comparisons)
        matches = count_matches(pairs, len(X))
        factor = self._factor(X, matches.item_shares)
        model = UtilityModel(factor, matches)
        fitted = minimise(model, matches, self.penalty, tolerance=self.tolerance)
        self._keep(fitted)
        pull = self._pull(matches, fitted)
        self.dual_ = net(matches, pull) if self._to_dual is None else self._to_dual @ model.adjoint(pull)
        return self

    def predict(self, items: ArrayLike) -> FloatArray:
        """The utility f of each item (n, d), (n,)."""
        return np.asarray(self.kernel_(check_items(items, self.n_features_in_), self.items_) @ self.dual_)

    def decision_function(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Utility of the first of each pair (m, 2) of item rows less that of the second, (m,)."""
        kernel, rows = self._known(items, pairs)
        utility = kernel @ self.dual_
        return np.asarray(utility[rows[:, 0]] - utility[rows[:, 1]])

    def predict_proba(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair (m, 2) is preferred, (m,)."""
        return np.asarray(expit(self.decision_function(items, pairs)))


ONE_CONTEXT = KernelFactor(np.ones((1, 1)), np.ones(1))
