"""Intervals of means have the level they state, and say the sign only where they leave zero out."""

from __future__ import annotations

import numpy as np
import pytest

from models.scores.intervals import mean_interval


def test_a_95_percent_interval_reaches_as_many_standard_errors_as_students_t_says() -> None:
    lower, upper = mean_interval(np.array([-2.0]), np.array([10.0]), np.array([100]))
    assert lower == pytest.approx([-2.0 - 1.984], abs=1e-3)
    assert upper == pytest.approx([-2.0 + 1.984], abs=1e-3)
    few = mean_interval(np.array([0.0]), np.array([2.0]), np.array([4]), level=0.99)
    assert few.upper == pytest.approx([5.841], abs=1e-3)


def test_a_single_value_has_no_interval() -> None:
    assert np.isnan(mean_interval(np.array([0.5]), np.array([0.0]), np.array([1])).upper).all()


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_that_share_of_intervals_covers_the_true_mean(level: float) -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, (4000, 50))
    interval = mean_interval(values.mean(axis=1), values.std(axis=1, ddof=1), np.full(4000, 50), level=level)
    covered = (interval.lower <= 3.0) & (interval.upper >= 3.0)
    assert covered.mean() == pytest.approx(level, abs=0.025)


def test_the_sign_is_clear_only_where_zero_lies_outside() -> None:
    interval = mean_interval(np.array([-2.0, 2.0, 1.9, np.nan]), np.full(4, 10.0), np.full(4, 100))
    assert interval.signs == ["negative", "positive", "unclear", "unclear"]


def test_a_level_that_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match=r"level = 95: expected a probability"):
        mean_interval(np.zeros(1), np.ones(1), np.ones(1), level=95)


@pytest.mark.parametrize(("sd", "n"), [(1.0, 0), (-1.0, 4)])
def test_a_mean_of_nothing_or_a_negative_spread_has_no_interval(sd: float, n: int) -> None:
    with pytest.raises(ValueError, match="a mean needs one value at least"):
        mean_interval(np.array([1.0]), np.array([sd]), np.array([n]))
