"""Penalised logistic regression on counted matches by Newton's method; conjugate gradients where pairs are many.

Minimises (1 / n) sum_p [wins_p loss(z_p) + losses_p loss(-z_p)] + penalty / 2 |w|^2, loss(z) = log(1 + exp(-z)), over
the coefficients w of a linear model z(w), which needs to provide products only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from models.numerics.match_counts import MatchCounts
from models.records.arrays import FloatArray

MAX_STEPS = 60
MAX_PRODUCTS = 200
"""Largest number of products with the Hessian in one Newton step."""
DAMPED = 0.3
"""Share of the mean curvature that the preconditioner assumes in every direction. The directions of large eigenvalues
separate items whose matches are decided, and decided matches have little curvature. Of 1, 0.3, 0.1 and 0.03, this took
nearly the fewest products for small penalties, and few more for large ones."""
FEW = 300
"""Up to this number of pairs p, a Newton step is solved directly: O(p^3) costs less than the products."""
ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""An increase of the objective by this share of it is a rounding error, and no reason to shorten a step."""


class LinearModel(Protocol):
    """A linear model z(w) of p pairs; <v, w> = inner * sum(v * w) is the inner product of coefficients."""

    @property
    def spectrum(self) -> FloatArray:
        """The approximate diagonal of the mean of z'z over matches, in the shape of w: the preconditioner."""

    @property
    def inner(self) -> float:
        """The factor of the inner product."""

    @property
    def gram(self) -> FloatArray:
        """(p, p) the kernel of pairs, z of the adjoint."""

    def z(self, w: FloatArray) -> FloatArray:
        """The preference of the first of each pair over the second, (p,)."""

    def adjoint(self, slopes: FloatArray) -> FloatArray:
        """The w for which <w, v> = slopes . z(v) for all v."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Coefficients w and preferences z of the pairs.

    gradient: its last norm, as a share of that at zero. converged: whether it is within the tolerance, or so small that
    the last step could lower the objective by rounding errors only.
    """

    w: FloatArray
    z: FloatArray
    gradient: float
    converged: bool
    steps: int
    products: int


def minimise(model: LinearModel, matches: MatchCounts, penalty: float, *, tolerance: float) -> Fitted:
    """Fit w, starting at zero, until the gradient is `tolerance` times that at zero."""
    share = matches.played / matches.played.sum()
    won = matches.wins / matches.played.sum()
    at_zero = model.adjoint(0.5 * share - won)
    w, z = np.zeros_like(at_zero), np.zeros(len(share))
    scale = _norm(at_zero)
    value, products = _objective(model, w, z, share, won, penalty), 1
    steps, gain = 0, np.inf
    while True:
        right = expit(z)
        gradient = model.adjoint(share * right - won) + penalty * w
        size = _norm(gradient) / scale if scale else 0.0
        if size <= tolerance or steps == MAX_STEPS:
            converged = size <= tolerance or gain <= ROUNDING * abs(value)
            return Fitted(w, z, size, converged, steps, products)
        curvature = share * right * (1.0 - right)
        step, used = newton_step(
            model, curvature, penalty, gradient, tolerance=min(0.1, max(size, 0.3 * tolerance / size))
        )
        products += 2 * used + 2
        slope = -model.inner * float(np.vdot(gradient, step))
        z_step, length, gain = model.z(step), 1.0, -slope
        while True:
            trial, trial_z = w - length * step, z - length * z_step
            found = _objective(model, trial, trial_z, share, won, penalty)
            if found <= value + 1e-4 * length * slope + ROUNDING * abs(value) or length < 1e-8:
                break
            length /= 2
        w, z, value, steps = trial, trial_z, found, steps + 1


def newton_step(
    model: LinearModel, curvature: FloatArray, penalty: float, right_side: FloatArray, *, tolerance: float
) -> tuple[FloatArray, int]:
    """Solve (adjoint curvature z + penalty) x = right_side, to a residual of `tolerance` times the right side.

    curvature: (p,). Few pairs are solved directly, more by conjugate gradients; the preconditioner assumes that items
    meet in proportion to how often they play (see `DAMPED`). Returns x and the number of products with the Hessian.
    """
    if len(curvature) <= FEW:
        return _direct(model, curvature, penalty, right_side), 0
    diagonal = DAMPED * curvature.sum() * model.spectrum + penalty
    x = np.zeros_like(right_side)
    residual, limit = right_side.copy(), tolerance * _norm(right_side)
    direction = residual / diagonal
    size = float(np.vdot(residual, direction))
    for products in range(MAX_PRODUCTS):
        if _norm(residual) <= limit:
            return x, products
        product = model.adjoint(curvature * model.z(direction)) + penalty * direction
        length = size / float(np.vdot(direction, product))
        x += length * direction
        residual -= length * product
        preconditioned = residual / diagonal
        size, before = float(np.vdot(residual, preconditioned)), size
        direction = preconditioned + (size / before) * direction
    return x, MAX_PRODUCTS


def _direct(model: LinearModel, curvature: FloatArray, penalty: float, right_side: FloatArray) -> FloatArray:
    """Solve in the space of the pairs, by the Woodbury identity."""
    root = np.sqrt(curvature)
    system = root[:, None] * model.gram * root
    system[np.diag_indices_from(system)] += penalty
    explained = root * cho_solve(cho_factor(system, lower=True), root * model.z(right_side))
    return np.asarray((right_side - model.adjoint(explained)) / penalty)


def _objective(
    model: LinearModel, w: FloatArray, z: FloatArray, share: FloatArray, won: FloatArray, penalty: float
) -> float:
    loss = share @ np.logaddexp(0.0, z) - won @ z
    return float(loss + 0.5 * penalty * model.inner * np.vdot(w, w))


def _norm(w: FloatArray) -> float:
    return float(np.sqrt(np.vdot(w, w)))
