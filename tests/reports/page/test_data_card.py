"""The data card in a report: one row per feature, missing values, small pictures, and sides only if presented."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from models.records.card import DataCard, LevelCount, SideBias, Spread, missing_in_words, values_in_words
from reports.page.blocks import Picture, italic
from reports.page.data_card import MOST_BARS, draw_bars, feature_table, sides
from reports.page.finished_run import NotARunError, open_run
from reports.page.render import Rendered, render

WriteRun = Callable[..., Path]


@pytest.fixture
def card(write_run: WriteRun) -> DataCard:
    return open_run(write_run()).cards()["sushi"]


def test_every_feature_has_a_line_under_the_heading_of_its_part(card: DataCard) -> None:
    rows = feature_table(card).rows
    assert [row.group for row in rows if row.group] == ["10 items", "400 users"]
    assert [row.cells[0] for row in rows][3:5] == [f"normalised price: {italic('normalised_price')}", "seconds"]
    assert len(rows) == len(card.features)


def test_values_are_said_in_words(card: DataCard) -> None:
    said = {feature.feature.name: values_in_words(feature) for feature in card.features}
    assert said["style"] == "other 80%, maki 20%"
    assert said["minor_group"] == "red meat fish 30%, shrimp or crab 20%, squid or octopus 20%, 3 more"
    assert said["oiliness"] == "0.55 … 3.73, median 2.01 (1.01 … 2.61)"
    assert said["seconds"] == "165 … 877 s, median 277 (231 … 341)"
    assert said["normalised_price"] == "always 1"
    assert said["turned_pro"] == "no value"


def test_a_share_is_never_rounded_to_nothing_or_to_all(card: DataCard) -> None:
    levels = (LevelCount(label="no", rows=9_999), LevelCount(label="yes", rows=1), LevelCount(label="both", rows=0))
    rare = card.features[0].model_copy(update={"rows": 10_000, "levels": levels})
    assert values_in_words(rare) == "no >99%, yes <1%, both 0%"


@pytest.mark.parametrize(
    ("minimum", "maximum", "said"),
    [
        (1952, 2001, "1952 … 2001"),
        (-0.0256, 12345.6, "−0.0256 … 12,346"),
        (0, 0.5, "0 … 0.5"),
        (99.96, 1234.5, "100 … 1234"),
    ],
)
def test_numbers_are_short_and_years_have_no_comma(minimum: float, maximum: float, said: str, card: DataCard) -> None:
    of = dict.fromkeys(("lower_quartile", "median", "upper_quartile"), minimum)
    spread = Spread(minimum=minimum, maximum=maximum, bins=(1,), **of)
    assert values_in_words(card.features[2].model_copy(update={"spread": spread})).startswith(f"{said}, median")


def test_what_is_missing_is_said_and_never_rounded_away(card: DataCard) -> None:
    said = {feature.feature.name: missing_in_words(feature) for feature in card.features}
    assert (said["style"], said["seconds"], said["region_now"], said["turned_pro"]) == ("–", "26.0%", "1.5%", "100.0%")
    assert missing_in_words(card.features[0].model_copy(update={"rows": 100_000, "missing": 1})) == "<0.1%"


def test_a_feature_of_many_levels_draws_as_many_bars_as_fit(card: DataCard) -> None:
    [picture] = [row.cells[2] for row in feature_table(card).rows if str(row.cells[0]).startswith("region now")]
    assert isinstance(picture, Picture)
    assert picture.svg.count("<rect") == MOST_BARS + 1


def test_the_largest_count_has_the_full_height_what_is_rare_is_seen_and_nothing_is_not() -> None:
    svg = draw_bars("x", [1000, 0, 1], alt="").svg
    heights = [float(height) for height in re.findall(r'height="([\d.]+)"/>', svg)]
    assert len(heights) == 2
    assert heights[0] == max(heights) == 13.0
    assert 0.5 < heights[1] < 1


def test_no_value_draws_no_bar() -> None:
    assert draw_bars("x", [], alt="").svg.count("<rect") == 1


def test_sides_are_told_with_their_interval_where_something_was_presented(card: DataCard) -> None:
    assert sides(card) == "drawn by a hash of the comparison"
    presented = card.model_copy(
        update={
            "manifest": card.manifest.model_copy(update={"side": "presented"}),
            "side_bias": SideBias(comparisons=18000, left_wins=8640, share=0.48, low=0.4727, high=0.4873),
        }
    )
    assert sides(presented) == (
        "as presented; the left item was preferred in 48.0% of 18,000 comparisons (95% interval 47.3% to 48.7%)"
    )


def test_the_card_stands_in_the_report_with_what_the_numbers_rest_on(real_report: Rendered) -> None:
    html = real_report.html.read_text("utf-8")
    where = html.index("What the numbers rest on")
    assert where < html.index("Features of Rankings of ten kinds of sushi (sushi).")
    assert html.count('aria-label="bars of ') == 7


@pytest.mark.parametrize("content", ["{}", '[{"features": []}]', "no JSON"])
def test_a_malformed_card_is_refused_by_name(content: str, write_run: WriteRun) -> None:
    folder = write_run()
    (folder / "results" / "data_cards.json").write_text(content)
    with pytest.raises(NotARunError, match=r"data_cards\.json"):
        render(folder)
