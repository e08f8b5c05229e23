"""The benchmark functions: published values, maxima that nothing exceeds, domains and dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from models.benchmarks.functions import FUNCTIONS, VARIABLE_DIMENSION, benchmark_function

PUBLISHED_MAXIMA = {
    "rosenbrock": 0.0,
    "hartmann": 3.32237,
    "branin": -0.397887,
    "levy": 0.0,
    "michalewicz": 4.687658,
    "schwefel": 0.0,
    "holder_table": 19.2085,
    "de_jong_5": -0.998004,
}
"""Minus the minima in the library of Surjanovic and Bingham, to the digits stated there."""
BEST_PLACES = {
    "hartmann": [[0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]],
    "branin": [[-np.pi, 12.275], [np.pi, 2.275], [9.42478, 2.475]],
    "schwefel": [[420.9687] * 5],
    "holder_table": [[a * 8.05502, b * 9.66459] for a in (-1, 1) for b in (-1, 1)],
    "michalewicz": [[2.202906, 1.570796, 1.284992, 1.923058, 1.720470]],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_maximum_is_the_published_one_and_each_maximiser_has_it(name: str) -> None:
    function = benchmark_function(name)
    assert function.maximum == pytest.approx(PUBLISHED_MAXIMA[name], abs=1e-4)
    assert function(function.maximisers) == pytest.approx(np.full(len(function.maximisers), function.maximum))


@pytest.mark.parametrize("name", BEST_PLACES)
def test_the_best_places_are_the_published_ones(name: str) -> None:
    function = benchmark_function(name)
    places = function.lower + (function.upper - function.lower) * function.maximisers
    assert places == pytest.approx(np.array(BEST_PLACES[name]), abs=1e-4)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_point_of_a_million_lies_above_the_maximum(name: str) -> None:
    function = benchmark_function(name)
    rng = np.random.default_rng(1)
    for _ in range(10):
        assert function(rng.random((100_000, function.n_dimensions))).max() <= function.maximum


@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_steps_from_a_maximiser_never_go_up(name: str) -> None:
    function = benchmark_function(name)
    steps = np.random.default_rng(2).normal(scale=1e-3, size=(5_000, 1, function.n_dimensions))
    near = np.clip(function.maximisers + steps, 0, 1)
    assert function(near).max() <= function.maximum + 1e-9


def test_values_worked_by_hand() -> None:
    # Rosenbrock at (0, 0): 100 (0 - 0)^2 + 1; Levy at (-3, 1): w = (0, 1), sin(0)^2 + 1 (1 + 10 sin(1)^2) + 0.
    assert benchmark_function("rosenbrock", 2)([1 / 3, 1 / 3]) == pytest.approx(-1.0)
    assert benchmark_function("levy")([7 / 20, 11 / 20]) == pytest.approx(-(1 + 10 * np.sin(1) ** 2))
    # Schwefel at the origin: no term but the constant. Hölder table at the origin: sin(0) = 0.
    assert benchmark_function("schwefel", 3)([0.5, 0.5, 0.5]) == pytest.approx(-3 * 418.9829)
    assert benchmark_function("holder_table")([0.5, 0.5]) == pytest.approx(0.0)
    # Branin at (0, 0): 36 + 10 (1 - 1 / 8 pi) + 10. De Jong far from all foxholes: about -1 / 0.002.
    assert benchmark_function("branin")([1 / 3, 0.0]) == pytest.approx(-(56 - 10 / (8 * np.pi)))
    assert benchmark_function("de_jong_5")([0.0, 1.0]) == pytest.approx(-500, abs=0.1)


@pytest.mark.parametrize("name", sorted(VARIABLE_DIMENSION))
@pytest.mark.parametrize("d", [2, 3, 10, 15])
def test_four_functions_exist_in_other_dimensions(name: str, d: int) -> None:
    function = benchmark_function(name, d)
    assert function.n_dimensions == function.maximisers.shape[1] == d
    assert function(np.random.default_rng(3).random((20_000, d))).max() < function.maximum


def test_michalewicz_has_its_published_maxima_in_2_5_and_10_dimensions() -> None:
    found = [benchmark_function("michalewicz", d).maximum for d in (2, 5, 10)]
    assert found == pytest.approx([1.8013, 4.687658, 9.66015], abs=1e-4)


def test_hartmann_has_its_published_maximum_in_three_dimensions() -> None:
    function = benchmark_function("hartmann", 3)
    assert function.maximum == pytest.approx(3.86278, abs=1e-5)
    assert function.maximisers == pytest.approx(np.array([[0.114614, 0.555649, 0.852547]]), abs=1e-6)
    assert function(np.random.default_rng(5).random((100_000, 3))).max() <= function.maximum


def test_points_keep_their_leading_shape() -> None:
    points = np.random.default_rng(4).random((3, 4, 2))
    assert benchmark_function("branin")(points).shape == (3, 4)


@pytest.mark.parametrize(("name", "d"), [("branin", 3), ("levy", 1), ("levy", 16), ("hartmann", 5)])
def test_a_dimension_that_does_not_exist_is_refused(name: str, d: int) -> None:
    with pytest.raises(ValueError, match=f"{name} exists in .* dimensions, not in {d}"):
        benchmark_function(name, d)


def test_an_unknown_name_and_a_point_of_another_dimension_are_refused() -> None:
    with pytest.raises(ValueError, match="no benchmark function 'ackley'; known: rosenbrock"):
        benchmark_function("ackley")
    with pytest.raises(ValueError, match="branin takes points of 2 dimensions"):
        benchmark_function("branin")(np.zeros((5, 3)))


@pytest.mark.parametrize("dimensions", [2.0, 2.5, "x"])
def test_a_number_of_dimensions_is_whole(dimensions: object) -> None:
    with pytest.raises(ValueError, match="n_dimensions must be a whole number"):
        benchmark_function("levy", dimensions)  # type: ignore[arg-type]
