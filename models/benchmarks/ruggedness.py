"""How rugged a benchmark function is (dt-pbo F.2 and Table 3)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.benchmarks.functions import BenchmarkFunction
from models.records.arrays import FloatArray

STEPS = (0.005, 0.01, 0.02)
"""Step sizes in the unit cube. The paper averages over several steps and does not state them."""
_BATCH = 20_000
_POINTS: dict[str, list[Any]] = {"n_points": [Interval(Integral, 2, None, closed="left")]}


class Ruggedness(NamedTuple):
    """Mean and 95th percentile of the absolute directional second difference, and the standard error of the mean."""

    mean: float
    p95: float
    error: float


def ruggedness(
    function: BenchmarkFunction, *, n_points: int = 100_000, steps: tuple[float, ...] = STEPS, seed: int = 0
) -> Ruggedness:
    """The normalised directional second differences of a function (dt-pbo F.2, Table 3).

    With f standardised to variance 1 over the unit cube, x uniform and v a random unit vector, the measure is
    |f(x + h v) - 2 f(x) + f(x - h v)| / h^2, over all steps h. Points are drawn where x + h v and x - h v lie in the
    cube whatever the direction. The paper leaves open the steps, the number of points, and what happens at the border.
    Raises ValueError for steps that are not between 0 and 1/2, or fewer than two points.

    >>> from models.benchmarks.functions import benchmark_function
    >>> smooth, rough = (ruggedness(benchmark_function(name), n_points=2_000) for name in ("hartmann", "de_jong_5"))
    >>> smooth.mean < 20 < 500 < rough.mean
    True
    """
    validate_parameter_constraints(_POINTS, {"n_points": n_points}, "ruggedness")
    if not len(steps) or not all(0 < step < 0.5 for step in steps):
        raise ValueError(f"steps must lie between 0 and 1/2, found {steps}")
    rng = np.random.default_rng(seed)
    d = function.n_dimensions
    scale = function(rng.random((n_points, d))).std()
    found = np.concatenate([
        np.abs(_second_differences(function, step, min(_BATCH, n_points - start), rng)) / scale
        for step in steps
        for start in range(0, n_points, _BATCH)
    ])  # fmt: skip
    error = found.std(ddof=1) / np.sqrt(len(found))
    return Ruggedness(float(found.mean()), float(np.quantile(found, 0.95)), float(error))


def _second_differences(function: BenchmarkFunction, step: float, n: int, rng: np.random.Generator) -> FloatArray:
    points = step + (1 - 2 * step) * rng.random((n, function.n_dimensions))
    direction = rng.normal(size=points.shape)
    move = step * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return np.asarray((function(points + move) - 2 * function(points) + function(points - move)) / step**2)
