"""Sentences about differences: what they say follows from the interval, and the numbers in them can be checked."""

from __future__ import annotations

import re

import pytest

from models.scores.comparing import Difference
from reports.page.conclusions import compared, leading
from reports.page.wording import decimals_to_tell, share

WHO = "other users"


def numbers(sentence: str) -> list[float]:
    return [float(each.replace("−", "-")) for each in re.findall(r"−?\d+\.\d+", sentence)]


def told(estimate: float, lower: float | None, upper: float | None) -> str:
    return compared("the one", "the other", Difference(estimate=estimate, lower=lower, upper=upper, over=WHO))


@pytest.mark.parametrize(
    ("estimate", "lower", "upper"),
    [(0.1, 0.05, 0.15), (-0.1, -0.15, -0.05), (2e-4, 1e-4, 3e-4), (-2e-4, -3e-4, -1e-4), (0.2, 3e-4, 0.4)],
)
def test_a_decided_sentence_has_no_bound_of_zero_and_runs_the_way_it_says(
    estimate: float, lower: float, upper: float
) -> None:
    sentence = told(estimate, lower, upper)
    size, low, high = (each for each in numbers(sentence.replace("95%", "")))
    assert ("higher" in sentence) == (estimate > 0)
    assert 0 < low <= size <= high


@pytest.mark.parametrize(("lower", "upper"), [(-0.054, 2e-4), (-2e-4, 0.03)])
def test_an_undecided_sentence_shows_on_which_side_of_zero_each_bound_is(lower: float, upper: float) -> None:
    sentence = told((lower + upper) / 2, lower, upper)
    _, low, high = numbers(sentence)
    assert low < 0 < high
    assert "show no difference" in sentence
    assert "the first minus the second is" in sentence


def test_what_is_the_same_is_not_said_to_lack_an_interval() -> None:
    assert told(0.0, None, None) == "The one and the other have the same accuracy in these data."
    assert "cannot be told: no calibrated interval" in told(0.1, None, None)


def test_the_highest_of_some_is_not_called_the_highest_of_all() -> None:
    assert leading(["the GPM"], among="the models of this study").startswith("Of the models of this study, the GPM")


@pytest.mark.parametrize("value", [0.99984, 0.00016, 0.9996])
def test_a_share_that_is_not_one_or_zero_does_not_read_as_one_or_zero(value: float) -> None:
    assert 0 < float(share(value)) < 1
    assert (share(1.0), share(0.0), share(0.25)) == ("1.000", "0.000", "0.250")
    assert decimals_to_tell(0.25, 3) == 3
