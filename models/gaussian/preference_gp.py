"""The preferential Gaussian process, the tree's baseline: for one respondent, or for many at once (dt-pbo section 2.2).

It shares the trees' Laplace approximation; hyperparameters maximise the evidence within the bounds of a scikit-learn
kernel. Utilities are in units of sigma_noise, so that the kernel's amplitude is sigma_prior^2 / sigma_noise^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.base import BaseEstimator, clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from models.gaussian.laplace import PairCounts, count_pairs
from models.gaussian.laplace_evidence import LaplaceFit, fit_laplace
from models.numerics.box_minimiser import minimise_in_box
from models.numerics.validation import check_comparisons, check_items, check_rows
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.scores.accuracy import Accuracy, accuracies

Optimizer = Literal["evidence"]

_N_USERS: dict[str, list[Any]] = {"n_users": [Interval(Integral, 1, None, closed="left"), None]}


def default_kernel(n_features: int) -> Kernel:
    """An amplitude times an RBF with one length scale per feature, bounded for features scaled to the unit interval.

    >>> default_kernel(2)
    2**2 * RBF(length_scale=[1, 1])
    """
    return ConstantKernel(4.0, (0.1, 100.0)) * RBF(np.ones(n_features), (0.1, 10.0))


def unit_scaled(items: ArrayLike) -> FloatArray:
    """Items (m, d) with every column scaled to 0..1; a constant column becomes 0. Raises ValueError for missing values.

    >>> unit_scaled([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]])
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 0. ]])
    """
    X = _check_complete(items)
    low, spread = X.min(axis=0), np.ptp(X, axis=0)
    return np.asarray((X - low) / np.where(spread > 0, spread, 1.0))


@dataclass(frozen=True, eq=False)
class _UserItems:
    """The distinct items of each of t users, padded to the largest number m of them.

    items: (t, m, d); real: (t, m) false for padding; place: (rows,) position of each given row in its user's items.
    shared: whether all users have the same items.
    """

    items: FloatArray
    real: BoolArray
    place: IntArray
    shared: bool

    def of(self, user: int) -> FloatArray:
        """Items of one user, without padding."""
        return np.asarray(self.items[user, self.real[user]])


def _distinct(X: FloatArray, user: IntArray, n_users: int) -> _UserItems:
    """Consolidate exact duplicates within each user; the padding is zeros, in no comparison."""
    rows, inverse = np.unique(np.column_stack([user, X]), axis=0, return_inverse=True)
    owner = rows[:, 0].astype(np.int64)
    sizes = np.bincount(owner, minlength=n_users)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    items = np.zeros((n_users, int(sizes.max(initial=1)), X.shape[1]))
    items[owner, place] = rows[:, 1:]
    real = np.arange(items.shape[1]) < sizes[:, None]
    shared = bool((items == items[:1]).all() and (sizes == sizes[:1]).all())
    return _UserItems(items, real, place[inverse.ravel()], shared)


class _Processes(BaseEstimator):  # type: ignore[misc]
    """Base of both estimators, see `PreferenceGPs`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [Kernel, None],
        "optimizer": [StrOptions(set(get_args(Optimizer))), None],
    }

    def __init__(self, kernel: Kernel | None = None, *, optimizer: Optimizer | None = "evidence") -> None:
        self.kernel = kernel
        self.optimizer = optimizer

    def _fit(self, X: FloatArray, pairs: IntArray, user: IntArray, total: int) -> None:
        self.n_features_in_ = X.shape[1]
        self._kernel = clone(self.kernel) if self.kernel is not None else default_kernel(X.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            if not np.isfinite(self._kernel.theta).all():
                raise ValueError(f"the kernel's hyperparameters must be positive and finite, found {self._kernel}")
        self._own = _distinct(X, user, total)
        self._pairs = count_pairs(
            user[pairs[:, 0]],
            self._own.place[pairs[:, 0]],
            self._own.place[pairs[:, 1]],
            total,
            self._own.items.shape[1],
        )
        start = np.tile(self._kernel.theta, (total, 1))
        self.theta_ = self._climb(start) if self.optimizer == "evidence" and start.size else start
        kernels, _ = self._kernels(np.arange(total), self.theta_, gradient=False)
        self._posterior: LaplaceFit = fit_laplace(self._pairs, kernels)

    def _climb(self, start: FloatArray) -> FloatArray:
        """Each user's hyperparameters at a local maximum of the evidence, (t, p)."""
        lower, upper = self._kernel.bounds.T

        def descend(theta: FloatArray, users: IntArray) -> tuple[FloatArray, FloatArray]:
            kernels, slopes = self._kernels(users, theta, gradient=True)
            found = fit_laplace(_of_users(self._pairs, users), kernels)
            return -found.log_evidence, -np.einsum("tij,tijp->tp", found.slope, slopes)

        return minimise_in_box(descend, start, lower, upper).point

    def _kernels(self, users: IntArray, theta: FloatArray, *, gradient: bool) -> tuple[FloatArray, FloatArray]:
        """Kernel matrices (k, m, m) of some users' items, and their derivatives (k, m, m, p); padding is independent.

        Where all users have the same items, those with equal hyperparameters share one matrix.
        """
        first = matrix_of = np.arange(len(users))
        if self._own.shared:
            _, first, matrix_of = np.unique(theta, axis=0, return_index=True, return_inverse=True)
        m, p = self._own.items.shape[1], theta.shape[1]
        kernels = np.tile(np.eye(m), (len(first), 1, 1))
        slopes = np.zeros((len(first), m, m, p if gradient else 0))
        for at, row in enumerate(first):
            X = self._own.of(users[row])
            size = len(X)
            self._kernel.theta = theta[row]
            if gradient:
                kernels[at, :size, :size], slopes[at, :size, :size] = self._kernel(X, eval_gradient=True)
            else:
                kernels[at, :size, :size] = self._kernel(X)
        return kernels[matrix_of.ravel()], slopes[matrix_of.ravel()]

    def _cross(self, user: int, X: FloatArray) -> FloatArray:
        """Kernel between items (rows, d) and the items of a user, (rows, m)."""
        kernel = self._kernel.clone_with_theta(self.theta_[user])  # not in place: threads may predict at the same time
        return np.asarray(kernel(X, self._own.of(user)))

    def _mean(self, user: int, X: FloatArray) -> FloatArray:
        """Mean utility of items (rows, d) under a user's process, (rows,)."""
        pull = self._posterior.pull[user]
        return np.asarray(self._cross(user, X) @ pull[self._own.real[user]])


class PreferenceGPs(_Processes):
    """One preferential Gaussian process for each respondent, all fitted at once.

    Parameters
    ----------
    kernel
        A scikit-learn kernel with bounds of its hyperparameters; `default_kernel` of the items' columns if None.
    optimizer
        "evidence": each user's hyperparameters start at the kernel's values and climb to a local maximum of the
        evidence within their bounds; None: they stay, and users with the same items share one kernel matrix.

    Attributes
    ----------
    theta_
        (n_users, p) log hyperparameters, in the order of `kernel.theta`.
    log_evidence_
        (n_users,) log marginal likelihood, by Laplace's approximation.
    mean_, covariance_, group_
        (n_users, m) and (n_users, m, m): the posterior of each user's distinct items, padded to the largest number of
        them; (rows,) the position among these of each row of `items`.

    Examples
    --------
    >>> items, user_of_item = [[0.1], [0.5], [0.9], [0.2], [0.8]], [0, 0, 0, 1, 1]
    >>> gps = PreferenceGPs(optimizer=None).fit(items, [[2, 1], [1, 0], [3, 4]], user_of_item)
    >>> gps.predict([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1]).round(2)
    array([-0.56,  0.56,  0.41, -0.41])
    """

    def fit(
        self, items: ArrayLike, comparisons: ArrayLike, user_of_item: ArrayLike, *, n_users: int | None = None
    ) -> Self:
        """Fit user t's process to the comparisons among the items with user_of_item == t.

        items: (rows, d); comparisons: (n, 2) rows of items, winner first, both of one user; user_of_item: (rows,) from
        zero; n_users: the number of users, needed only where the last of them have no items. Equal items of one user
        are consolidated, and comparisons between them ignored. Raises ValueError for parameters or rows out of range,
        for missing values, and where a comparison joins two users.
        """
        self._validate_params()
        validate_parameter_constraints(_N_USERS, {"n_users": n_users}, "PreferenceGPs.fit")
        X = _check_complete(items)
        pairs = check_comparisons(comparisons, len(X))
        user = check_rows(user_of_item, "user_of_item", np.iinfo(np.int64).max if n_users is None else n_users, len(X))
        joined = np.flatnonzero(user[pairs[:, 0]] != user[pairs[:, 1]])
        if len(joined):
            raise ValueError(f"{len(joined)} comparisons join items of two users, the first is row {joined[0]}")
        self._fit(X, pairs, user, int(user.max(initial=-1)) + 1 if n_users is None else n_users)
        self.log_evidence_ = self._posterior.log_evidence
        self.mean_, self.covariance_ = self._posterior.mode, self._posterior.covariance
        self.group_ = self._own.place
        return self

    def predict(self, items: ArrayLike, user_of_item: ArrayLike) -> FloatArray:
        """Mean utility of each item (rows, d) under its user's process, (rows,).

        Raises NotFittedError before `fit`, ValueError for missing values or users that `fit` did not see.
        """
        check_is_fitted(self)
        X = _check_complete(items, self.n_features_in_)
        user = check_rows(user_of_item, "user_of_item", len(self.theta_), len(X))
        mean = np.zeros(len(X))
        order = np.argsort(user, kind="stable")
        starts = np.searchsorted(user[order], np.arange(len(self.theta_) + 1))
        for t in np.unique(user):
            rows = order[starts[t] : starts[t + 1]]
            mean[rows] = self._mean(t, X[rows])
        return mean


class PreferenceGP(_Processes):
    """The preferential Gaussian process of one respondent; parameters as for `PreferenceGPs`.

    Attributes: kernel_ (with the fitted hyperparameters), log_evidence_ (a number).
    Every method but `fit` raises NotFittedError before `fit`.

    >>> items = [[0.1], [0.5], [0.9]]
    >>> gp = PreferenceGP(optimizer=None).fit(items, [[2, 1], [1, 0], [2, 0]])  # more is better
    >>> gp.predict(items).argmax()
    np.int64(2)
    >>> gp.predict_proba(items, [[2, 0]]).round(2)
    array([0.77])
    """

    def fit(self, items: ArrayLike, comparisons: ArrayLike) -> Self:
        """Fit to comparisons (n, 2), rows of `items` (m, d), winner first.

        Raises ValueError for parameters or rows out of range and for missing values.
        """
        self._validate_params()
        X = _check_complete(items)
        self._fit(X, check_comparisons(comparisons, len(X)), np.zeros(len(X), dtype=np.int64), 1)
        self.kernel_ = self._kernel.clone_with_theta(self.theta_[0])
        self.log_evidence_ = float(self._posterior.log_evidence[0])
        return self

    def predict(self, items: ArrayLike) -> FloatArray:
        """Mean utility of each item, (m,)."""
        check_is_fitted(self)
        return self._mean(0, _check_complete(items, self.n_features_in_))

    def posterior(self, items: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Mean (m,) and covariance (m, m) of the utilities of items, in units of sigma_noise."""
        check_is_fitted(self)
        X = _check_complete(items, self.n_features_in_)
        cross = self._cross(0, X)
        covariance = self.kernel_(X) - cross @ self._posterior.reduction[0] @ cross.T
        return cross @ self._posterior.pull[0], np.asarray(covariance)

    def decision_function(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Mean utility of the first minus that of the second item of each pair (n, 2), rows of items, (n,)."""
        utility = self.predict(items)
        rows = check_comparisons(pairs, len(utility))
        return utility[rows[:, 0]] - utility[rows[:, 1]]

    def predict_proba(self, items: ArrayLike, pairs: ArrayLike) -> FloatArray:
        """Probability that the first of each pair is preferred, (n,): Phi(mean / sqrt(2 + variance))."""
        mean, S = self.posterior(items)
        first, second = check_comparisons(pairs, len(mean)).T
        variance = np.maximum(S[first, first] + S[second, second] - 2 * S[first, second], 0.0)
        probability: FloatArray = ndtr((mean[first] - mean[second]) / np.sqrt(2.0 + variance))
        return probability

    def accuracies(self, items: ArrayLike, comparisons: ArrayLike) -> Accuracy:
        """The three accuracies on comparisons (n, 2), winner first."""
        return accuracies(self.decision_function(items, comparisons))


def _check_complete(items: ArrayLike, n_features: int | None = None) -> FloatArray:
    """Items as (m, d) float64. Raises ValueError if there are none, and for missing values."""
    X = check_items(items, n_features)
    if n_features is None and not len(X):
        raise ValueError("items must have at least one row, found none")
    missing = int(np.isnan(X).sum())
    if missing:
        raise ValueError(f"items hold {missing} missing values; a kernel needs every value: fill or leave them out")
    return X


def _of_users(pairs: PairCounts, users: IntArray) -> PairCounts:
    """The pairs of the given problems, renumbered from zero in that order."""
    if len(users) == pairs.n_problems:
        return pairs
    place = np.full(pairs.n_problems, -1)
    place[users] = np.arange(len(users))
    mine = np.flatnonzero(place[pairs.problem] >= 0)
    return PairCounts(
        len(users),
        pairs.n_values,
        place[pairs.problem[mine]],
        pairs.winner[mine],
        pairs.loser[mine],
        pairs.count[mine],
    )
