"""The nearest protocol and the effect of each choice, in cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.scores.protocols import Effect, Nearest, effects, nearest_of_each


def effects_of(rows: list[tuple[str, str, float, float]]) -> list[Effect]:
    straddlers, split, train, test = zip(*rows, strict=True)
    return effects(
        {"straddlers": straddlers, "split": split},
        {"straddlers": "discarded", "split": "pair"},
        {"train": np.array(train), "test": np.array(test)},
    )


def test_the_nearest_protocol_is_the_one_whose_larger_difference_is_smallest() -> None:
    train, test = np.array([0.90, 0.97, 0.95]), np.array([0.80, 0.76, 0.70])
    nearest = nearest_of_each(["kept", "kept", "discarded"], train, test, published=(0.98, 0.80))
    assert list(nearest) == ["kept", "discarded"]
    assert (nearest["kept"].row, nearest["kept"].among) == (1, 2)
    assert nearest["kept"].distance == pytest.approx(0.04)
    assert (nearest["discarded"].row, nearest["discarded"].among) == (2, 1)
    assert nearest["discarded"].distance == pytest.approx(0.10)


def test_of_two_equally_near_protocols_the_first_is_taken_and_one_of_unknown_accuracy_never() -> None:
    train, test = np.array([np.nan, 0.8, 0.8]), np.array([0.9, 0.9, 0.9])
    assert nearest_of_each(["a", "a", "a"], train, test, published=(0.8, 0.9)) == {"a": Nearest(1, 3, 0.0)}
    assert nearest_of_each(["a"], train[:1], test[:1], published=(0.8, 0.9)) == {}


def test_half_a_point_off_reproduces_and_a_little_more_does_not() -> None:
    assert Nearest(0, 1, 0.005).reproduces
    assert not Nearest(0, 1, 0.0051).reproduces


def test_an_effect_is_the_mean_over_protocols_that_differ_in_nothing_else() -> None:
    found = effects_of(
        [
            ("discarded", "pair", 0.90, 0.80),
            ("kept", "pair", 0.94, 0.86),
            ("discarded", "item", 0.90, 0.60),
            ("kept", "item", 0.96, 0.70),
        ]
    )
    assert [effect[:3] for effect in found] == [("straddlers", "kept", 2), ("split", "item", 2)]
    assert found[0].change == pytest.approx({"train": 0.05, "test": 0.08})
    assert found[1].change["test"] == pytest.approx(-0.18)


def test_a_protocol_without_a_partner_does_not_count_and_a_level_without_any_has_no_effect() -> None:
    rows = [("discarded", "pair", 0.90, 0.80), ("kept", "pair", 0.94, 0.86), ("kept", "item", 0.2, 0.2)]
    assert [effect[:3] for effect in effects_of(rows)] == [("straddlers", "kept", 1), ("split", "item", 1)]
    assert effects_of(rows[:1]) == []


def test_a_pair_with_an_unknown_measure_does_not_count() -> None:
    rows = [("discarded", "pair", 0.90, 0.80), ("kept", "pair", 0.94, np.nan)]
    assert effects_of(rows) == []
