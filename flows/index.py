"""The index flow: one report over the latest run of each study, scheduled after the nightly runs."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from tasks.claims.publish_index import publish_index
from tasks.runs.study import RunConfig

RUNS: Path = RunConfig.model_fields["out"].default


@flow(name="index")
def index_studies(out: Path = RUNS) -> Path:
    """Write `index.html` and `index.pdf` to the folder of all runs, and return the path of `index.html`."""
    return publish_index(out)
