"""Rho-regret and top-1 error: worked by hand, and their extremes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.asking.regret import position_values, rho_regret, top1_error
from models.scores.ranks import competition_ranks

TEN = np.arange(1, 11)


def test_the_values_of_table_8() -> None:
    assert position_values(10) == pytest.approx([1, 2 / 3, 1 / 3, 1 / 7, 2 / 7, 3 / 7, 4 / 7, 5 / 7, 6 / 7, 1])


def test_competition_ranks_are_1224() -> None:
    assert competition_ranks(np.array([3.0, 7.0, 7.0 + 1e-12, 9.0])).tolist() == [4, 2, 2, 1]


def test_the_papers_maximum_three_best_out_three_worst_in() -> None:
    # G.1: (1 + 2/3 + 1/3) + (5/7 + 6/7 + 1) = 6/3 + 18/7.
    predicted = np.array([8, 9, 10, 4, 5, 6, 7, 1, 2, 3])
    assert rho_regret(TEN, predicted) == pytest.approx(6 / 3 + 18 / 7)
    assert round(float(rho_regret(TEN, predicted)), 2) == 4.57


def test_a_regret_worked_by_hand() -> None:
    # The third best falls to fourth place (1/3), the fifth best takes its place (2/7); the order within is free.
    predicted = np.array([2, 1, 4, 5, 3, 6, 7, 8, 9, 10])
    assert rho_regret(TEN, predicted) == pytest.approx(1 / 3 + 2 / 7)


def test_the_top_three_in_one_leaf_is_no_regret_and_all_ten_in_one_leaf_is_four() -> None:
    utility = np.array([1.0, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    assert rho_regret(TEN, competition_ranks(utility)) == 0
    # Nobody leaves the top, seven enter it: 1/7 + ... + 7/7.
    assert rho_regret(TEN, competition_ranks(np.zeros(10))) == pytest.approx(4.0)


def test_seven_tied_above_the_true_top_is_the_greatest_regret() -> None:
    crowded = competition_ranks(np.array([0.0, 0, 0, 1, 1, 1, 1, 1, 1, 1]))
    assert rho_regret(TEN, crowded) == pytest.approx(6.0)


@given(st.permutations(range(1, 11)), st.lists(st.integers(0, 9), min_size=10, max_size=10))
def test_no_regret_exceeds_its_maximum(true: list[int], utility: list[int]) -> None:
    ranks, predicted = np.array(true), competition_ranks(np.array(utility, dtype=float))
    limit = 4 + 4 / 7 if len(set(utility)) == 10 else 6.0
    assert 0 <= rho_regret(ranks, predicted) <= limit + 1e-12


def test_top1_error_counts_items_at_or_above_the_favourite() -> None:
    true = np.array([2, 1, 3])
    assert top1_error(true, np.array([0.0, 1.0, -1.0])) == 0
    assert top1_error(true, np.array([2.0, 1.0, -1.0])) == 1
    assert top1_error(true, np.zeros(3)) == 2


def test_many_users_at_once_are_the_users_one_by_one() -> None:
    rng = np.random.default_rng(0)
    true = np.array([rng.permutation(10) + 1 for _ in range(6)])
    utility = rng.integers(0, 4, (6, 10)).astype(float)
    together = rho_regret(true, competition_ranks(utility))
    assert together.tolist() == [float(rho_regret(t, competition_ranks(u))) for t, u in zip(true, utility, strict=True)]


def test_ties_on_the_last_place_of_the_top_let_all_of_them_in() -> None:
    # Ranks 1, 2, 3, 3, 3 by utility: the true third leaves nothing, the true fourth and fifth enter (1/7 + 2/7).
    predicted = competition_ranks(np.array([5.0, 4, 3, 3, 3, 2, 1, 0, -1, -2]))
    assert predicted[:5].tolist() == [1, 2, 3, 3, 3]
    assert rho_regret(TEN, predicted) == pytest.approx(1 / 7 + 2 / 7)


def test_ties_that_skip_the_last_place_of_the_top_count_as_1224() -> None:
    # Four tie for place two: 1, 2, 2, 2, 2, 6. With ranks counted from below (1, 5, 5, 5, 5) the top would be one item.
    predicted = competition_ranks(np.array([5.0, 4, 4, 4, 4, 2, 1, 0, -1, -2]))
    assert predicted[:6].tolist() == [1, 2, 2, 2, 2, 6]
    assert rho_regret(TEN, predicted) == pytest.approx(1 / 7 + 2 / 7)


def test_the_limits_are_reached_4_57_strictly_and_6_with_ties() -> None:
    strict = max(float(rho_regret(TEN, np.r_[order, 4:8, 1:4])) for order in ([8, 9, 10], [10, 9, 8]))
    assert strict == pytest.approx(4 + 4 / 7)
    crowded = rho_regret(TEN, np.r_[8, 8, 8, np.ones(7, dtype=int)])
    assert crowded == pytest.approx((1 + 2 / 3 + 1 / 3) + sum(range(1, 8)) / 7)


def test_a_favourite_within_the_tolerance_of_another_is_not_found() -> None:
    assert top1_error(np.array([1, 2, 3]), np.array([1.0, 1.0 - 1e-9, 0.0])) == 1
    assert top1_error(np.array([1, 2, 3]), np.array([1.0, 1.0 - 1e-6, 0.0])) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rho_regret(TEN - 1, TEN), r"true_ranks must lie in 1..10, found 1 outside"),
        (lambda: rho_regret(TEN, TEN + 1), r"predicted_ranks must lie in 1..10, found 1 outside"),
        (lambda: rho_regret(TEN / 1.0, TEN), "true_ranks must be integers"),
        (lambda: rho_regret(TEN, TEN[:3]), "true_ranks are of 10 items, predicted_ranks of 3"),
        (lambda: rho_regret(TEN, TEN, top=0), "'top' parameter of position_values must be an int in the range"),
        (lambda: top1_error(TEN, np.full(10, np.nan)), "utility must hold numbers, found 10 NaN"),
        (lambda: top1_error(TEN, np.zeros(9)), "utility must have the shape"),
    ],
)
def test_ranks_that_are_none_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
