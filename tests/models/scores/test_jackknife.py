"""Intervals over patients: a pair shares two of them, and an interval over pairs would be far too narrow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from models.records.arrays import FloatArray
from models.scores.jackknife import difference_in_sds, mean_over_patients, over_patients

Draw = Callable[[np.random.Generator, int], FloatArray]

PAIRS = np.array([[a, b] for a in range(30) for b in range(a)])


def test_a_mean_over_pairs_covers_the_truth_as_often_as_it_says_and_one_over_pairs_does_not():
    """Each patient has a quality of its own, which all of its pairs share."""
    rng, covered, over_pairs = np.random.default_rng(0), [], []
    for _ in range(200):
        quality = rng.normal(size=30)
        values = quality[PAIRS].sum(axis=1) + rng.normal(size=len(PAIRS))
        found = mean_over_patients(values, PAIRS, 30)
        covered.append(found.lower <= 0 <= found.upper)
        over_pairs.append(abs(values.mean()) <= 1.96 * values.std() / len(values) ** 0.5)
    assert 0.90 <= np.mean(covered) <= 0.99
    assert np.mean(over_pairs) < 0.6


def test_the_interval_is_that_of_leaving_each_patient_out_by_hand():
    pairs, values = np.array([[0, 1], [0, 2], [1, 2]]), np.array([1.0, 0.0, 0.5])
    found = mean_over_patients(values, pairs, 3)
    # without 0: 0.5; without 1: 0; without 2: 1. Variance 2/3 * (0 + 1/4 + 1/4) = 1/3, t with 2 degrees 4.3027
    assert found.upper == pytest.approx(0.5 + 4.3027 / 3**0.5, rel=1e-4)
    assert found.over == "other patients"


def test_where_somebody_cannot_be_left_out_no_interval_is_known():
    star = np.array([[0, 1], [0, 2], [0, 3]])
    found = over_patients(lambda counts: float(counts.sum()), star, 4)
    assert (found.estimate, found.lower, found.outcome) == (3.0, None, "unknown")
    assert mean_over_patients(np.array([1.0]), np.array([[0, 1]]), 2).outcome == "unknown"


def test_where_leaving_patients_out_changes_nothing_no_interval_is_known():
    found = mean_over_patients(np.zeros(len(PAIRS)), PAIRS, 30)
    assert (found.estimate, found.lower, found.upper, found.outcome) == (0.0, None, None, "unknown")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda rng, n: rng.normal(1, 1, n), lambda rng, n: rng.normal(0, 1, n)),
        (lambda rng, n: rng.exponential(1, n), lambda rng, n: 0.1 * rng.exponential(1, n)),
        (lambda rng, n: np.where(rng.random(n) < 0.3, 9, rng.exponential(1, n)), lambda rng, n: rng.exponential(1, n)),
    ],
    ids=["normal", "one hardly varies", "stuck in three of ten runs"],
)  # fmt: skip
def test_a_difference_in_standard_deviations_of_20_runs_is_covered(first: Draw, second: Draw) -> None:
    rng = np.random.default_rng(1)
    many, others = first(rng, 500_000), second(rng, 500_000)
    truth = (many - others).mean() / np.sqrt((many.var() + others.var()) / 2)
    covered = 0
    for _ in range(300):
        found = difference_in_sds(first(rng, 20), second(rng, 20), over="other runs")
        assert found.lower is not None
        assert found.upper is not None
        covered += found.lower <= truth <= found.upper
    assert covered >= 0.9 * 300


def test_what_does_not_vary_has_no_difference_in_standard_deviations() -> None:
    nothing = difference_in_sds(np.ones(5), np.zeros(5), over="other runs")
    assert (nothing.estimate, nothing.outcome) == (None, "unknown")
    few = difference_in_sds(np.array([1.0, 2.0]), np.array([0.0, 3.0]), over="other runs")
    assert (few.estimate, few.outcome) == (0.0, "unknown")
