"""Metrics stand beside every value that was published for them, and beside no other."""

from __future__ import annotations

from models.records.published import Published, beside_published, gap, published_by_split
from models.records.results import MetricRow

TREE = "preference_tree"
ONE = published_by_split({"train": 0.9, "test": 0.6}, model=TREE, variant="kept", source="Table 1")
OTHER = published_by_split({"train": 0.8, "test": 0.5}, model=TREE, source="Table 2")


def row(metric: str = "accuracy", variant: str = "kept", split: str = "test", at: int | None = None) -> MetricRow:
    return MetricRow(study="tea", model=TREE, variant=variant, metric=metric, split=split, at=at, value=0.7, n=3)


def published(found: MetricRow, *known: Published) -> list[tuple[float | None, str | None]]:
    rows = beside_published([found], known)
    assert all(each.model_copy(update={"published": None, "published_source": None}) == found for each in rows)
    return [(each.published, each.published_source) for each in rows]


def test_a_row_for_each_published_value() -> None:
    assert published(row(), *ONE, *OTHER) == [(0.6, "Table 1"), (0.5, "Table 2")]
    assert published(row(split="train"), *ONE) == [(0.9, "Table 1")]


def test_a_value_of_another_variant_is_not_ones_own() -> None:
    assert published(row(variant="discarded"), *ONE) == [(None, None)]
    assert published(row(variant="discarded"), *ONE, *OTHER) == [(0.5, "Table 2")]


def test_a_value_of_another_metric_model_or_question_is_not_ones_own() -> None:
    of_process = row().model_copy(update={"model": "preference_gp"})
    for found in (row("strict_accuracy"), row("leaves"), row(at=9), of_process):
        assert published(found, *ONE, *OTHER) == [(None, None)]
    assert published(row()) == [(None, None)]


def test_a_gap_is_found_minus_published_where_there_are_both() -> None:
    assert gap(0.75, 0.5) == 0.25
    assert gap(None, 0.5) is None
    assert gap(0.75, None) is None
