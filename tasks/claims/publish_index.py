"""The step of the index flow: the index is written, and Prefect keeps a link to it."""

from __future__ import annotations

from pathlib import Path

from prefect import task
from prefect.artifacts import create_link_artifact
from prefect.cache_policies import NO_CACHE

from tasks.claims.index import write_index


@task(name="publish index", cache_policy=NO_CACHE)
def publish_index(out: Path) -> Path:
    """Write the index of the latest runs in `out`, and create an artifact that links to it."""
    index = write_index(out).html
    create_link_artifact(
        index.resolve().as_uri(),
        link_text=index.name,
        key="index",
        description="Results of the latest run of each study; the PDF is in the same folder.",
    )
    return index
