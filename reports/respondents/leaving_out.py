"""The section on the worth of each feature: trees fitted without it, as a table and in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from models.records.studies.respondent_results import (
    ESTIMATE,
    LEAVES,
    LEFT_OUT,
    LEFT_OUT_INTERVALS,
    LOWER,
    POSSIBLE,
    REMOVED,
    TEST_ACCURACY,
    TRAIN_DELTA,
    UPPER,
)
from models.scores.comparing import Difference, Outcome
from reports.page.blocks import Column, Prose, Row, Section, Table
from reports.page.conclusions import without_each
from reports.page.finished_run import FinishedRun
from reports.page.wording import MISSING, fixed, listed, points, share, spaced

_COLUMNS = (REMOVED, TRAIN_DELTA, TEST_ACCURACY, LEAVES, POSSIBLE)
_INTERVALS = (REMOVED, ESTIMATE, LOWER, UPPER)
_CHANGE = "Change in accuracy"


def leaving_out_section(run: FinishedRun, *, who: str = "user") -> Section:
    """A table of what leaving each feature out does to the accuracy of the trees, the most useful feature first.

    Raises NotARunError if a table of it is missing or malformed.
    """
    changes = run.table(LEFT_OUT, _COLUMNS)[list(_COLUMNS)]
    found = run.table(LEFT_OUT_INTERVALS, _INTERVALS).merge(changes, on=REMOVED, how="left")
    features: list[dict[Hashable, Any]] = found.to_dict("records")
    differences = {row[REMOVED]: _difference(row, who) for row in features if row[POSSIBLE]}
    never = [spaced(row[REMOVED]) for row in features if not row[POSSIBLE]]
    table = Table(
        f"Leaving one feature out: what it does to the accuracy of a {who}’s tree, in points.",
        [
            Column("left out", "left"),
            Column("could ask"),
            *(Column(header, group=_CHANGE) for header in ("training", "held out", "95% interval")),
            *(Column(header, group="Without it") for header in ("held out", "leaves")),
        ],
        [_row(row, differences.get(row[REMOVED])) for row in features],
        note=f"Could ask: share of the {who}s’ trees that could ask about the feature. Straddlers discarded. The same "
        f"choices are held out each time; the interval is that of a mean of paired differences, over other {who}s. Of "
        "twenty features that change nothing, about one has an interval without zero by chance.",
    )
    return Section("What each feature is worth", [Prose([_words(differences), *_never_asked(never)]), table])


def _row(row: Mapping[Hashable, Any], difference: Difference | None) -> Row:
    could = share(row[POSSIBLE])
    if difference is None or difference.estimate is None:
        return Row([spaced(row[REMOVED]), could, *(MISSING for _ in range(5))])
    interval = (
        MISSING
        if difference.lower is None or difference.upper is None
        else f"{fixed(difference.lower, 1)} to {fixed(difference.upper, 1)}"
    )
    changes = points(row[TRAIN_DELTA] / 100), points(difference.estimate / 100), interval
    return Row([spaced(row[REMOVED]), could, *changes, share(row[TEST_ACCURACY]), fixed(row[LEAVES], 1)])


def _difference(row: Mapping[Hashable, Any], who: str) -> Difference:
    estimate, lower, upper = (None if pd.isna(row[name]) else float(row[name]) for name in _INTERVALS[1:])
    return Difference(estimate=estimate, lower=lower, upper=upper, over=f"other {who}s")


def _words(differences: Mapping[str, Difference]) -> str:
    outcomes: dict[Outcome, list[tuple[str, float]]] = {}
    for name, difference in differences.items():
        outcomes.setdefault(difference.outcome, []).append((spaced(name), difference.estimate or 0.0))
    return without_each(outcomes)


def _never_asked(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [
        f"No tree could ask about {listed(names)}: with these settings a question sorts at most three categories of an "
        "attribute, and there were more at every question. What the attribute is worth is therefore not known; "
        "the setting encoding = categorical lets trees ask about it."
    ]
