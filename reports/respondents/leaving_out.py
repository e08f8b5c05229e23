"""What each feature is worth to a tree: the table and the words of trees fitted without it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports.page.blocks import Column, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import fixed, points, share, spaced

_COLUMNS = (
    "removed",
    "train_delta",
    "train_delta_sd",
    "test_delta",
    "test_delta_sd",
    "test_accuracy",
    "leaves",
    "users",
)
CLEAR = 1.96
"""Standard errors from zero at which a change is called clear: a 95% interval that leaves zero out."""


def leaving_out_section(run: FinishedRun, *, who: str = "user") -> Section:
    """A table of what leaving each feature out does to the accuracy of the trees, the most useful feature first.

    Raises NotARunError where `leaving_out.parquet` is missing or malformed.
    """
    found = run.table("leaving_out", _COLUMNS).sort_values("test_delta", kind="stable")
    error = found["test_delta_sd"] / np.sqrt(found["users"])
    rows = [
        Row(
            [
                spaced(row["removed"]),
                points(row["train_delta"] / 100),
                points(row["test_delta"] / 100),
                f"{fixed(row['test_delta'] - CLEAR * se, 1)} to {fixed(row['test_delta'] + CLEAR * se, 1)}",
                share(row["test_accuracy"]),
                fixed(row["leaves"], 1),
            ]
        )
        for (_, row), se in zip(found.iterrows(), error, strict=True)
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
    return Section("What each feature is worth", [Prose([_words(found, error)]), table])


def _words(found: pd.DataFrame, error: pd.Series) -> str:
    most = found.iloc[0]
    harmful = found[(found["test_delta"] - CLEAR * error) > 0]
    says = (
        f"The trees lose most without {spaced(most['removed'])}: {points(most['test_delta'] / 100)} points of held-out "
        f"accuracy."
        if most["test_delta"] + CLEAR * error.iloc[0] < 0
        else "No single feature is clearly missed when it is left out: what it tells, the others tell too."
    )
    if len(harmful):
        names = ", ".join(spaced(name) for name in harmful["removed"])
        says += f" Without {names} they predict held-out choices clearly better: the split it offers fits noise."
    return says
