"""The last steps of a run: its record, its report, and what Prefect keeps of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prefect import task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE

from reports.page.index import render_index
from reports.page.render import render
from tasks.runs.provenance import run_record
from tasks.runs.results import METRICS, write_cards
from tasks.runs.run_folder import RunFolder
from tasks.runs.table import BuiltTable


@task(name="publish", cache_policy=NO_CACHE)
def publish(run: RunFolder, tables: Sequence[BuiltTable]) -> None:
    """Complete a run whose results are written: `run.json`, its tables' data cards, figures, and both reports."""
    write_cards(run.results / "data_cards.json", [table.card for table in tables])
    record = run_record(run, [table.manifest for table in tables])
    (run.partial / "run.json").write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    render(run.partial)


@task(name="keep artifacts", cache_policy=NO_CACHE)
def keep_artifacts(run_dir: Path) -> None:
    """Keep the metrics of a finished run and a link to its report as artifacts of the flow run."""
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


@task(name="publish index", cache_policy=NO_CACHE)
def publish_index(out: Path) -> Path:
    """Write the report over the latest run of each study in `out`, and keep a link to it as an artifact."""
    index = render_index(out).html
    create_link_artifact(
        index.resolve().as_uri(),
        link_text=index.name,
        key="index",
        description="What the latest run of each study found; the PDF lies beside it.",
    )
    return index
