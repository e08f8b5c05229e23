"""What GPM, C-GPM and UPM share: parameters, item kernel, landmarks and dual coefficients (pref-shap 2.1).

No matrix has a row per comparison. Let A[i, j] be the sum of the dual coefficients of the matches of item i against
item j, and B = A - A'. The preference function is g(x, x') = k(x)' B k(x'), where k(x) holds the kernel of x with all
items (DESIGN 3.3).

A general preference can have a utility beside it; the paper's has none. Adding a constant u to the item kernel turns
the kernel of matches k_E into k_E + u k_U, where k_U is the kernel of the utility model: terms that are constant in
both items cancel. With beta = u B 1, g(x, x') = k(x)' B k(x') + beta' (k(x) - k(x')): a ranking plus departures.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from models.kernels.item_kernel import ItemKernel, Lengthscales, distinct_rows, item_kernel
from models.kernels.kernel_factor import KernelFactor, dual_map, exact_factor, landmark_factor, with_constant
from models.kernels.logistic_newton import LinearModel, minimise
from models.kernels.match_models import SkewModel, row_products
from models.numerics.match_counts import MatchCounts
from models.numerics.validation import LARGEST, check_columns, check_comparisons, check_items
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column

LENGTHSCALES: list[Any] = [Mapping, Interval(Real, 0, None, closed="neither"), None]
"""The constraint on a parameter that holds lengthscales; `item_kernel` checks the entries of a mapping."""
LEAST_PENALTY = 1e-12
"""Below it, a Newton step divides rounding errors by the penalty."""
SKEW_TOLERANCE = 1e-8
"""The largest |B + B'| that `check_skew` accepts, as a share of the largest |B|."""


class DualModel(BaseEstimator):  # type: ignore[misc]
    """The base class of the three models.

    Parameters
    ----------
    columns
        Descriptions of the columns of `items`; all numeric if None.
    lengthscales
        Lengthscales of the item kernel, in standard deviations: see `models.kernels.item_kernel.item_kernel`.
    penalty
        Weight of half the squared norm of the preference function, 1e-12 at least; the loss is a mean over matches.
    rank
        Largest number of landmarks that carry the item kernel (pivoted Cholesky); the kernel is exact if None.
    tolerance
        The fit stops when the norm of the gradient is at most this share of its norm at zero.

    Attributes
    ----------
    items_
        (n, d) the items that carry the dual coefficients: the distinct items of the training matches, or the landmarks.
    dual_
        Dual coefficients; their shape depends on the model.
    kernel_
        The item kernel, scaled by the items of the training matches.
    gradient_, n_steps_, n_products_
        Norm of the last gradient as a share of that at zero, number of Newton steps, number of products with the
        Hessian. Set by `fit` only, not by `from_dual`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [Sequence, None],
        "lengthscales": LENGTHSCALES,
        "penalty": [Interval(Real, LEAST_PENALTY, None, closed="left")],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "tolerance": [Interval(Real, 0, 1, closed="neither")],
    }

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
        """Check parameters and data. Returns the distinct items that play, and the comparisons as rows of them."""
        self._validate_params()
        X = check_items(items)
        pairs = check_comparisons(comparisons, len(X))
        if not len(pairs):
            raise ValueError("there are no comparisons to learn from")
        self.columns_ = check_columns(self.columns, X.shape[1])
        self.n_features_in_ = X.shape[1]
        playing, rows = np.unique(pairs, return_inverse=True)
        self.kernel_: ItemKernel = item_kernel(X[playing], self.columns_, self.lengthscales)
        distinct, row = distinct_rows(X[playing])
        return distinct, row[rows.reshape(pairs.shape)]

    def _factor(self, X: FloatArray, weights: FloatArray) -> tuple[KernelFactor, FloatArray]:
        """Set `items_`. Returns the features phi of the items, and the matrix T with phi(x) = T' k(items_, x).

        weights: (n,) the shares of the items in all matches.
        """
        if self.rank is None:
            self.items_ = X
            factor = exact_factor(self.kernel_(X, X), weights)
            return factor, dual_map(factor, weights)
        low = landmark_factor(lambda row: self.kernel_(X, X[row : row + 1])[:, 0], len(X), self.rank, weights)
        self.items_ = X[low.landmarks]
        return low.factor, low.to_dual

    def _minimise(self, model: LinearModel, matches: MatchCounts) -> FloatArray:
        """The coefficients w of the fit. Warns if it stopped at the limit of its steps, short of `tolerance`."""
        fitted = minimise(model, matches, self.penalty, tolerance=self.tolerance)
        self.gradient_, self.n_steps_, self.n_products_ = fitted.gradient, fitted.steps, fitted.products
        if not fitted.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {fitted.steps} steps: its gradient is {fitted.gradient:.1e} of "
                f"that at zero, where tolerance allows {self.tolerance:g}. A larger penalty than {self.penalty:g} "
                "converges sooner",
                ConvergenceWarning,
                stacklevel=4,
            )
        return fitted.w

    def _set_kernel(
        self,
        items: ArrayLike,
        columns: Sequence[Column] | None,
        lengthscales: Mapping[str, float] | float,
        known_items: ArrayLike | None,
    ) -> None:
        """Set the attributes that `from_dual` knows without the dual coefficients."""
        self.items_ = check_items(items)
        self.n_features_in_ = self.items_.shape[1]
        self.columns_ = check_columns(columns, self.n_features_in_)
        known = self.items_ if known_items is None else check_items(known_items, self.n_features_in_)
        self.kernel_ = item_kernel(known, self.columns_, lengthscales, absolute=True)

    def _known(self, items: ArrayLike, pairs: ArrayLike) -> tuple[FloatArray, IntArray]:
        """The kernel of the items in `pairs` with `items_`, and the pairs as rows of it.

        Raises NotFittedError for a model without dual coefficients.
        """
        check_is_fitted(self, "dual_")
        X = check_items(items, self.n_features_in_)
        rows = check_comparisons(pairs, len(X))
        named, row_of_named = np.unique(rows, return_inverse=True)
        distinct, row = distinct_rows(X[named])
        return self.kernel_(distinct, self.items_), row[row_of_named.reshape(rows.shape)]


class GeneralModel(DualModel):
    """The base class of the general preference models: GPM and C-GPM.

    Further parameter
    -----------------
    utility
        u, the weight of a utility beside the general preference; zero, as in the paper, for none.

    Further attribute
    -----------------
    utility_
        (n,) or (q, n), the coefficients beta that belong to each B.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DualModel._parameter_constraints,
        "utility": [Interval(Real, 0, None, closed="left")],
    }

    utility: float
    utility_: FloatArray

    def _fit_by_context(self, X: FloatArray, matches: MatchCounts, contexts: KernelFactor) -> None:
        """Set the dual coefficients of each context, (q, n, n), and those of their utilities, (q, n)."""
        factor, to_dual = self._factor(X, matches.item_shares)
        rotation, constant = np.eye(factor.phi.shape[1]), 0
        if self.utility:
            factor, rotation = with_constant(factor, self.utility, matches.item_shares)
            constant = 1
        model = SkewModel(factor, contexts, matches)
        w = self._minimise(model, matches)
        form = rotation @ np.tensordot(dual_map(contexts, matches.context_shares), w, axes=1) @ rotation.T
        dual = to_dual @ form[:, constant:, constant:] @ to_dual.T
        self.dual_ = np.asarray(0.5 * (dual - np.swapaxes(dual, 1, 2)))
        utility = form[:, constant:, 0] if constant else np.zeros((len(form), len(to_dual.T)))
        self.utility_ = np.sqrt(self.utility) * (utility @ to_dual.T)


def preference_between(kernel: FloatArray, dual: FloatArray, utility: FloatArray, pairs: IntArray) -> FloatArray:
    """k(x)' B k(x') + beta' (k(x) - k(x')) of pairs (m, 2) of rows of k (., n), B skew-symmetric: (m,).

    k(x)' B is computed for one item of each pair only, the one that is in more pairs: often these are few items.
    """
    value, (first, second) = kernel @ utility, pairs.T
    busy = np.bincount(pairs.ravel(), minlength=len(kernel))
    turned = busy[second] > busy[first]
    asked, row = np.unique(np.where(turned, second, first), return_inverse=True)
    form = row_products(kernel[asked] @ dual, kernel, row, np.where(turned, first, second))
    return np.asarray(np.where(turned, -form, form) + value[first] - value[second])


def check_coefficients(values: ArrayLike | None, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Coefficients as float64; zeros if None. Raises ValueError for another shape, or values that are not finite."""
    found = np.zeros(shape) if values is None else np.array(values, dtype=np.float64)
    if found.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, found {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite, found {np.count_nonzero(~np.isfinite(found))} values that are not")
    return found


def check_skew(dual: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Skew-symmetric dual coefficients (..., n, n). Raises ValueError where B' is not -B."""
    found = check_coefficients(dual, "dual", shape)
    largest = np.abs(found).max(initial=0.0)
    if np.abs(found + np.swapaxes(found, -1, -2)).max(initial=0.0) > SKEW_TOLERANCE * largest:
        raise ValueError("dual must be skew-symmetric: the preference of an item over itself is zero")
    return found


def match_weights(weights: ArrayLike | None, n: int) -> FloatArray | None:
    """The weights of n matches as `check_weights` returns them; None if there are none."""
    return None if weights is None else check_weights(weights, "weights", n)


def check_weights(weights: ArrayLike | None, name: str, n: int) -> FloatArray:
    """Weights as (n,) float64; ones if None. Raises ValueError unless they are finite, not negative, and not all zero.

    >>> check_weights([2, 1], "weights", 2)
    array([2., 1.])
    """
    if not n:
        raise ValueError(f"there is nothing that {name} could weigh: no rows are given")
    found = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if found.shape != (n,) or not ((found >= 0) & (found <= LARGEST)).all() or not found.any():
        raise ValueError(f"{name} must be {n} finite numbers, none negative and not all zero")
    return found
