"""What is held out depends on who compared what and on the seed, and on nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from models.numerics.hashing import hash_texts
from models.scores.holdout import hold_out_items, hold_out_pairs

PAIRS = np.array(list(itertools.combinations(range(10), 2)))
COMPARISONS = np.tile(PAIRS, (3, 1))
USERS = np.repeat([0, 1, 2], len(PAIRS))
KEYS = hash_texts(["ann", "bo", "cy"])


def test_a_fifth_of_45_pairs_are_nine_for_every_user() -> None:
    test = hold_out_pairs(COMPARISONS, USERS, KEYS, share=0.2, seed=1)
    assert np.bincount(USERS[test]).tolist() == [9, 9, 9]


def test_holding_out_two_items_of_ten_tests_the_17_pairs_that_meet_them() -> None:
    test = hold_out_items(COMPARISONS, USERS, KEYS, share=0.2, seed=1)
    for user in range(3):
        mine = np.equal(USERS, user)
        unseen = set(COMPARISONS[mine].ravel()) - set(COMPARISONS[mine & ~test].ravel())
        assert len(unseen) == 2
        assert test[mine].sum() == 17


@pytest.mark.parametrize("hold_out", [hold_out_pairs, hold_out_items])
def test_neither_the_order_of_rows_nor_winners_nor_other_users_matter(hold_out) -> None:
    test = hold_out(COMPARISONS, USERS, KEYS, share=0.2, seed=1)
    shuffled = np.random.default_rng(0).permutation(len(USERS))
    again = hold_out(COMPARISONS[shuffled][:, ::-1], USERS[shuffled], KEYS, share=0.2, seed=1)
    assert (again == test[shuffled]).all()
    mine = USERS == 2
    alone = hold_out(COMPARISONS[mine], np.zeros(mine.sum(), dtype=int), KEYS[2:], share=0.2, seed=1)
    assert (alone == test[mine]).all()


@pytest.mark.parametrize("hold_out", [hold_out_pairs, hold_out_items])
def test_users_and_seeds_get_different_splits(hold_out) -> None:
    test = hold_out(COMPARISONS, USERS, KEYS, share=0.2, seed=1)
    assert (test[USERS == 0] != test[USERS == 1]).any()
    assert (test != hold_out(COMPARISONS, USERS, KEYS, share=0.2, seed=2)).any()
