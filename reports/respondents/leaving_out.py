"""The section on the worth of each feature: trees fitted without it, as a table and in words."""

from __future__ import annotations

import pandas as pd

from models.records.studies.respondent_results import (
    LEAVES,
    LEFT_OUT,
    LEFT_OUT_INTERVALS,
    LOWER,
    REMOVED,
    TEST_ACCURACY,
    TEST_DELTA,
    TRAIN_DELTA,
    UPPER,
    VERDICT,
)
from reports.page.blocks import Column, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import fixed, points, share, spaced

_COLUMNS = (REMOVED, TRAIN_DELTA, TEST_DELTA, TEST_ACCURACY, LEAVES)
_INTERVALS = (REMOVED, LOWER, UPPER, VERDICT)


def leaving_out_section(run: FinishedRun, *, who: str = "user") -> Section:
    """A table of what leaving each feature out does to the accuracy of the trees, the most useful feature first.

    Raises NotARunError if a table of it is missing or malformed.
    """
    changes = run.table(LEFT_OUT, _COLUMNS)[list(_COLUMNS)]
    found = run.table(LEFT_OUT_INTERVALS, _INTERVALS).merge(changes, on=REMOVED, how="left")
    rows = [
        Row(
            [
                spaced(row[REMOVED]),
                points(row[TRAIN_DELTA] / 100),
                points(row[TEST_DELTA] / 100),
                f"{fixed(row[LOWER], 1)} to {fixed(row[UPPER], 1)}",
                share(row[TEST_ACCURACY]),
                fixed(row[LEAVES], 1),
            ]
        )
        for _, row in found.iterrows()
    ]
    table = Table(
        f"Leaving one feature out: what it does to the accuracy of a {who}’s tree, in points.",
        [
            Column("left out", "left"),
            Column("training", group="Change in accuracy"),
            Column("held out", group="Change in accuracy"),
            Column("95% interval", group="Change in accuracy"),
            Column("held out", group="Without it"),
            Column("leaves", group="Without it"),
        ],
        rows,
        note=f"Straddlers discarded. The same choices are held out each time; the interval is that of a mean of paired "
        f"differences over {who}s.",
    )
    return Section("What each feature is worth", [Prose([_words(found)]), table])


def _words(found: pd.DataFrame) -> str:
    most, better = found.iloc[0], found[found[VERDICT] == "better"]
    says = (
        f"The trees lose most without {spaced(most[REMOVED])}: {points(most[TEST_DELTA] / 100)} points of held-out "
        f"accuracy."
        if most[VERDICT] == "worse"
        else "No single feature is clearly missed when it is left out: the others carry what it says."
    )
    if len(better):
        names = ", ".join(spaced(name) for name in better[REMOVED])
        says += f" Without {names} they predict held-out choices clearly better: splits on it fit noise."
    return says
