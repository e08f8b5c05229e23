"""Counts of matches against counting one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.numerics.match_counts import count_matches


def test_matches_are_counted_by_hand():
    comparisons = np.array([[2, 0], [0, 2], [2, 0], [1, 2], [0, 1], [2, 0]])
    found = count_matches(comparisons, 4, np.array([0, 0, 0, 0, 1, 1]), 3)
    assert list(zip(found.context, found.first, found.second, found.wins, found.losses, strict=True)) == [
        (0, 0, 2, 1, 2), (0, 1, 2, 1, 0), (1, 0, 1, 1, 0), (1, 0, 2, 0, 1),
    ]  # fmt: skip
    assert found.played.tolist() == [3, 1, 1, 1]
    assert np.allclose(found.item_shares, np.array([5, 2, 5, 0]) / 12)
    assert np.allclose(found.context_shares, [4 / 6, 2 / 6, 0])
    assert found.in_context(1) == slice(2, 4)
    assert found.in_context(2) == slice(4, 4)


@given(st.integers(2, 6), st.integers(1, 40), st.integers(0, 999))
def test_counts_add_up_to_the_comparisons_in_any_order(n_items: int, n: int, seed: int):
    rng = np.random.default_rng(seed)
    winners = rng.integers(n_items, size=n)
    comparisons = np.stack([winners, (winners + rng.integers(1, n_items, size=n)) % n_items], axis=1)
    context = rng.integers(3, size=n)
    found = count_matches(comparisons, n_items, context, 3)
    assert (found.first < found.second).all()
    assert found.played.sum() == n
    for at in range(len(found.first)):
        here = context == found.context[at]
        first_won = (comparisons[here] == [found.first[at], found.second[at]]).all(axis=1).sum()
        second_won = (comparisons[here] == [found.second[at], found.first[at]]).all(axis=1).sum()
        assert (found.wins[at], found.losses[at]) == (first_won, second_won)
    assert np.allclose(found.item_shares, np.bincount(comparisons.ravel(), minlength=n_items) / (2 * n))
    assert np.allclose(found.context_shares, np.bincount(context, minlength=3) / n)
    order = rng.permutation(n)
    again = count_matches(comparisons[order], n_items, context[order], 3)
    assert np.array_equal(again.wins, found.wins)
    assert np.array_equal(again.losses, found.losses)
