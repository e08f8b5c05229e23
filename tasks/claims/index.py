"""The index over all runs, with the results for the published claims."""

from __future__ import annotations

from pathlib import Path

from models.records.errors import OutputError
from models.records.studies.claims import CLAIMS
from models.records.whole_file import whole_file
from reports.index.page import render_index
from reports.page.render import Rendered
from tasks.claims.table import RESULTS, judge_claims
from tasks.runs.results import write_records


def write_index(runs: Path) -> Rendered:
    """Write `index.html`, `index.pdf` and `claims.json` over the latest run of each study in a folder.

    Raises NotARunError if no run can be shown, OutputError if the folder cannot be written to.
    """
    results = judge_claims(runs)
    rendered = render_index(runs, claims=results)
    path = runs / f"{CLAIMS}.json"
    try:
        with whole_file(path) as aside:
            write_records(aside, RESULTS, results)
    except OSError as problem:
        raise OutputError(f"{path} cannot be written: {problem.strerror or problem}.") from problem
    return rendered
