from __future__ import annotations

import pandas as pd
import pytest

from reports.respondents.protocols import Published, effects, nearest_by


def frame(rows: list[tuple[str, str, float, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["straddlers", "split", "train_accuracy", "test_accuracy"])


def test_the_nearest_protocol_is_that_whose_larger_difference_is_smallest() -> None:
    tried = frame([("keep", "pair", 0.90, 0.80), ("keep", "item", 0.97, 0.76), ("discard", "pair", 0.95, 0.70)])
    nearest = nearest_by("straddlers", tried, Published(0.98, 0.80, "somewhere"))
    assert list(nearest) == ["keep", "discard"]
    assert nearest["keep"].protocol["split"] == "item"
    assert nearest["keep"].among == 2
    assert nearest["keep"].distance == pytest.approx(0.04)
    assert nearest["discard"].distance == pytest.approx(0.10)


def test_an_effect_is_the_mean_over_protocols_that_differ_in_nothing_else() -> None:
    tried = frame(
        [
            ("discard", "pair", 0.90, 0.80),
            ("keep", "pair", 0.94, 0.86),
            ("discard", "item", 0.90, 0.60),
            ("keep", "item", 0.96, 0.70),
        ]
    )
    found = effects(tried, {"straddlers": "discard", "split": "pair"}, ["train_accuracy", "test_accuracy"])
    assert [(effect.choice, effect.level, effect.pairs) for effect in found] == [
        ("straddlers", "keep", 2),
        ("split", "item", 2),
    ]
    assert found[0].change["train_accuracy"] == pytest.approx(0.05)
    assert found[0].change["test_accuracy"] == pytest.approx(0.08)
    assert found[1].change["test_accuracy"] == pytest.approx(-0.18)


def test_a_protocol_without_a_partner_does_not_count_and_a_level_without_any_has_no_effect() -> None:
    tried = frame([("discard", "pair", 0.90, 0.80), ("keep", "pair", 0.94, 0.86), ("keep", "item", 0.2, 0.2)])
    found = effects(tried, {"straddlers": "discard", "split": "pair"}, ["test_accuracy"])
    assert [(effect.choice, effect.pairs) for effect in found] == [("straddlers", 1), ("split", 1)]
    only = effects(tried[:1], {"straddlers": "discard", "split": "pair"}, ["test_accuracy"])
    assert only == []
