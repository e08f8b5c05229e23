"""The table printed after a run: one number for each model, beside the published numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter
from rich.console import Group, RenderableType

from flows.cli.console import table
from models.benchmarks.functions import FUNCTIONS
from models.records.results import MetricRow
from models.records.run_record import RunRecord
from models.records.studies.benchmark_results import FINAL_REGRET

HEADLINES = ("auc", "accuracy")
"""Metrics that can summarise a model. The first one that a study has is used."""
NUMBERS = ("Found", "Published")


def shown_run(run_dir: Path, *, published_simulated: bool) -> RenderableType:
    """The table of a finished run, without published numbers if its data is simulated.

    published_simulated: whether the published numbers are of simulated data too, and so can be compared.
    """
    rows = TypeAdapter(tuple[MetricRow, ...]).validate_json((run_dir / "results" / "metrics.json").read_bytes())
    record = RunRecord.model_validate_json((run_dir / "run.json").read_bytes())
    return shown_metrics(rows, comparable=published_simulated or not record.simulated)


def shown_metrics(rows: Sequence[MetricRow], *, comparable: bool) -> RenderableType:
    """The table of each model's headline metric on held-out data, and of all metrics with a published number.

    No one function summarises a model that searches functions: its final regret on each of them is shown.

    comparable: whether to show the published numbers.
    """
    headlines = _headlines(rows)
    searched = [row for row in rows if row.metric == FINAL_REGRET and row.variant in FUNCTIONS]
    shown = [row for row in rows if row in headlines or row in searched or row.published is not None]
    sources = dict.fromkeys(row.published_source for row in shown if row.published_source)
    compared = bool(sources) and comparable
    lines = table("Model", "Variant", "Metric", "Found", *(["Published"] if compared else []), numbers=NUMBERS)
    for cells in dict.fromkeys(_cells(row)[: len(lines.columns)] for row in shown):
        lines.add_row(*cells)
    return Group(lines, f"\nPublished: {'; '.join(sources)}") if compared else lines


def _headlines(rows: Sequence[MetricRow]) -> list[MetricRow]:
    """The first row of each model with the headline metric on held-out data."""
    tested = [row for row in rows if row.split == "test" and row.at is None]
    headline = next((name for name in HEADLINES if any(row.metric == name for row in tested)), None)
    first: dict[str, MetricRow] = {}
    for row in tested:
        if row.metric == headline:
            first.setdefault(row.model, row)
    return list(first.values())


def _cells(row: MetricRow) -> tuple[str, ...]:
    """The cells of one row, with the names of results/metrics.json and the split before the metric.

    A number of questions says by itself that users were asked.
    """
    split = "" if row.split in {"all", "asked"} else f"{row.split} "
    at = "" if row.at is None else f" at {row.at}"
    model = "" if row.model == "none" else row.model
    return model, row.variant, f"{split}{row.metric}{at}", _number(row.value), _number(row.published)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
