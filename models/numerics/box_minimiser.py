"""Minimiser of many small smooth functions at once within a box, for the hyperparameters of thousands of users.

It is a projected BFGS method: every function has its own inverse Hessian, and all are evaluated together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from models.records.arrays import FloatArray, IntArray

GRADIENT_TOLERANCE = 1e-2
MAX_STEPS = 60
MAX_HALVINGS = 12
LONGEST = 2.0
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must achieve

Evaluate = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]
"""Takes points (k, p) and the numbers (k,) of their functions; returns values (k,) and gradients (k, p)."""


class Minimum(NamedTuple):
    """Minima of t functions: points (t, p), values (t,), and approximate inverse Hessians there, (t, p, p)."""

    point: FloatArray
    value: FloatArray
    inverse: FloatArray


def minimise_in_box(
    evaluate: Evaluate,
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    max_steps: int = MAX_STEPS,
    max_halvings: int = MAX_HALVINGS,
    longest: float = LONGEST,
    settled: float = 0.0,
    inverse: FloatArray | None = None,
) -> Minimum:
    """A local minimum of each of t functions over lower <= x <= upper, (p,), from its start (t, p).

    A function stops where its projected gradient is below `GRADIENT_TOLERANCE`, or where no step lowers it. The
    minimum of one function does not depend on the others.

    max_steps: steps per function; max_halvings: halvings per step; longest: largest change of a coordinate in a step;
    settled: a function also stops after a step that lowers it by less than this share of its value; inverse: (t, p, p)
    initial inverse Hessians, the identity if None.
    Raises ValueError for a box without points and for starts that are not finite.

    >>> def bowl(x, number):
    ...     return ((x - 3.0) ** 2).sum(axis=1), 2.0 * (x - 3.0)
    >>> minimise_in_box(bowl, np.zeros((1, 2)), np.array([-1.0, -1.0]), np.array([5.0, 2.0])).point
    array([[3., 2.]])
    """
    if not np.isfinite(start).all():
        raise ValueError("start must be finite")
    if not np.less_equal(lower, upper).all():
        raise ValueError(f"lower must not exceed upper, found {lower} and {upper}")
    x = np.clip(start, lower, upper)
    n_functions, p = x.shape
    value, gradient = evaluate(x, np.arange(n_functions))
    inverse = np.broadcast_to(np.eye(p) if inverse is None else inverse, (n_functions, p, p)).copy()
    for _ in range(max_steps):
        stuck = ((x <= lower) & (gradient > 0)) | ((x >= upper) & (gradient < 0))
        free = np.where(stuck, 0.0, gradient)
        going = np.flatnonzero(np.abs(free).max(axis=1, initial=0.0) > GRADIENT_TOLERANCE)
        if not len(going):
            break
        step = -np.einsum("tij,tj->ti", inverse[going], free[going])
        step[stuck[going]] = 0.0
        step *= longest / np.maximum(np.abs(step).max(axis=1, keepdims=True), longest)
        new_x, new_value, new_gradient = _backtrack(
            evaluate, x, value, gradient, going, step, (lower, upper), max_halvings
        )
        moved = new_x - x[going]
        _update(inverse, going, moved, new_gradient - gradient[going])
        still = ~moved.any(axis=1) | (value[going] - new_value < settled * np.abs(value[going]))
        x[going], value[going], gradient[going] = new_x, new_value, new_gradient
        gradient[going[still]] = 0.0
    return Minimum(x, value, inverse)


def _backtrack(
    evaluate: Evaluate,
    x: FloatArray,
    value: FloatArray,
    gradient: FloatArray,
    going: IntArray,
    step: FloatArray,
    box: tuple[FloatArray, FloatArray],
    max_halvings: int,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Halve each function's step until the function falls enough; a step that never does so is not taken."""
    new_x, new_value, new_gradient = x[going], value[going], gradient[going]
    length = np.ones(len(going))
    trying = np.arange(len(going))
    for _ in range(max_halvings):
        functions = going[trying]
        trial = np.clip(x[functions] + length[trying, None] * step[trying], *box)
        found, slope = evaluate(trial, functions)
        expected = np.einsum("ti,ti->t", gradient[functions], trial - x[functions])
        lower_enough = found <= value[functions] + SUFFICIENT * np.minimum(expected, 0.0)
        taken = trying[lower_enough]
        new_x[taken], new_value[taken], new_gradient[taken] = (part[lower_enough] for part in (trial, found, slope))
        trying = trying[~lower_enough]
        if not len(trying):
            break
        length[trying] *= 0.5
    return new_x, new_value, new_gradient


def _update(inverse: FloatArray, going: IntArray, s: FloatArray, y: FloatArray) -> None:
    """Update the inverse Hessians (BFGS) where the curvature along the step is positive."""
    curvature = np.einsum("ti,ti->t", s, y)
    use = np.flatnonzero(curvature > 1e-10)
    s, y, curvature = s[use], y[use], curvature[use]
    H = inverse[going[use]]
    Hy = np.einsum("tij,tj->ti", H, y)
    scale = (curvature + np.einsum("ti,ti->t", y, Hy)) / curvature**2
    cross = Hy[:, :, None] * s[:, None, :] / curvature[:, None, None]
    inverse[going[use]] = H + scale[:, None, None] * s[:, :, None] * s[:, None, :] - cross - np.swapaxes(cross, 1, 2)
