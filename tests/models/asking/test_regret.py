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


def test_top1_error_counts_what_is_at_or_above_the_favourite() -> None:
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
