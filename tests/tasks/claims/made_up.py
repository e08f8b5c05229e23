"""Records of runs made up in code."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from models.records.manifest import Licence, Manifest
from models.records.run_record import RunRecord
from models.shap.findings import OTHER_MATCHES, Bounds, Finding, Verdict
from reports.page.finished_run import open_run
from tasks.claims.declared import Number
from tasks.claims.judging import judge_claim
from tasks.claims.table import declared


def made_up_manifest(**fields: Any) -> Manifest:
    known: dict[str, Any] = {
        "name": "tea", "title": "Tea", "citation": "Nobody", "licence": Licence(name="none", terms="none"),
        "adapter_version": "1", "simulated": False, "unpinned": False, "side": "random", "raw_files": (),
        "rows_read": {}, "rows": {"items": 3},
    }  # fmt: skip
    return Manifest(**{**known, **fields})


def made_up_record(study: str, **fields: Any) -> RunRecord:
    known: dict[str, Any] = {
        "study": study, "run_id": "20260101T000000Z-00000000", "started": datetime(2026, 1, 1, tzinfo=UTC),
        "config": {}, "seed": 0, "data": (made_up_manifest(),), "git_commit": None, "git_dirty": None, "packages": {},
        "python": "3.11", "machine": {},
    }  # fmt: skip
    return RunRecord(**{**known, **fields})


def made_up_verdict(finding: Finding, value: float, lower: float, upper: float) -> Verdict:
    matches = Bounds(lower=lower, upper=upper, over=OTHER_MATCHES)
    return Verdict(finding=finding, value=value, duels=100, refits=30, n_items=35, matches=matches, items=None)


def unmeasured(run_dir: Path) -> set[str]:
    """Names of the claims of a run's study for which the run has no number, as if its data were not simulated."""
    run = open_run(run_dir)
    real = tuple(manifest.model_copy(update={"simulated": False}) for manifest in run.record.data)
    run = replace(run, record=run.record.model_copy(update={"data": real}))
    [of] = [each for each in declared() if each.study == run.record.study]
    results = [judge_claim(claim, of, run) for claim in of.claims]
    return {result.claim.rpartition("/")[2] for result in results if result.tested and result.found is None}


def unclaimed(run_dir: Path) -> set[tuple[float | None, str | None]]:
    """Published numbers, with their source, that stand in the metrics of a run and are no claim."""
    run = open_run(run_dir)
    numbers = {
        (claim.test.value, claim.source)
        for of in declared()
        if of.study == run.record.study
        for claim in of.claims
        if isinstance(claim.test, Number)
    }
    return {(row.published, row.published_source) for row in run.metrics if row.published is not None} - numbers
