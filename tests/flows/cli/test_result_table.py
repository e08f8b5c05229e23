"""The table after a run: one held-out number per model, and published numbers beside those found."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from flows.cli.result_table import shown_metrics
from models.records.results import MetricRow


def row(model: str, variant: str, metric: str, value: float, **more: Any) -> MetricRow:
    return MetricRow(
        **{"study": "tea", "split": "test", **more}, model=model, variant=variant, metric=metric, value=value
    )


def printed(*rows: MetricRow, comparable: bool = True) -> list[list[str]]:
    console = Console(file=io.StringIO(), width=80)
    console.print(shown_metrics(rows, comparable=comparable))
    assert isinstance(console.file, io.StringIO)
    return [line.split() for line in console.file.getvalue().splitlines()]


DUELS = (
    row("gpm", "split_first", "auc", 0.95),
    row("gpm", "split_first", "accuracy", 0.9),
    row("preference_tree", "split_first", "auc", 0.85),
    row("gpm", "mirrored_first", "auc", 0.98),
    row("gpm", "mirrored_first", "balanced_accuracy", 0.87, published=0.86, published_source="Table 3"),
    row("none", "all_duels", "spec_r", 0.3, split="all", published=0.2, published_source="Table 3"),
)


def test_each_model_has_its_held_out_auc_and_what_was_published_stands_beside_it() -> None:
    assert printed(*DUELS) == [
        ["Model", "Variant", "Metric", "Found", "Published"],
        ["gpm", "split_first", "test", "auc", "0.9500"],
        ["preference_tree", "split_first", "test", "auc", "0.8500"],
        ["gpm", "mirrored_first", "test", "balanced_accuracy", "0.8700", "0.8600"],
        ["all_duels", "spec_r", "0.3000", "0.2000"],
        [],
        ["Published:", "Table", "3"],
    ]


def test_nothing_is_compared_with_what_was_published_where_it_is_not_comparable() -> None:
    lines = printed(*DUELS, comparable=False)
    assert lines[0][-1] == "Found"
    assert ["gpm", "mirrored_first", "test", "balanced_accuracy", "0.8700"] in lines


def test_a_study_without_auc_and_without_a_publication_still_says_how_good_its_models_are() -> None:
    assert printed(
        row("preference_tree", "all_features", "accuracy", 1.0, split="train"),
        row("preference_tree", "all_features", "accuracy", 0.92),
        row("preference_tree", "readable", "accuracy", 0.93),
        row("llm_judge", "both_orders", "accuracy", 0.95),
        row("llm_judge", "both_orders", "found_share", 0.5, at=10),
    ) == [
        ["Model", "Variant", "Metric", "Found"],
        ["preference_tree", "all_features", "test", "accuracy", "0.9200"],
        ["llm_judge", "both_orders", "test", "accuracy", "0.9500"],
    ]
