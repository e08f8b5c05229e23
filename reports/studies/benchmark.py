"""The page of the benchmark study."""

from __future__ import annotations

from reports.page.blocks import Answer, Page
from reports.page.finished_run import FinishedRun
from reports.page.provenance import facts, provenance


def page(run: FinishedRun) -> Page:
    """The report of a run of the benchmark study."""
    return Page(study="Benchmark", title="x", facts=facts(run.record), answer=Answer(["x."]), sections=[provenance(run.record, {})])
