"""Advantages of models over one another, and the best one, by values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.scores.advantage import ScoredDuels, auc_advantage, highest_model
from models.scores.discrimination import auc


def test_the_highest_model_is_that_of_the_highest_mean_and_the_first_of_equals():
    scores = {"upm": np.array([0.5, 0.75]), "tree": np.array([0.75, 0.5]), "gpm": np.array([0.25, 0.75])}
    assert highest_model(scores) == "upm"


def scored(rng: np.random.Generator, rows: np.ndarray, mean: float) -> ScoredDuels:
    return ScoredDuels(rows, rng.normal(mean, 1.0, len(rows)))


def test_an_advantage_on_the_same_splits_is_the_mean_difference_with_an_interval_that_more_runs_do_not_shrink():
    rng = np.random.default_rng(0)
    pairs = np.stack([np.arange(200) % 40, (np.arange(200) * 7 + 1) % 40], axis=1)
    folds = np.split(np.arange(200), 5)
    ours, coin = [scored(rng, rows, 1.0) for rows in folds], [ScoredDuels(rows, np.zeros(40)) for rows in folds]
    once = auc_advantage(ours, coin, pairs, trained=160)
    assert once.outcome == "higher"
    assert once.estimate == pytest.approx(np.mean([auc(each.preference) - 0.5 for each in ours]))
    often = auc_advantage(ours * 20, coin * 20, pairs, trained=160)
    assert often.upper - often.lower > 0.8 * (once.upper - once.lower)


def test_duels_of_one_item_are_not_independent():
    """One item in all duels: the interval is far wider than with as many items as duels."""
    rng, rows = np.random.default_rng(1), [np.arange(50), np.arange(50, 100)]
    ours, coin = [scored(rng, each, 0.5) for each in rows], [ScoredDuels(each, np.zeros(50)) for each in rows]
    quality = np.repeat([1.0, -1.0], 50)
    ours = [ScoredDuels(each.rows, each.preference + quality[each.rows]) for each in ours]
    apart = np.arange(200).reshape(100, 2)
    shared = np.stack([np.repeat([0, 1], 50), np.arange(2, 102)], axis=1)
    wide, narrow = (auc_advantage(ours, coin, pairs, trained=1e9) for pairs in (shared, apart))
    assert wide.upper - wide.lower >= narrow.upper - narrow.lower


def test_one_split_shows_no_advantage_and_other_duels_are_no_comparison():
    one = [ScoredDuels(np.arange(5), np.ones(5))]
    pairs = np.arange(10).reshape(5, 2)
    assert auc_advantage(one, [ScoredDuels(np.arange(5), np.zeros(5))], pairs, trained=10).outcome == "unknown"
    with pytest.raises(ValueError, match="the same duels in every run"):
        auc_advantage(one, [ScoredDuels(np.arange(1, 6), np.zeros(5))], pairs, trained=10)
