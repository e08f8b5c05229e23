"""The folder of a finished run, read for a report."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from models.records.card import DATA_CARDS, DataCard
from models.records.errors import PrefstudyError
from models.records.results import MetricRow
from models.records.run_record import FIRST_FORMAT, FORMAT, RunRecord
from models.records.settings_errors import dotted

Document = TypeVar("Document")


class NotARunError(PrefstudyError):
    """A folder holds no run that this version can read, or a result is missing or malformed."""


class Found(NamedTuple):
    """A number that a run found, its spread over n respondents, its interval, and the published number.

    lower, upper: the 95% interval; over: what it is over. All but the value are None where there is none.
    """

    value: float
    sd: float | None
    n: int | None
    published: float | None
    source: str | None
    lower: float | None = None
    upper: float | None = None
    over: str | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval, if one is known."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)


@dataclass(frozen=True)
class FinishedRun:
    """The record and metrics of a run; tables and other results are read on request."""

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

    def document(self, name: str, kind: type[Document]) -> Document:
        """Read `results/<name>.json` as `kind`, a record or a collection of records.

        Raises NotARunError if the file is missing or does not fit.
        """
        try:
            return TypeAdapter(kind).validate_python(self.json(name))
        except ValidationError as problem:
            first = problem.errors()[0]
            path = self.path / "results" / f"{name}.json"
            raise NotARunError(f"{path}, {dotted(first['loc'])}: {first['msg']}. Run the study again.") from problem

    def cards(self) -> dict[str, DataCard]:
        """The data card of each pairwise table the run used, by the table's name.

        Raises NotARunError if `results/data_cards.json` is missing or malformed.
        """
        cards = self.document(DATA_CARDS, tuple[DataCard, ...])
        return {card.manifest.name: card for card in cards}

    def metric(self, metric: str, *, variant: str, split: str) -> Found:
        """The value found for a metric, with the first of its published values; each of these has a row of its own.

        Raises NotARunError unless the metric has rows, all with the same value.
        """
        wanted = (metric, variant, split)
        rows = [row for row in self.metrics if (row.metric, row.variant, row.split) == wanted]
        if len({(row.value, row.sd, row.n) for row in rows}) != 1 or rows[0].value is None:
            path = self.path / "results" / "metrics.json"
            count = "one without a value" if len(rows) == 1 else f"{len(rows)}"
            raise NotARunError(f"{path}: expected one row for {' / '.join(wanted)}, found {count}.")
        row = rows[0]
        return Found(rows[0].value, row.sd, row.n, row.published, row.published_source, row.lower, row.upper, row.over)


def latest_runs(folder: Path) -> dict[str, Path]:
    """The folder of the latest run of each study in a folder of runs: run-ids sort by their start."""
    runs = sorted(path.parent for path in folder.glob("*/*/run.json") if not path.parent.name.startswith("."))
    return {run.parent.name: run for run in runs}


def open_run(path: Path) -> FinishedRun:
    """Open the folder of a run.

    Raises NotARunError if the folder has no `run.json` or `results/metrics.json`, if one of them breaks its schema, or
    if another version of prefstudy wrote them in a format that this version cannot read.
    """
    if not (path / "run.json").is_file():
        raise NotARunError(f"{path} is not the folder of a run: it has no run.json. Name a folder runs/STUDY/RUN-ID.")
    metrics_path = path / "results" / "metrics.json"
    document = _read_json(path / "run.json")
    _check_format(path / "run.json", document)
    try:
        record = RunRecord.model_validate(document)
        metrics = TypeAdapter(tuple[MetricRow, ...]).validate_python(_read_json(metrics_path))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = dotted(first["loc"])
        file = path / "run.json" if problem.title == "RunRecord" else metrics_path
        raise NotARunError(f"{file}, {where}: {first['msg']} ({problem.error_count()} such problems).") from problem
    return FinishedRun(path, record, metrics)


def _check_format(file: Path, document: Any) -> None:
    """Raise NotARunError, with what to do, if `run.json` is of another format than this version's."""
    if not isinstance(document, dict):
        raise NotARunError(f"{file}: expected the record of a run, found none. Run the study again.")
    found = document.get("format", FIRST_FORMAT)
    if type(found) is not int:
        raise NotARunError(f"{file}, format: expected a whole number. Run the study again.")
    if found == FORMAT:
        return
    wrote = f"{file}: {_writer(document)} wrote this run in format {found}; this version reads format {FORMAT}."
    if found > FORMAT:
        raise NotARunError(f"{wrote} Update prefstudy.")
    raise NotARunError(
        f"{wrote} The report in its folder is unchanged. For a new one, run the study again, or use the version that "
        "wrote it."
    )


def _writer(document: Mapping[str, Any]) -> str:
    """Version and commit that a record of any format names; only what looks like them is repeated."""
    packages = document.get("packages")
    version = str(packages.get("prefstudy")) if isinstance(packages, Mapping) else ""
    commit = str(document.get("git_commit"))
    name = f"prefstudy {version}" if re.fullmatch(r"\d[\w.+]{0,30}", version) else "an unknown version of prefstudy"
    return f"{name} (commit {commit[:10]})" if re.fullmatch(r"[0-9a-f]{40}", commit) else name


def _read_json(path: Path) -> Any:
    try:
        return json.loads(_existing(path).read_text("utf-8"))
    except ValueError as problem:
        raise NotARunError(f"{path} is not JSON: {problem}. Run the study again.") from problem


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise NotARunError(
            f"{path} is missing: the run did not finish, or it is a run of another study. Run the study again."
        )
    return path
