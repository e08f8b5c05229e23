"""What a run found, in the few lines a terminal has for it: a number a model, and every published one beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter
from rich.console import Group, RenderableType

from flows.cli.console import table
from models.records.results import MetricRow
from models.records.run_record import RunRecord

HEADLINES = ("auc", "accuracy")
"""What tells how good a model is, the first that a study has."""
NUMBERS = ("Found", "Published")


def shown_run(run_dir: Path, *, published_drew: bool) -> RenderableType:
    """The table of a finished run. Nothing is compared with what was published where the data is simulated.

    published_drew: unless the publication drew its data as well.
    """
    rows = TypeAdapter(tuple[MetricRow, ...]).validate_json((run_dir / "results" / "metrics.json").read_bytes())
    record = RunRecord.model_validate_json((run_dir / "run.json").read_bytes())
    return shown_metrics(rows, comparable=published_drew or not record.simulated)


def shown_metrics(rows: Sequence[MetricRow], *, comparable: bool) -> RenderableType:
    """The headline of each model on what was held out, and the rows of which something was published.

    comparable: whether what was published can stand beside what was found.
    """
    headlines = _headlines(rows)
    shown = [row for row in rows if row in headlines or row.published is not None]
    sources = dict.fromkeys(row.published_source for row in shown if row.published_source)
    compared = bool(sources) and comparable
    lines = table("Model", "Variant", "Metric", "Found", *(["Published"] if compared else []), numbers=NUMBERS)
    for cells in dict.fromkeys(_cells(row)[: len(lines.columns)] for row in shown):
        lines.add_row(*cells)
    return Group(lines, f"\nPublished: {'; '.join(sources)}") if compared else lines


def _headlines(rows: Sequence[MetricRow]) -> list[MetricRow]:
    """The first held-out headline number of each model."""
    tested = [row for row in rows if row.split == "test" and row.at is None]
    headline = next((name for name in HEADLINES if any(row.metric == name for row in tested)), None)
    first: dict[str, MetricRow] = {}
    for row in tested:
        if row.metric == headline:
            first.setdefault(row.model, row)
    return list(first.values())


def _cells(row: MetricRow) -> tuple[str, ...]:
    """A row as results/metrics.json names it, the split before the metric."""
    split = "" if row.split == "all" else f"{row.split} "
    at = "" if row.at is None else f" at {row.at}"
    model = "" if row.model == "none" else row.model
    return model, row.variant, f"{split}{row.metric}{at}", _number(row.value), _number(row.published)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
