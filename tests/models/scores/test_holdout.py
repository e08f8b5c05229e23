"""What is held out depends on who compared what and on the seed, and on nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable

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


@pytest.mark.parametrize(("n", "held"), [(1, 0), (2, 0), (3, 1), (7, 1), (8, 2), (12, 2), (13, 3)])
def test_a_user_with_few_pairs_gives_the_nearest_whole_number_of_them(n: int, held: int) -> None:
    for seed in range(5):
        test = hold_out_pairs(PAIRS[:n], np.zeros(n, dtype=int), KEYS[:1], share=0.2, seed=seed)
        assert test.sum() == held


def test_half_a_pair_is_rounded_up_and_a_share_of_all_or_none_is_that() -> None:
    nobody = np.zeros(5, dtype=int)
    held = {share: hold_out_pairs(PAIRS[:5], nobody, KEYS[:1], share=share, seed=0).sum() for share in (0, 0.1, 0.5, 1)}
    assert held == {0: 0, 0.1: 1, 0.5: 3, 1: 5}


def test_each_users_number_follows_from_her_own_comparisons() -> None:
    rows, users = np.r_[0:3, 0:8, 0:20], np.repeat([0, 1, 2], [3, 8, 20])
    test = hold_out_pairs(PAIRS[rows], users, KEYS, share=0.2, seed=3)
    assert np.bincount(users, weights=test).tolist() == [1, 2, 4]


def test_repeats_of_a_pair_stay_together_whatever_the_order_of_rows() -> None:
    repeated = np.repeat(PAIRS[:4], 5, axis=0)
    for seed in range(10):
        shuffled = np.random.default_rng(seed).permutation(len(repeated))
        test = hold_out_pairs(repeated[shuffled], np.zeros(20, dtype=int), KEYS[:1], share=0.3, seed=seed)
        held = np.unique(repeated[shuffled][test], axis=0, return_counts=True)[1]
        assert held.tolist() == [5, 5]  # six are due: one pair whole, and the next whole one that reaches them


@pytest.mark.parametrize("hold_out", [hold_out_pairs, hold_out_items])
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"share": 1.5}, r"The 'share' parameter of hold_out_(pairs|items) must be a float in the range \[0.0, 1.0\]"),
        ({"share": np.nan}, "The 'share' parameter"),
        ({"seed": 0.5}, "The 'seed' parameter"),
        ({"users": USERS + 0.9}, r"users must be integers \(135,\), found float64"),
        ({"users": USERS + 1}, "users: 45 rows outside 0..2"),
        ({"users": USERS[1:]}, r"users must be integers \(135,\), found int64 \(134,\)"),
        ({"comparisons": COMPARISONS + 0.5}, "comparisons must be integers"),
        ({"user_keys": np.array([0.1, 0.2, 0.3])}, r"user_keys must be integers \(n,\), found float64"),
    ],
)
def test_invalid_hold_out_arguments_are_refused_by_name(hold_out, changed: dict, message: str) -> None:
    arguments = {"comparisons": COMPARISONS, "users": USERS, "user_keys": KEYS, "share": 0.2, "seed": 1} | changed
    with pytest.raises(ValueError, match=message):
        hold_out(**arguments)


@pytest.mark.parametrize("hold_out", [hold_out_pairs, hold_out_items])
def test_keys_may_be_a_list_and_items_may_not_overflow(hold_out: Callable[..., np.ndarray]) -> None:
    pairs = np.array([[0, 1], [2, 1]])
    options = {"share": 0.5, "seed": 0}
    expected = hold_out(pairs, [0, 0], np.array([7, 8]), **options)
    assert hold_out(pairs, [0, 0], [7, 8], **options).tolist() == expected.tolist()
    assert hold_out([], [], [], **options).tolist() == []
    with pytest.raises(ValueError, match="items must be numbered below"):
        hold_out([[0, 2**61]], [1], [7, 8], **options)
