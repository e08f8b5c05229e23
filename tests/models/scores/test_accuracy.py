"""The three accuracies by hand, at the edge of a tie, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from models.scores.accuracy import TIE_TOLERANCE, accuracies


def test_a_tie_is_half_right_strictly_wrong_and_not_decided() -> None:
    found = accuracies([2.0, -1.0, 0.0, 0.0])
    assert [part[0] for part in found] == [0.5, 0.25, 0.5]


def test_differences_within_the_solvers_precision_are_ties_and_larger_ones_are_not() -> None:
    edge = np.array([0.9, -0.9, 1.1, -1.1]) * TIE_TOLERANCE
    assert [part[0] for part in accuracies(edge)] == [0.5, 0.25, 0.5]
    assert [part[0] for part in accuracies(edge[:2])] == [0.5, 0.0, 0.0]
    assert [part[0] for part in accuracies(edge[2:])] == [0.5, 0.5, 1.0]


def test_each_group_has_its_own_and_an_empty_one_has_none() -> None:
    found = accuracies([1.0, -1.0, 1.0], [0, 2, 0], 3)
    np.testing.assert_array_equal(found.accuracy, [1.0, np.nan, 0.0])
    np.testing.assert_array_equal(found.strict, [1.0, np.nan, 0.0])
    np.testing.assert_array_equal(found.decided, [1.0, np.nan, 1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, np.nan],), "difference must be numbers"),
        (([[1.0]],), "difference must be numbers"),
        (([1.0, 2.0], [0.0, 0.9], 2), r"group must be integers \(2,\), found float64"),
        (([1.0, 2.0], [0, 2], 2), "group: 1 rows outside 0..1"),
        (([1.0], None, 0), "'n_groups' parameter of accuracies must be an int in the range"),
    ],
)
def test_numbers_that_are_none_and_groups_that_do_not_exist_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        accuracies(*arguments)
