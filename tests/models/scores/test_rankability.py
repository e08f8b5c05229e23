"""SpecR and triads: known tournaments by hand, limits, and the published value for the chameleons."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from models.scores.rankability import (
    Rankability,
    dominance,
    mean_rankability,
    rankability,
    spec_r,
    spec_r_interval,
    triads,
)
from tasks.tables.encode import encode

PAPER_SCISSORS_STONE = np.array([[0, 1], [1, 2], [2, 0]])


def ranking(n: int) -> np.ndarray:
    return np.array(list(combinations(range(n), 2)))


def test_a_complete_ranking_is_rankable():
    assert spec_r(dominance(ranking(9), 9)) == pytest.approx(1.0)


def test_paper_scissors_stone_by_hand():
    # L = I - P has the eigenvalues 0 and 3/2 +- i sqrt(3)/2, at distance 1 from {2, 1, 0}; the out-degrees are all 1.
    assert spec_r(dominance(PAPER_SCISSORS_STONE, 3)) == pytest.approx(1 - (1 + 1) / 4)


def test_eigenvalues_and_out_degrees_each_have_half_a_say():
    # A circle of five, each beating the two ahead: all out-degrees are 2, at distance 2 from {4, ..., 0}; L = 2 I - P,
    # and of the eigenvalues w + w^2 of P, w^5 = 1, the nearest to the ends of the ranking decide.
    n, ahead = 5, (1, 2)
    circle = np.array([[at, (at + step) % n] for at in range(n) for step in ahead])
    w = np.exp(2j * np.pi * np.arange(n) / n)
    spectrum, ranking_ = 2 - w - w**2, np.arange(n)
    gap = np.abs(spectrum[:, None] - ranking_)
    of_eigenvalues = max(gap.min(axis=0).max(), gap.min(axis=1).max())
    assert of_eigenvalues < 1.8
    assert spec_r(dominance(circle, n)) == pytest.approx(1 - (of_eigenvalues + 2) / (2 * (n - 1)))


def test_nobody_met_is_as_far_from_a_ranking_as_can_be():
    assert spec_r(dominance(np.zeros((0, 2), dtype=int), 5)) == 0.0


def test_who_did_better_dominates_and_evens_do_not():
    beats = dominance(np.array([[0, 1], [0, 1], [1, 0], [1, 2], [2, 1]]), 3)
    assert np.array_equal(beats.toarray(), [[0, 1, 0], [0, 0, 0], [0, 0, 0]])


@given(st.integers(3, 8), st.integers(0, 999))
def test_triads_are_those_found_one_by_one(n: int, seed: int):
    rng = np.random.default_rng(seed)
    comparisons = ranking(n)[rng.random(n * (n - 1) // 2) < 0.8]
    flipped = np.where(rng.random((len(comparisons), 1)) < 0.5, comparisons, comparisons[:, ::-1])
    beats = dominance(flipped, n).toarray()
    met = beats + beats.T
    complete = [t for t in combinations(range(n), 3) if all(met[a, b] for a, b in combinations(t, 2))]
    cyclic = [t for t in complete if set(beats[np.ix_(t, t)].sum(axis=1)) == {1}]
    assert triads(dominance(flipped, n)) == (len(complete), len(cyclic))


def test_a_ranking_has_no_cycle_and_coins_have_a_quarter():
    assert triads(dominance(ranking(20), 20)).share == 0.0
    pairs = ranking(150)
    toss = np.random.default_rng(0).random((len(pairs), 1)) < 0.5
    assert triads(dominance(np.where(toss, pairs, pairs[:, ::-1]), 150)).share == pytest.approx(0.25, abs=0.01)


def test_the_mean_over_groups_scores_each_group_among_its_own_items():
    comparisons = np.vstack([ranking(4), PAPER_SCISSORS_STONE + 4])
    found = mean_rankability(comparisons, 7, np.repeat([0, 2], [6, 3]), resamples=50, seed=0)
    assert found.spec_r == pytest.approx((1.0 + 0.5) / 2)
    assert 0 < found.sd < 0.25


def test_one_item_cannot_be_ranked():
    with pytest.raises(ValueError, match="nothing to rank among 1 items"):
        spec_r(dominance(np.zeros((0, 2), dtype=int), 1))


@pytest.mark.skipif("PREFSTUDY_RAW" not in os.environ, reason="PREFSTUDY_RAW names no folder with the real data")
def test_the_chameleons_are_as_rankable_as_published():
    source = adapter("chameleon")
    [table] = build(source, locate(source, Path(os.environ["PREFSTUDY_RAW"]), allow_unpinned=False))
    encoded = encode(table)
    found = rankability(encoded.comparisons, len(encoded.items), resamples=200, seed=0)
    assert found.spec_r == pytest.approx(0.24, abs=0.0051)  # pref-shap, Table 3
    assert 0 < found.sd < 0.05


@pytest.mark.parametrize("wrong", [[[-1, 0]], [[0, 3]], [[0.0, 1.0]], [[1, 1]]])
def test_comparisons_that_are_no_rows_of_the_items_have_no_rankability(wrong: list) -> None:
    for score in (
        lambda: dominance(np.array(wrong), 3),
        lambda: rankability(np.array(wrong), 3, resamples=2, seed=0),
        lambda: mean_rankability(np.array(wrong), 3, np.array([0]), resamples=2, seed=0),
    ):
        with pytest.raises(ValueError, match="comparisons"):
            score()


def test_too_few_resamples_other_groups_no_comparisons_and_levels_that_are_none_are_refused() -> None:
    pairs = np.array([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match="The 'resamples' parameter of rankability"):
        rankability(pairs, 3, resamples=1, seed=0)
    with pytest.raises(ValueError, match="The 'resamples' parameter of mean_rankability"):
        mean_rankability(pairs, 3, np.array([0, 0]), resamples=1, seed=0)
    for group in (np.array([0]), np.array([0.0, 1.0]), np.array([0, -1])):
        with pytest.raises(ValueError, match="group"):
            mean_rankability(pairs, 3, group, resamples=2, seed=0)
    with pytest.raises(ValueError, match="no comparisons"):
        mean_rankability(pairs[:0], 3, np.zeros(0, dtype=int), resamples=2, seed=0)
    for level in (0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="The 'level' parameter of spec_r_interval"):
            spec_r_interval(Rankability(0.5, 0.1), level=level)
