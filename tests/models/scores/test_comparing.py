"""What the interval of a difference shows."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.scores.comparing import Difference, Outcome, first_place

bounds = st.floats(-1, 1)


def _between(lower: float | None, upper: float | None) -> Difference:
    return Difference(estimate=0.5, lower=lower, upper=upper, over="other users")


@pytest.mark.parametrize(
    ("lower", "upper", "outcome"),
    [
        (0.1, 0.9, "higher"),
        (-0.9, -0.1, "lower"),
        (-0.1, 0.9, "not_shown"),
        (0.0, 0.9, "not_shown"),
        (-0.9, 0.0, "not_shown"),
        (None, None, "unknown"),
        (0.1, None, "unknown"),
        (math.nan, math.nan, "unknown"),
        (0.1, math.inf, "unknown"),
    ],
)
def test_only_an_interval_without_zero_decides(lower: float | None, upper: float | None, outcome: Outcome) -> None:
    assert _between(lower, upper).outcome == outcome


def test_a_missing_number_decides_nothing() -> None:
    assert Difference(estimate=None, lower=0.1, upper=0.2, over="other users").outcome == "unknown"


@given(bounds, bounds)
def test_the_reverse_shows_the_reverse(first: float, second: float) -> None:
    lower, upper = sorted((first, second))
    opposite = {"higher": "lower", "lower": "higher", "not_shown": "not_shown"}
    found = Difference(estimate=(lower + upper) / 2, lower=lower, upper=upper, over="other users")
    assert found.reversed.outcome == opposite[found.outcome]
    assert found.reversed.reversed == found


def test_the_first_place_is_shared_with_all_that_are_not_shown_to_be_exceeded() -> None:
    leads = {"coin": _between(0.1, 0.9), "logit": _between(-0.1, 0.9), "boosting": _between(None, None)}
    assert first_place("tree", leads) == ("tree", "logit", "boosting")
