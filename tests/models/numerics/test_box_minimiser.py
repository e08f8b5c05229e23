"""Many small minimisations in a box: at its bounds, off them, and each as if alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from models.numerics.box_minimiser import minimise_in_box
from models.records.arrays import FloatArray, IntArray


class Bowls:
    """Quadratics 0.5 (x - centre)' A (x - centre), one per row, that count their evaluations."""

    def __init__(self, centres: FloatArray, curvatures: FloatArray) -> None:
        self.centres, self.curvatures, self.asked = centres, curvatures, 0

    def __call__(self, x: FloatArray, number: IntArray) -> tuple[FloatArray, FloatArray]:
        self.asked += len(x)
        away = x - self.centres[number]
        gradient = np.einsum("tij,tj->ti", self.curvatures[number], away)
        return 0.5 * (away * gradient).sum(axis=1), gradient


LOW, HIGH = np.array([-1.0, -1.0]), np.array([1.0, 1.0])


def test_many_functions_are_minimised_each_within_its_box() -> None:
    centre = np.array([[0.5, -0.3], [3.0, 0.2], [-4.0, 9.0]])
    scale = np.array([[1.0, 30.0], [5.0, 0.5], [2.0, 2.0]])

    def bowl(x: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
        away = x - centre[which]
        return 0.5 * (scale[which] * away**2).sum(axis=1), scale[which] * away

    found = minimise_in_box(bowl, np.zeros((3, 2)), np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    assert_allclose(found.point, np.clip(centre, -1, 1), atol=2e-2)


@pytest.mark.parametrize("start", [[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]], ids=str)
def test_with_one_coordinate_at_its_bound_the_others_reach_their_minimum_along_it(start: list[float]) -> None:
    # The free minimum (3, 0) lies outside; on the face x = 1 the slope in y, 0.4 (1 - 3) + y, is zero at y = 0.8.
    curvature = np.array([[1.0, 0.4], [0.4, 1.0]])
    bowls = Bowls(np.array([[3.0, 0.0], [3.0, -2.0], [0.2, 0.1]]), np.tile(curvature, (3, 1, 1)))
    found = minimise_in_box(bowls, np.tile(start, (3, 1)), LOW, HIGH)
    for number in range(3):
        alone = minimize(
            lambda x, number=number: [part[0] for part in bowls(x[None], np.array([number]))],
            np.zeros(2),
            jac=True,
            bounds=[(-1, 1), (-1, 1)],
        )
        assert_allclose(found.point[number], alone.x, atol=2e-2)
        assert found.value[number] == pytest.approx(alone.fun, abs=1e-3)
    assert (found.point[:2, 0] == 1.0).all()
    assert found.point[0, 1] == pytest.approx(0.8, abs=2e-2)


def test_a_start_on_a_bound_is_left_where_the_minimum_lies_inside() -> None:
    bowls = Bowls(np.zeros((2, 2)), np.tile(np.diag([1.0, 4.0]), (2, 1, 1)))
    found = minimise_in_box(bowls, np.array([[1.0, -1.0], [-7.0, 9.0]]), LOW, HIGH)
    assert_allclose(found.point, 0.0, atol=1e-2)


def test_a_function_at_its_bound_with_nothing_to_gain_is_asked_once() -> None:
    bowls = Bowls(np.array([[5.0, 5.0]]), np.eye(2)[None])
    found = minimise_in_box(bowls, np.array([[1.0, 1.0]]), LOW, HIGH)
    assert found.point.tolist() == [[1.0, 1.0]]
    assert bowls.asked == 1


def test_a_start_outside_the_box_is_moved_into_it_even_where_the_function_is_least() -> None:
    bowls = Bowls(np.array([[5.0, -5.0]]), np.eye(2)[None])
    assert minimise_in_box(bowls, np.array([[5.0, -5.0]]), LOW, HIGH).point.tolist() == [[1.0, -1.0]]


def test_a_coordinate_held_at_its_bound_stays_there_whatever_the_inverse_hessian_couples() -> None:
    seen: list[float] = []

    def bowl(x: FloatArray, number: IntArray) -> tuple[FloatArray, FloatArray]:
        seen.extend(x[:, 0])
        away = x - [3.0, 0.0]
        return 0.5 * (away**2).sum(axis=1), away

    coupled = np.array([[[1.0, -0.9], [-0.9, 1.0]]])
    found = minimise_in_box(bowl, np.array([[1.0, -1.0]]), LOW, HIGH, inverse=coupled)
    assert found.point[0].tolist() == pytest.approx([1.0, 0.0], abs=1e-2)
    assert set(seen) == {1.0}


def test_no_step_is_longer_than_the_longest() -> None:
    seen: list[float] = []

    def slope(x: FloatArray, number: IntArray) -> tuple[FloatArray, FloatArray]:
        seen.append(float(x[0, 0]))
        return -100.0 * x[:, 0], np.full_like(x, -100.0)

    minimise_in_box(slope, np.zeros((1, 1)), np.array([0.0]), np.array([10.0]), longest=0.5, max_steps=3)
    assert seen == [0.0, 0.5, 1.0, 1.5]


def test_each_is_minimised_as_if_alone() -> None:
    rng = np.random.default_rng(2)
    roots = rng.normal(size=(6, 2, 2))
    bowls = Bowls(3 * rng.normal(size=(6, 2)), roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(2))
    together = minimise_in_box(bowls, np.zeros((6, 2)), LOW, HIGH).point
    for number in range(6):
        one = Bowls(bowls.centres[[number]], bowls.curvatures[[number]])
        assert_allclose(minimise_in_box(one, np.zeros((1, 2)), LOW, HIGH).point[0], together[number], atol=1e-12)


def test_an_empty_box_and_a_start_that_is_no_number_are_refused() -> None:
    bowls = Bowls(np.zeros((1, 2)), np.eye(2)[None])
    with pytest.raises(ValueError, match="lower must not exceed upper"):
        minimise_in_box(bowls, np.zeros((1, 2)), HIGH, LOW)
    with pytest.raises(ValueError, match="start must be finite"):
        minimise_in_box(bowls, np.full((1, 2), np.nan), LOW, HIGH)
