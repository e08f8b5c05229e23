"""The table of the Gaussian process: its three accuracies, beside the published ones."""

from __future__ import annotations

from models.records.published import gap
from models.records.studies.respondent_results import (
    ACCURACY,
    GP,
    TEST,
)
from reports.page.blocks import Column, Row, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import between, points, share
from reports.respondents.tree_accuracy import MEASURES, SPLITS


def gp_table(run: FinishedRun, *, who: str = "user", published: bool = False) -> Table:
    """How often the Gaussian process of each user is right.

    published: whether published values are shown too. Raises NotARunError if the run has no such metrics.
    """
    headers = ("found", "95% interval", *(("published", "points") if published else ()))
    rows = []
    for metric, name in MEASURES.items():
        cells = [name]
        for split in SPLITS:
            found = run.metric(metric, variant=GP, split=split)
            cells += [share(found.value), between(found.lower, found.upper)]
            if published:
                cells += [share(found.published), points(gap(found.value, found.published))]
        rows.append(Row(cells))
    scored = run.metric(ACCURACY, variant=GP, split=TEST)
    return Table(
        f"The same for one Gaussian process per {who}, a model without a tree: {scored.n or 0:,} {who}s.",
        [Column("", "left"), *(Column(header, group=group) for group in SPLITS.values() for header in headers)],
        rows,
        note=f"Intervals are over other {who}s, as above. RBF kernel with one lengthscale per feature; "
        "hyperparameters maximise the evidence." + (f" Published: {scored.source}." if published else ""),
    )
