"""Data cards: every row is counted, missing is missing, and only what was presented has a side."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_adapters.catalogue import adapter
from data_adapters.source.adapter import Adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.card import BINS, _spread, card
from models.records.card import DataCard, FeatureCard, LevelCount


@pytest.fixture
def toy_card(toy: Adapter, tmp_path: Path) -> DataCard:
    simulate(toy, tmp_path / "raw", seed=1)
    [table] = build(toy, locate(toy, tmp_path / "raw"))
    return card(table)


def feature(found: DataCard, name: str) -> FeatureCard:
    return next(feature for feature in found.features if feature.feature.name == name)


def levels(found: DataCard, name: str) -> dict[str, int]:
    return {level.label: level.rows for level in feature(found, name).levels}


def test_every_feature_of_every_part_has_its_line(toy_card: DataCard):
    lines = [(line.part, line.feature.name) for line in toy_card.features]
    assert lines == [
        ("items", "age"),
        ("items", "size"),
        ("items", "tame"),
        ("items", "colour"),
        ("items", "diet"),
        ("comparisons", "walkover"),
        ("comparisons", "left_rank"),
        ("comparisons", "right_rank"),
        ("contexts", "surface"),
    ]


def test_missing_values_are_counted_and_left_out_of_the_spread(toy_card: DataCard):
    age = feature(toy_card, "age")
    assert (age.rows, age.missing, age.present) == (3, 1, 2)
    assert age.spread is not None
    assert (age.spread.minimum, age.spread.median, age.spread.maximum) == (1, 2, 3)
    assert age.spread.bins == (1, *(0,) * (BINS - 2), 1)


def test_levels_are_counted_in_their_order_with_those_nobody_has(toy_card: DataCard):
    assert levels(toy_card, "size") == {"small": 1, "large": 1}
    assert levels(toy_card, "tame") == {"wild": 1, "tame": 1}
    assert levels(toy_card, "diet") == {"meat": 1, "leaves": 1}
    assert levels(toy_card, "walkover") == {"played": 2, "walkover": 1}
    assert feature(toy_card, "diet").missing == 1


def test_a_level_no_row_has_is_there_with_nothing(simulated_sushi: Path):
    sushi = adapter("sushi")
    table, _ = build(sushi, locate(sushi, simulated_sushi))
    meat = "meat other than fish"
    assert LevelCount(label=meat, rows=0) in feature(card(table), "minor_group").levels
    ages = feature(card(table), "age")
    assert sum(level.rows for level in ages.levels) == ages.present == 60


def test_the_side_of_what_was_presented_has_wilsons_interval(toy_card: DataCard):
    bias = toy_card.side_bias
    assert bias is not None
    assert (bias.comparisons, bias.left_wins, bias.share) == (3, 3, 1.0)
    z2 = 1.959963984540054**2
    assert bias.low == pytest.approx(3 / (3 + z2))
    assert bias.high == pytest.approx(1)


def test_a_side_that_was_drawn_has_no_bias_to_show(simulated_sushi: Path):
    sushi = adapter("sushi")
    assert all(card(table).side_bias is None for table in build(sushi, locate(sushi, simulated_sushi)))


def test_a_feature_without_any_value_has_no_spread(toy: Adapter, tmp_path: Path):
    simulate(toy, tmp_path / "raw", seed=1)
    [table] = build(toy, locate(toy, tmp_path / "raw"))
    none = table.items.set_column(1, table.items.schema.field("age"), pa.nulls(3, pa.float64()))
    age = feature(card(dataclasses.replace(table, items=none)), "age")
    assert (age.missing, age.spread) == (3, None)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_the_bins_hold_every_value_once_and_the_quartiles_are_in_order(values: list[float]):
    spread = _spread(np.array(values))
    assert sum(spread.bins) == len(values)
    quartiles = [spread.minimum, spread.lower_quartile, spread.median, spread.upper_quartile, spread.maximum]
    assert quartiles == sorted(quartiles)


@pytest.mark.parametrize("values", [[4.0], [2.0, 2.0], [0.0, 5e-324]])
def test_values_that_are_as_good_as_one_share_one_bin(values: list[float]):
    assert _spread(np.array(values)).bins == (len(values),)


def test_a_card_has_no_text_and_no_id_of_a_patient(tmp_path: Path):
    pmr = adapter("pmr")
    simulate(pmr, tmp_path / "raw", seed=1)
    for table in build(pmr, locate(pmr, tmp_path / "raw")):
        found = card(table).model_dump_json()
        for row in table.items.to_pylist():
            assert row["item_id"] not in found
            assert all(line not in found for line in (row["message"], *row["problems"].split("\n")))


def test_a_card_reads_back_as_it_was(toy_card: DataCard):
    assert DataCard.model_validate_json(toy_card.model_dump_json()) == toy_card
