"""Differences between two ways of asking the same users, read from a table of results."""

from __future__ import annotations

import pandas as pd

from models.records.studies.asking_results import (
    DIFFERENCE,
    ESTIMATE,
    FOUND_SHARE,
    LOWER,
    OVER,
    RHO_REGRET,
    TOP1_ERROR,
    UPPER,
)
from models.scores.comparing import Difference
from reports.page.conclusions import compared
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.wording import fixed

NOUNS = {RHO_REGRET: "ρ-regret", TOP1_ERROR: "top-1 error", FOUND_SHARE: "share of favourites found"}
"""The measures, as nouns of a sentence."""


class Paired:
    """The rows of a table of differences; each is found by the values of its key columns."""

    def __init__(self, run: FinishedRun, name: str, keys: tuple[str, ...]) -> None:
        """Read `results/<name>.parquet`. Raises NotARunError if it is missing or lacks a column."""
        self._where = f"{run.path}: results/{name}.parquet"
        rows = run.table(name, (*keys, *DIFFERENCE))
        self._rows = dict(zip(zip(*(rows[key] for key in keys), strict=True), rows.to_dict("records"), strict=True))

    def at(self, *key: str | int | bool) -> Difference:
        """The difference with these values of the key columns. Raises NotARunError if the table lacks it."""
        if key not in self._rows:
            raise NotARunError(f"{self._where} has no row {' / '.join(map(str, key))}. Run the study again.")
        row = self._rows[key]
        estimate, lower, upper = (None if pd.isna(row[name]) else float(row[name]) for name in (ESTIMATE, LOWER, UPPER))
        return Difference(estimate=estimate, lower=lower, upper=upper, over=str(row[OVER]))


def compared_by(measure: str, first: str, second: str, difference: Difference) -> str:
    """The sentence that a difference of one measure earns; shares in points, the others as they are."""
    if measure == FOUND_SHARE:
        return compared(first, second, difference, measure=NOUNS[measure])
    return compared(first, second, difference, measure=NOUNS[measure], unit="", scale=1, decimals=2)


def signed(measure: str, difference: Difference) -> str:
    """The difference with its sign, shares in points; a dagger where its interval excludes zero; a dash if unknown."""
    scale, decimals = (100, 1) if measure == FOUND_SHARE else (1, 2)
    if difference.estimate is None:
        return fixed(None, decimals)
    text = fixed(scale * difference.estimate, decimals)
    zero = text == fixed(0.0, decimals)
    mark = "†" if difference.outcome in {"higher", "lower"} else ""
    return f"{'' if zero or text.startswith('−') else '+'}{text}{mark}"
