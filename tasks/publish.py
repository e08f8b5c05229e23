"""The last steps of a run: its record, its report, and what Prefect shows of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from prefect import task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from pydantic import TypeAdapter

from models.records import Manifest, MetricRow
from reports.render import render
from tasks.provenance import run_record
from tasks.run_folder import RunFolder

METRICS = TypeAdapter(tuple[MetricRow, ...])


def write_metrics(results: Path, rows: Sequence[MetricRow]) -> None:
    """Write `metrics.json`, in the order given."""
    (results / "metrics.json").write_bytes(METRICS.dump_json(tuple(rows), indent=1) + b"\n")


def write_json(path: Path, document: Any) -> None:
    """Write a document; the same document always gives the same bytes. Raises ValueError for NaN or infinity."""
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table of results as Parquet; the same table always gives the same bytes."""
    pq.write_table(table.replace_schema_metadata(None), path, compression="zstd")


@task(name="publish", cache_policy=NO_CACHE)
def publish(run: RunFolder, data: Sequence[Manifest]) -> None:
    """Complete a run whose results are written: `run.json`, figures, `report.html` and `report.pdf`."""
    record = run_record(run, data)
    (run.partial / "run.json").write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    render(run.partial)


@task(name="show", cache_policy=NO_CACHE)
def show(run_dir: Path) -> Path:
    """Keep a finished run's metrics and a link to its report as artifacts of the flow run. Returns the run folder."""
    study = run_dir.parent.name
    rows = METRICS.validate_json((run_dir / "results" / "metrics.json").read_bytes())
    create_table_artifact(
        [row.model_dump(mode="json", exclude={"study"}) for row in rows],
        key=f"{study}-metrics",
        description=f"What run {run_dir.name} of the study {study} found, beside what was published.",
    )
    create_link_artifact(
        (run_dir / "report.html").resolve().as_uri(),
        link_text="report.html",
        key=f"{study}-report",
        description=f"The report of run {run_dir.name}; the PDF lies beside it.",
    )
    return run_dir
