"""The last steps of a run: its record, its report, and its artifacts in Prefect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prefect import task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE

from models.records.card import DATA_CARDS
from reports.page.render import render
from tasks.runs.provenance import run_record
from tasks.runs.results import METRICS, write_cards
from tasks.runs.run_folder import RunFolder
from tasks.runs.table import BuiltTable


@task(name="publish", cache_policy=NO_CACHE)
def publish(run: RunFolder, tables: Sequence[BuiltTable]) -> None:
    """Write the data cards, `run.json`, figures and both reports of a run whose results are written."""
    write_cards(run.results / f"{DATA_CARDS}.json", [table.card for table in tables])
    record = run_record(run, [table.manifest for table in tables])
    (run.partial / "run.json").write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    render(run.partial)


@task(name="keep artifacts", cache_policy=NO_CACHE)
def keep_artifacts(run_dir: Path) -> None:
    """Create artifacts of the flow run: the metrics, and a link to the report."""
    study = run_dir.parent.name
    rows = METRICS.validate_json((run_dir / "results" / "metrics.json").read_bytes())
    create_table_artifact(
        [row.model_dump(mode="json", exclude={"study"}) for row in rows],
        key=f"{study}-metrics",
        description=f"Results of run {run_dir.name} of the study {study}, with the published values.",
    )
    create_link_artifact(
        (run_dir / "report.html").resolve().as_uri(),
        link_text="report.html",
        key=f"{study}-report",
        description=f"The report of run {run_dir.name}; the PDF is in the same folder.",
    )
