"""All claims of both papers, and the results for them in the latest run of each study."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from pydantic import TypeAdapter

import tasks.claims.studies
from models.records.studies.claims import ClaimResult
from reports.page.finished_run import FinishedRun, NotARunError, latest_runs, open_run
from tasks.claims.declared import StudyClaims
from tasks.claims.judging import judge_claim

RESULTS = TypeAdapter(tuple[ClaimResult, ...])


def declared() -> tuple[StudyClaims, ...]:
    """The claims of every module of `tasks/claims/studies`, in the order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(tasks.claims.studies.__path__))
    return tuple(import_module(f"tasks.claims.studies.{name}").CLAIMS for name in names)


def judge_claims(runs: Path) -> tuple[ClaimResult, ...]:
    """The result for each claim, paper by paper and study by study, from the latest run of each in a folder of runs.

    A study without a run, or with one that cannot be read, has claims that were not run.
    """
    latest = latest_runs(runs)
    found = [result for of in declared() for result in _of_study(of, latest)]
    return tuple(sorted(found, key=lambda result: (result.paper, result.study is None)))


def _of_study(of: StudyClaims, latest: dict[str, Path]) -> Iterator[ClaimResult]:
    run = _readable(latest.get(of.study or ""))
    for claim in of.claims:
        try:
            yield judge_claim(claim, of, run)
        except NotARunError:  # a result of an earlier version is no result
            yield judge_claim(claim, of, None)


def _readable(path: Path | None) -> FinishedRun | None:
    try:
        return None if path is None else open_run(path)
    except NotARunError:
        return None
