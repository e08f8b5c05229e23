"""Search for lengthscales and penalty along the gradient of the loss on validation matches.

A fit is stationary: penalty B = -(slopes of the loss at z), z = K B K on the training pairs. Let E be the slopes of the
validation loss, and Q the solution of the Newton system with right side K E K. Differentiating the stationarity gives

    d loss / d log l = sum (C * k * slope), C = E' K B, E' = E - curvature * Q, k the kernel,
    d loss / d log u = -u sum C,                        u the weight of a utility, K then the kernel plus u,
    d loss / d log penalty = -penalty sum (Q * B) over the training pairs,

where `slope` is the derivative of -log k. This takes one more solve of the Newton system, for any number of
lengthscales. B and E' have one entry per pair that met, so C costs O(pairs n).

During the search, landmarks P approximate the kernel, K ~ K[:, P] K[P, P]^-1 K[P, :]. They are fixed for a round of a
few steps, so that the loss is smooth, and the derivatives are those of the approximation. Each round chooses new
landmarks for the lengthscales at which it begins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from numbers import Integral
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.item_kernel import ItemKernel, distinct_rows, item_kernel
from models.kernels.kernel_factor import (
    FixedLandmarks,
    KernelFactor,
    choose_landmarks,
    exact_factor,
    fixed_landmarks,
    with_constant,
)
from models.kernels.logistic_newton import minimise, newton_step
from models.kernels.match_models import SkewModel, UtilityModel, net
from models.numerics.box_minimiser import minimise_in_box
from models.numerics.match_counts import MatchCounts, count_matches
from models.numerics.validation import check_columns, check_comparisons, check_items, check_rows
from models.records.arrays import FloatArray, IntArray

Model = TypeVar("Model", GPM, UPM, CGPM)

POSITIVE = Interval(Integral, 1, None, closed="left")

LENGTHSCALES = (0.05, 50.0)
UTILITIES = (1e-3, 1e3)
PENALTIES = (1e-6, 1.0)
SETTLED = 1e-4
"""The search ends when a step lowers the loss by less than this share of it."""
MAX_HALVINGS = 4
"""How often a step is halved; if the shortest does not lower the loss, the round is over."""
LONGEST = 1.0
"""Largest change of the logarithm of a setting in one step: the slopes hold only nearby."""
TOLERANCE = 1e-3
"""Tolerance of the fits during the search: gradient at the end, as a share of that at zero."""
SLOPE_TOLERANCE = 1e-2
"""Tolerance of the additional Newton system; the gradient only directs the search, so a rough solution is enough."""
ROUND = 3
"""Steps per round."""
UNSEEN = 1e-6
"""Weight of a context without training matches in the features of the contexts."""


@dataclass(frozen=True)
class Trial:
    """A point of the search, and the validation loss per match there, in nats.

    round: losses of different rounds do not compare, because each round has its own landmarks.
    """

    lengthscales: Mapping[str, float]
    context_lengthscales: Mapping[str, float]
    utility: float
    penalty: float
    round: int
    loss: float


class Found(NamedTuple, Generic[Model]):
    """The unfitted model with the settings of the best trial of the last round; that trial; all trials."""

    model: Model
    best: Trial
    trials: tuple[Trial, ...]


def search(
    model: Model,
    items: ArrayLike,
    comparisons: ArrayLike,
    validating: ArrayLike,
    contexts: ArrayLike | None = None,
    context_of: ArrayLike | None = None,
    *,
    rank: int | None = None,
    max_steps: int = 12,
) -> Found[Model]:
    """Find the lengthscales, the penalty, and the weight of a utility if there is one, of least validation loss.

    The search is BFGS in their logarithms. It starts at the model's own values, and its first step has length one.
    validating: (m,) bool, True for the comparisons that validate; the others train.
    contexts, context_of: for a CGPM, see `CGPM.fit`.
    rank: number of landmarks that carry the kernel; all items if None.
    max_steps: of all rounds together; the first round that does not lower the loss is the last.
    Raises ValueError for impossible parameters, shapes that do not fit, or no comparisons to train or validate with.

    >>> items, pairs = np.arange(6.0)[:, None], np.stack(np.triu_indices(6, 1), axis=1)[:, ::-1]
    >>> found = search(UPM(penalty=0.1), items, pairs, np.arange(15) % 3 == 0, max_steps=3)
    >>> found.best.loss < found.trials[0].loss
    True
    >>> found.model.penalty < 0.1
    True
    """
    validate_parameter_constraints(
        {"model": [GPM, UPM, CGPM], "rank": [POSITIVE, None], "max_steps": [POSITIVE]},
        {"model": model, "rank": rank, "max_steps": max_steps},
        caller_name="search",
    )
    model._validate_params()
    problem: _Problem = _problem(model, items, comparisons, validating, contexts, context_of)
    theta, low, high = problem.start(model.penalty)

    def evaluate(points: FloatArray, _: IntArray) -> tuple[FloatArray, FloatArray]:
        value, gradient = problem.scaled(points[0])
        return np.array([value]), gradient[None]

    inverse: FloatArray | None = None
    for number in range(max(math.ceil(max_steps / ROUND), 1)):
        problem.begin(number, rank, theta)
        found = minimise_in_box(
            evaluate, theta[None], low, high, max_steps=min(ROUND, max_steps - number * ROUND),
            max_halvings=MAX_HALVINGS, longest=LONGEST, settled=SETTLED, inverse=inverse,
        )  # fmt: skip
        theta, inverse = found.point[0], found.inverse
        tried = [trial for trial in problem.trials if trial.round == number]
        best = min(tried, key=lambda trial: trial.loss)
        if best.loss > (1.0 - SETTLED) * tried[0].loss:
            break
    chosen = clone(model).set_params(lengthscales=best.lengthscales, penalty=best.penalty)
    if isinstance(model, CGPM):
        chosen.set_params(context_lengthscales=best.context_lengthscales)
    if not isinstance(model, UPM):
        chosen.set_params(utility=best.utility)
    return Found(chosen, best, tuple(problem.trials))


_LinearModel = UtilityModel | SkewModel


@dataclass(frozen=True, eq=False)
class _Part:
    """The entries of E' for the pairs of a model, (p,)."""

    model: _LinearModel
    values: FloatArray


@dataclass(eq=False)
class _Problem:
    """Training and validation matches among the same items (n, d) and contexts (q, e).

    A model without contexts has one context without columns. utility: whether it is a utility model; utility_weight:
    u of a general model, zero for none.
    """

    utility: bool
    items: FloatArray
    kernel: ItemKernel
    contexts: FloatArray
    context_kernel: ItemKernel
    training: MatchCounts
    validation: MatchCounts
    weights: FloatArray
    utility_weight: float
    landmarks: IntArray = field(init=False)
    round: int = 0
    trials: list[Trial] = field(default_factory=list)
    steepness: float = 0.0

    def start(self, penalty: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Logarithms of all lengthscales, of the weight of a utility if there is one, and of the penalty; limits."""
        scales = [*self.kernel.lengthscales.values(), *self.context_kernel.lengthscales.values()]
        weights = [self.utility_weight] if self.utility_weight else []
        limits = [*[LENGTHSCALES] * len(scales), *[UTILITIES] * len(weights), PENALTIES]
        low, high = np.log(limits).T
        return np.log([*scales, *weights, penalty]), low, high

    def begin(self, number: int, rank: int | None, theta: FloatArray) -> None:
        """Start a round: choose at most `rank` landmarks for the kernel at exp(theta)."""
        self.round = number
        kernel, X = self._at(np.exp(theta))[0], self.items
        self.landmarks, _ = choose_landmarks(
            lambda row: kernel(X, X[row : row + 1])[:, 0], len(X), rank or len(X), self.weights
        )

    def scaled(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Loss and gradient, divided by the norm of the first gradient: the first step then has length one."""
        loss, gradient = self.loss_and_gradient(theta)
        self.steepness = self.steepness or float(np.linalg.norm(gradient)) or 1.0
        return loss / self.steepness, gradient / self.steepness

    def loss_and_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Validation loss of the model fitted with settings exp(theta), and its derivatives by theta."""
        kernel, context_kernel, constant, penalty = self._at(np.exp(theta))
        K_U = context_kernel(self.contexts, self.contexts)
        known = fixed_landmarks(kernel(self.items, self.items[self.landmarks]), self.landmarks, self.weights)
        training, validation = self._models(known.factor, constant, K_U)
        fitted = minimise(training, self.training, penalty, tolerance=TOLERANCE)
        slopes, curvature = _slopes(self.training, fitted.z)
        dual = -slopes / penalty

        z = validation.z(fitted.w)
        e, _ = _slopes(self.validation, z)
        solution, _ = newton_step(training, curvature, penalty, validation.adjoint(e), tolerance=SLOPE_TOLERANCE)
        q = training.z(solution)
        parts = [_Part(validation, e), _Part(training, -curvature * q)]
        by_kernel, by_context_kernel = self._kernel_gradients(
            parts, dual, training.items.phi @ training.items.phi.T, K_U
        )
        gradient = [
            *self._item_gradient(kernel, known, by_kernel),
            *_lengthscale_gradient(context_kernel, self.contexts, self.contexts, by_context_kernel * K_U),
            *([-constant * float(by_kernel.sum())] if constant else []),
            -penalty * float(q @ dual),
        ]
        share, won = _shares(self.validation)
        loss = float(share @ np.logaddexp(0.0, z) - won @ z)
        self.trials.append(Trial(kernel.lengthscales, context_kernel.lengthscales, constant, penalty, self.round, loss))
        return loss, np.array(gradient)

    def _at(self, values: FloatArray) -> tuple[ItemKernel, ItemKernel, float, float]:
        features, context_features = self.kernel.features, self.context_kernel.features
        of_items, of_contexts, _ = np.split(values, np.cumsum([len(features), len(context_features)]))
        return (
            self.kernel.with_lengthscales(dict(zip(features, of_items, strict=True))),
            self.context_kernel.with_lengthscales(dict(zip(context_features, of_contexts, strict=True))),
            float(values[-2]) if self.utility_weight else 0.0,
            float(values[-1]),
        )

    def _item_gradient(self, kernel: ItemKernel, known: FixedLandmarks, by_kernel: FloatArray) -> list[float]:
        by_landmarks, by_among = known.gradients(by_kernel)
        by_landmarks *= known.to_landmarks
        by_landmarks[self.landmarks] += by_among * known.among
        return _lengthscale_gradient(kernel, self.items, self.items[self.landmarks], by_landmarks)

    def _models(self, factor: KernelFactor, constant: float, K_U: FloatArray) -> tuple[_LinearModel, _LinearModel]:
        """Models of the training and the validation matches, with the same features."""
        if constant:
            factor, _ = with_constant(factor, constant, self.weights)
        if self.utility:
            return UtilityModel(factor, self.training), UtilityModel(factor, self.validation)
        contexts = exact_factor(K_U, self.training.context_shares + UNSEEN)
        return SkewModel(factor, contexts, self.training), SkewModel(factor, contexts, self.validation)

    def _kernel_gradients(
        self, parts: Sequence[_Part], dual: FloatArray, K: FloatArray, K_U: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Minus the derivatives of the loss by the entries of K (n, n) and of K_U (q, q); dual: (p,)."""
        if self.utility:
            slopes = sum((net(part.model.matches, part.values) for part in parts), np.zeros(len(K)))
            return -np.multiply.outer(slopes, net(self.training, dual)), np.zeros_like(K_U)
        by_kernel = np.zeros_like(K)
        duals = [_skew(self.training, dual, context) for context in range(len(K_U))]
        for context, weights in enumerate(K_U):
            dual_here = _total([float(weight) * of_c for weight, of_c in zip(weights, duals, strict=True)])
            slopes_here = _total([_skew(part.model.matches, part.values, context) for part in parts])
            by_kernel += np.asarray(slopes_here @ np.asarray(dual_here.T @ K).T)
        return by_kernel, self._context_gradient(parts, dual)

    def _context_gradient(self, parts: Sequence[_Part], dual: FloatArray) -> FloatArray:
        """Minus the derivatives of the loss by k_U(u, c): E' of the pairs in u, times their form under B_c."""
        found = np.zeros((self.training.n_contexts, self.training.n_contexts))
        skew = [(part.model, part.values) for part in parts if isinstance(part.model, SkewModel)]
        for c, form in enumerate(skew[-1][0].by_context(dual)):
            for model, values in skew:
                weights = values * model.of_form(form)
                found[:, c] -= np.bincount(model.matches.context, weights=weights, minlength=len(found))
        return found


def _lengthscale_gradient(kernel: ItemKernel, a: FloatArray, b: FloatArray, by_exponent: FloatArray) -> list[float]:
    """Derivatives by each log l, from those by -log k between a and b."""
    return [float(np.vdot(by_exponent, kernel.slope(a, b, feature))) for feature in kernel.features]


def _shares(matches: MatchCounts) -> tuple[FloatArray, FloatArray]:
    total = matches.played.sum()
    return matches.played / total, matches.wins / total


def _slopes(matches: MatchCounts, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First and second derivatives of the mean loss by the z of each pair."""
    share, won = _shares(matches)
    right = expit(z)
    return share * right - won, share * right * (1.0 - right)


def _skew(matches: MatchCounts, values: FloatArray, context: int) -> csr_array:
    """Values of the pairs of one context as a skew-symmetric matrix (n, n)."""
    at, shape = matches.in_context(context), (matches.n_items, matches.n_items)
    half = csr_array((values[at], (matches.first[at], matches.second[at])), shape=shape)
    return csr_array(half - half.T)


def _total(matrices: Sequence[csr_array]) -> csr_array:
    return reduce(lambda one, other: csr_array(one + other), matrices)


def _problem(
    model: GPM | UPM | CGPM,
    items: ArrayLike,
    comparisons: ArrayLike,
    validating: ArrayLike,
    contexts: ArrayLike | None,
    context_of: ArrayLike | None,
) -> _Problem:
    """Merge items and contexts that coincide, and count training and validation matches.

    Raises ValueError if either has none.
    """
    X = check_items(items)
    pairs = check_comparisons(comparisons, len(X))
    validates = np.asarray(validating)
    if validates.dtype != np.bool_ or validates.shape != (len(pairs),):
        raise ValueError(
            f"validating must be one boolean per comparison ({len(pairs)},), found {validates.dtype} {validates.shape}"
        )
    if not validates.any() or validates.all():
        raise ValueError(
            f"{validates.sum()} of {len(pairs)} comparisons validate: at least one must, and one must train"
        )
    kernel = item_kernel(X[np.unique(pairs[~validates])], check_columns(model.columns, X.shape[1]), model.lengthscales)
    playing, place = np.unique(pairs, return_inverse=True)
    distinct, row = distinct_rows(X[playing])
    met = row[place.reshape(pairs.shape)]

    U, context_of_pair = np.zeros((1, 0)), np.zeros(len(pairs), dtype=np.int64)
    context_columns, context_lengthscales = check_columns((), 0), None
    if isinstance(model, CGPM):
        given = check_items(() if contexts is None else contexts)
        U, row_of_context = distinct_rows(given)
        rows = check_rows(() if context_of is None else context_of, "context_of", len(given), len(pairs))
        context_of_pair = row_of_context[rows]
        context_columns, context_lengthscales = (
            check_columns(model.context_columns, U.shape[1]),
            model.context_lengthscales,
        )
    return _Problem(
        utility=isinstance(model, UPM),
        items=distinct,
        kernel=kernel,
        contexts=U,
        context_kernel=item_kernel(U[np.unique(context_of_pair[~validates])], context_columns, context_lengthscales),
        training=count_matches(met[~validates], len(distinct), context_of_pair[~validates], len(U)),
        validation=count_matches(met[validates], len(distinct), context_of_pair[validates], len(U)),
        weights=count_matches(met, len(distinct)).item_shares,
        utility_weight=0.0 if isinstance(model, UPM) else model.utility,
    )
