"""Shapley values of games that can be worked out otherwise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.shap import shapley
from models.shap.shapley import PairedValue, exact_values, sampled_values, shapley_values


def game(table: np.ndarray, asked: list[tuple[bool, ...]] | None = None) -> PairedValue:
    """m games of d players by a table (2^d, m) of all their values; coalition S is row sum_j 2^j [j in S]."""
    powers = 2 ** np.arange(int(math.log2(len(table))))

    def value(coalition: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if asked is not None:
            asked.append(tuple(coalition))
        return table[powers @ coalition], table[powers @ ~coalition]

    return value


def by_orders_of_arrival(table: np.ndarray, n_players: int) -> np.ndarray:
    """The mean gain of each player on joining, over all orders in which they can arrive, (m, d)."""
    total = np.zeros((table.shape[1], n_players))
    orders = list(itertools.permutations(range(n_players)))
    for order in orders:
        here = 0
        for player in order:
            total[:, player] += table[here + 2**player] - table[here]
            here += 2**player
    return total / len(orders)


def random_table(n_players: int, games: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(2**n_players, games))


@pytest.mark.parametrize("n_players", [1, 2, 3, 5])
def test_exact_values_are_the_mean_gain_over_all_orders_of_arrival(n_players):
    table = random_table(n_players)
    found = exact_values(game(table), n_players)
    np.testing.assert_allclose(found.values, by_orders_of_arrival(table, n_players), atol=1e-13)
    assert found.standard_error is None
    assert found.coalitions == 2**n_players


def test_a_coalition_is_asked_once_and_together_with_its_complement():
    asked: list[tuple[bool, ...]] = []
    exact_values(game(random_table(4), asked), 4)
    both = {side for coalition in asked for side in (coalition, tuple(not member for member in coalition))}
    assert len(asked) == 8
    assert len(both) == 16


@settings(max_examples=30, deadline=None)
@given(n_players=st.integers(3, 7), seed=st.integers(0, 10**6))
def test_values_sum_to_what_all_players_gain_over_nobody_whether_exact_or_sampled(n_players, seed):
    table = random_table(n_players, seed=seed)
    for found in (
        exact_values(game(table), n_players),
        sampled_values(game(table), n_players, n_pairs=4 * n_players, seed=seed),
    ):
        np.testing.assert_allclose(found.values.sum(axis=1), table[-1] - table[0], atol=1e-10)
        np.testing.assert_array_equal(found.empty, table[0])
        np.testing.assert_array_equal(found.full, table[-1])


def test_sampling_finds_an_additive_game_exactly_and_is_sure_of_it():
    worth = np.random.default_rng(3).normal(size=(6, 2))
    members = np.array(list(itertools.product([0, 1], repeat=6)))[:, ::-1]
    found = sampled_values(game(members @ worth + 5.0), 6, n_pairs=30, seed=0)
    np.testing.assert_allclose(found.values, worth.T, atol=1e-10)
    np.testing.assert_allclose(found.standard_error, 0.0, atol=1e-9)


def test_sampled_values_scatter_about_the_exact_ones_as_their_standard_errors_say():
    table = random_table(8, games=1)
    exact = exact_values(game(table), 8).values
    drawn = [sampled_values(game(table), 8, n_pairs=400, seed=seed) for seed in range(200)]
    scores = np.array([(one.values - exact) / one.standard_error for one in drawn])
    assert np.abs(scores.mean(axis=0)).max() < 4 / math.sqrt(len(drawn))
    assert scores.std() == pytest.approx(1.0, abs=0.1)
    assert np.mean(np.abs(scores) < 1.96) == pytest.approx(0.95, abs=0.03)


def test_all_coalitions_are_asked_while_they_can_be_afforded_and_a_few_a_player_always():
    table = random_table(6)
    assert shapley_values(game(table), 6, affordable=64, seed=0).standard_error is None
    sampled = shapley_values(game(table), 6, affordable=0, seed=0)
    assert sampled.standard_error is not None
    assert 6 < sampled.coalitions <= 8 * 6 + 2


@pytest.mark.parametrize("n_players", [6, 7])
def test_coalitions_are_sampled_as_soon_as_one_is_not_affordable(n_players):
    table = random_table(n_players)
    exact = shapley_values(game(table), n_players, affordable=2**n_players, seed=0)
    assert (exact.standard_error, exact.coalitions) == (None, 2**n_players)
    sampled = shapley_values(game(table), n_players, affordable=2**n_players - 1, seed=0)
    assert sampled.standard_error is not None


@pytest.mark.parametrize("affordable", [0, 50, 200, 401])
def test_a_sample_is_as_large_as_the_budget_and_of_eight_a_player_at_least(affordable, monkeypatch):
    """Draws are counted before those that repeat are evaluated together."""
    drawn = []

    def draw(n_players: int, n_pairs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        drawn.append(n_pairs)
        return original(n_players, n_pairs, rng)

    original = shapley._draw
    monkeypatch.setattr(shapley, "_draw", draw)
    asked: list[tuple[bool, ...]] = []
    found = shapley_values(game(random_table(10), asked), 10, affordable=affordable, seed=0)
    promised = max(affordable, 80)
    assert 2 * drawn[0] == promised - promised % 2
    assert found.coalitions == 2 * len(asked)
    assert len(set(asked)) == len(asked)
    assert 0.5 * promised < found.coalitions <= promised + 2


@pytest.mark.parametrize("n_pairs", [40, 400])
def test_counts_of_the_coalitions_add_up_to_the_pairs_and_sizes_follow_the_shapley_kernel(n_pairs):
    coalitions, counts = shapley._draw(6, n_pairs, np.random.default_rng(0))
    assert counts.sum() == n_pairs
    assert not coalitions[:, -1].any()
    assert len(np.unique(coalitions, axis=0)) == len(coalitions)
    if n_pairs == 400:
        size = coalitions.sum(axis=1)
        lone = counts[(size == 1) | (size == 5)].sum() / n_pairs
        weight = {s: 1 / (s * (6 - s)) for s in range(1, 6)}
        assert lone == pytest.approx((weight[1] + weight[5]) / sum(weight.values()), abs=0.1)


def test_the_standard_error_of_a_sample_falls_with_the_root_of_its_size_and_grows_with_the_games():
    table = random_table(9, games=2)
    few, many = (sampled_values(game(table), 9, n_pairs=n, seed=0).standard_error for n in (200, 3200))
    assert np.median(few / many) == pytest.approx(4.0, rel=0.2)
    scaled = sampled_values(game(3 * table + 1), 9, n_pairs=200, seed=0).standard_error
    np.testing.assert_allclose(scaled, 3 * few, rtol=1e-9)


def test_too_few_pairs_of_coalitions_are_refused():
    with pytest.raises(ValueError, match="cannot sample 3 pairs of coalitions of 5 players"):
        sampled_values(game(random_table(5)), 5, n_pairs=3, seed=0)


@pytest.mark.parametrize(("players", "affordable"), [(0, 8.0), (-1, 8.0), (2.0, 8.0), (3, np.nan), (3, -1.0)])
def test_games_without_players_and_budgets_that_are_none_are_refused(players: int, affordable: float) -> None:
    with pytest.raises(ValueError, match="parameter of shapley_values must be"):
        shapley_values(lambda coalition: (np.zeros(1), np.zeros(1)), players, affordable=affordable, seed=0)


def test_coalitions_that_do_not_tell_players_apart_are_not_all_that_is_drawn() -> None:
    """With four pairs for four players, about one sample in six is singular."""

    def additive(coalition: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        worth = np.array([1.0, -2.0, 3.0, 0.5])
        return worth[coalition].sum(keepdims=True), worth[~coalition].sum(keepdims=True)

    for seed in range(60):
        values = sampled_values(additive, 4, n_pairs=4, seed=seed).values
        assert np.allclose(values, [[1.0, -2.0, 3.0, 0.5]])
