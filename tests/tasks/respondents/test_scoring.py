"""Metrics stand beside every value that was published for them, and beside no other."""

from __future__ import annotations

from models.records.results import MetricRow
from tasks.respondents.scoring import POOLED, Published, beside_published

ONE = Published(accuracy={"train": 0.9, "test": 0.6}, source="Table 1", variant="kept")
OTHER = Published(accuracy={"train": 0.8, "test": 0.5}, source="Table 2")


def row(metric: str = "accuracy", variant: str = "kept", split: str = "test") -> MetricRow:
    return MetricRow(study="tea", model="preference_tree", variant=variant, metric=metric, split=split, value=0.7, n=3)


def told(found: MetricRow, *published: Published) -> list[tuple[float | None, str | None]]:
    rows = beside_published(found, published)
    assert all(told.model_copy(update={"published": None, "published_source": None}) == found for told in rows)
    return [(told.published, told.published_source) for told in rows]


def test_a_row_for_each_published_value() -> None:
    assert told(row(), ONE, OTHER) == [(0.6, "Table 1"), (0.5, "Table 2")]
    assert told(row(split="train"), ONE) == [(0.9, "Table 1")]


def test_a_value_of_another_variant_is_not_ones_own() -> None:
    assert told(row(variant="discarded"), ONE) == [(None, None)]
    assert told(row(variant="discarded"), ONE, OTHER) == [(0.5, "Table 2")]


def test_nothing_was_published_of_other_metrics_or_of_one_tree_for_all() -> None:
    for found in (row("strict_accuracy"), row("leaves"), row(variant=POOLED), row()):
        assert told(found, *((ONE, OTHER) if found != row() else ())) == [(None, None)]
