"""Ruggedness against the published table, and against functions of known curvature."""

from __future__ import annotations

import numpy as np
import pytest

from models.benchmarks.functions import FUNCTIONS, BenchmarkFunction, benchmark_function
from models.benchmarks.ruggedness import ruggedness

TABLE_3 = {
    "de_jong_5": 1162.28,
    "holder_table": 703.40,
    "michalewicz": 488.89,
    "levy": 259.45,
    "schwefel": 230.98,
    "branin": 24.45,
    "rosenbrock": 11.37,
    "hartmann": 7.76,
}
"""dt-pbo, Table 3: mean ruggedness, from the most rugged function on."""


def test_the_order_of_the_eight_is_the_published_one_and_the_numbers_are_near() -> None:
    found = {name: ruggedness(benchmark_function(name)) for name in FUNCTIONS}
    assert sorted(found, key=lambda name: -found[name].mean) == list(TABLE_3)
    for name, published in TABLE_3.items():
        assert found[name].mean == pytest.approx(published, rel=0.25), name
        assert found[name].p95 > found[name].mean > 5 * found[name].error


def test_a_parabola_in_one_dimension_has_the_same_curvature_everywhere() -> None:
    # f = x^2: the second difference is exactly 2, the standard deviation of f over [0, 1] is sqrt(1/5 - 1/9).
    parabola = BenchmarkFunction("parabola", "x^2", lambda x: x[..., 0] ** 2, np.zeros(1), np.ones(1), np.ones((1, 1)))
    found = ruggedness(parabola, n_points=50_000, steps=(0.01,))
    assert found.mean == pytest.approx(2 / np.sqrt(1 / 5 - 1 / 9), rel=0.01)
    assert found.p95 == pytest.approx(found.mean, rel=1e-6)


def test_the_same_seed_gives_the_same_numbers() -> None:
    branin = benchmark_function("branin")
    assert ruggedness(branin, n_points=1_000, seed=3) == ruggedness(branin, n_points=1_000, seed=3)
    assert ruggedness(branin, n_points=1_000, seed=3) != ruggedness(branin, n_points=1_000, seed=4)


def test_steps_outside_the_cube_are_refused() -> None:
    with pytest.raises(ValueError, match="steps must lie between 0 and 1/2"):
        ruggedness(benchmark_function("branin"), steps=(0.6,))


@pytest.mark.parametrize("n_points", [0, 1, -1, 2.5])
def test_fewer_than_two_points_are_refused(n_points: int) -> None:
    with pytest.raises(ValueError, match="The 'n_points' parameter of ruggedness"):
        ruggedness(benchmark_function("branin"), n_points=n_points)
