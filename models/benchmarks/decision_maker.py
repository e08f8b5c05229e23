"""A benchmark function as a decision maker, and how much worse than the best is what it is recommended (dt-pbo 4.1)."""

from __future__ import annotations

import numpy as np

from models.asking.box.loop import BoxCourse
from models.asking.box.oracle import UtilityOracle
from models.benchmarks.functions import BenchmarkFunction
from models.records.arrays import FloatArray

N_PAIRS = 10_000


def utility_scale(function: BenchmarkFunction, *, seed: int = 0) -> float:
    """The median absolute difference in utility of 10,000 random pairs (dt-pbo F.6).

    >>> from models.benchmarks.functions import benchmark_function
    >>> 20 < utility_scale(benchmark_function("branin")) < 60
    True
    """
    points = np.random.default_rng(seed).random((2, N_PAIRS, function.n_dimensions))
    return float(np.median(np.abs(np.subtract(*function(points)))))


def decision_maker(function: BenchmarkFunction, *, noise_ratio: float = 0.0) -> UtilityOracle:
    """Answers by the function's values, with noise of standard deviation r scale(f) / sqrt(2) on each (dt-pbo F.6).

    noise_ratio: r. Raises ValueError for one that is negative or not finite.

    >>> from models.benchmarks.functions import benchmark_function
    >>> branin = benchmark_function("branin")
    >>> decision_maker(branin).noise, decision_maker(branin, noise_ratio=2**0.5).noise == utility_scale(branin)
    (0.0, True)
    """
    noise = noise_ratio / np.sqrt(2) * utility_scale(function) if noise_ratio else noise_ratio
    return UtilityOracle(function, noise=float(noise))


def regret(course: BoxCourse, function: BenchmarkFunction) -> FloatArray:
    """The greatest utility minus that of the recommended point, after each question of each run, (q + 1, t).

    >>> from models.benchmarks.functions import benchmark_function
    >>> branin = benchmark_function("branin")
    >>> points = np.array([[branin.maximisers[0], [0.5, 0.5]]])
    >>> course = BoxCourse(points, np.array([[1], [0]]), np.ones((2, 1, 2), dtype=bool), np.zeros(2))
    >>> regret(course, branin).round(3).tolist()
    [[23.732], [0.0]]
    """
    run = np.arange(course.points.shape[0])
    return np.asarray(function.maximum - function(course.points[run, course.recommended]))
