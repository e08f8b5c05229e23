"""The folder of a finished run, as a report reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from models.records.card import DataCard
from models.records.errors import PrefstudyError
from models.records.results import MetricRow
from models.records.run_record import RunRecord
from models.records.settings_errors import dotted

DATA_CARDS = "data_cards"


class NotARunError(PrefstudyError):
    """A folder is not a run's, or a result a report needs is missing or malformed."""


class Found(NamedTuple):
    """A number a run found: its spread over n respondents, and what was published for it, where anything was."""

    value: float
    sd: float | None
    n: int | None
    published: float | None
    source: str | None


@dataclass(frozen=True)
class FinishedRun:
    """A run's record and metrics; its tables and other results are read when asked for."""

    path: Path
    record: RunRecord
    metrics: tuple[MetricRow, ...]

    def table(self, name: str, columns: Sequence[str]) -> pd.DataFrame:
        """The table `results/<name>.parquet`.

        Raises NotARunError if it is missing, unreadable, empty, or lacks one of `columns`.
        """
        path = _existing(self.path / "results" / f"{name}.parquet")
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as problem:
            raise NotARunError(f"{path} cannot be read as Parquet: {problem}. Run the study again.") from problem
        if missing := [column for column in columns if column not in frame.columns]:
            raise NotARunError(f"{path} has no column {', '.join(missing)}; found {', '.join(map(str, frame))}.")
        if frame.empty:
            raise NotARunError(f"{path} has no rows. Run the study again.")
        return frame

    def json(self, name: str) -> Any:
        """The content of `results/<name>.json`. Raises NotARunError if it is missing or not JSON."""
        return _read_json(self.path / "results" / f"{name}.json")

    def cards(self) -> dict[str, DataCard]:
        """The data card of each pairwise table the run used, by the table's name.

        Raises NotARunError if `results/data_cards.json` is missing or malformed.
        """
        path = self.path / "results" / f"{DATA_CARDS}.json"
        try:
            cards = TypeAdapter(tuple[DataCard, ...]).validate_python(self.json(DATA_CARDS))
        except ValidationError as problem:
            first = problem.errors()[0]
            where = dotted(first["loc"])
            raise NotARunError(f"{path}, {where}: {first['msg']}. Run the study again.") from problem
        return {card.manifest.name: card for card in cards}

    def metric(self, metric: str, *, variant: str, split: str) -> Found:
        """What the run found for a metric, beside the first value published for it; a row tells one such value.

        Raises NotARunError unless there is one row of it with a value, or several that found the same.
        """
        wanted = (metric, variant, split)
        rows = [row for row in self.metrics if (row.metric, row.variant, row.split) == wanted]
        if len({(row.value, row.sd, row.n) for row in rows}) != 1 or rows[0].value is None:
            path = self.path / "results" / "metrics.json"
            what = "one without a value" if len(rows) == 1 else f"{len(rows)}"
            raise NotARunError(f"{path}: expected one row for {' / '.join(wanted)}, found {what}.")
        row = rows[0]
        return Found(rows[0].value, row.sd, row.n, row.published, row.published_source)


def open_run(path: Path) -> FinishedRun:
    """Open the folder of a run.

    Raises NotARunError if it is none: no `run.json`, no `results/metrics.json`, or one that breaks its schema.
    """
    if not (path / "run.json").is_file():
        raise NotARunError(f"{path} is not the folder of a run: it has no run.json. Name a folder runs/STUDY/RUN-ID.")
    metrics_path = path / "results" / "metrics.json"
    try:
        record = RunRecord.model_validate(_read_json(path / "run.json"))
        metrics = TypeAdapter(tuple[MetricRow, ...]).validate_python(_read_json(metrics_path))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = dotted(first["loc"])
        file = path / "run.json" if problem.title == "RunRecord" else metrics_path
        raise NotARunError(f"{file}, {where}: {first['msg']} ({problem.error_count()} such problems).") from problem
    return FinishedRun(path, record, metrics)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(_existing(path).read_text("utf-8"))
    except ValueError as problem:
        raise NotARunError(f"{path} is not JSON: {problem}. Run the study again.") from problem


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise NotARunError(f"{path} is missing: the run did not finish, or is of another study. Run the study again.")
    return path
