"""Records of runs made up in code."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from models.records.manifest import Licence, Manifest
from models.records.run_record import RunRecord
from models.shap.findings import Finding, Verdict


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
    holds = lower > finding.threshold if finding.side == "above" else upper < finding.threshold
    return Verdict(finding=finding, value=value, lower=lower, upper=upper, duels=100, holds=holds)
