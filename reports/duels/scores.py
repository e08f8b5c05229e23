"""The metrics of a study of duels, and the comparisons in its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from models.records.duel_results import (
    COMPARISONS,
    MIRRORED_FIRST,
    SPLIT_FIRST,
    Comparisons,
)
from reports.page.finished_run import FinishedRun, NotARunError

MODELS: Mapping[str, str] = {
    "gpm": "preference model (GPM)",
    "gpm_u": "preference model with a utility (GPM+U)",
    "c_gpm": "preference model with context (C-GPM)",
    "c_gpm_u": "preference model with context and utility (C-GPM+U)",
    "upm": "utility model (UPM)",
    "preference_tree": "preference tree",
}
SHORT: Mapping[str, str] = {
    "gpm": "GPM", "gpm_u": "GPM+U", "c_gpm": "C-GPM", "c_gpm_u": "C-GPM+U", "upm": "UPM", "preference_tree": "tree",
}  # fmt: skip


class Score(NamedTuple):
    """A metric of a model: mean and standard deviation over n runs, and the published value."""

    value: float
    sd: float | None
    n: int
    published: float | None
    source: str | None


class Duel(NamedTuple):
    """The word for a duel, singular and plural."""

    one: str
    many: str


DUEL = Duel("duel", "duels")


class Scores:
    """The metrics of a run by variant, model and metric. Raises NotARunError if a result is missing or malformed.

    models: those scored on duels that were split first. mirrored: those also scored under the published protocols.
    """

    def __init__(self, run: FinishedRun) -> None:
        self._rows = {(row.variant, row.model, row.metric): row for row in run.metrics}
        self._path = run.path / "results" / "metrics.json"
        self.models = tuple(dict.fromkeys(row.model for row in run.metrics if row.variant == SPLIT_FIRST))
        self.mirrored = tuple(dict.fromkeys(row.model for row in run.metrics if row.variant == MIRRORED_FIRST))
        if not self.models:
            raise NotARunError(f"{self._path} has no metric of the variant {SPLIT_FIRST}. Run the study again.")
        self.comparisons = run.document(COMPARISONS, Comparisons)

    def __call__(self, model: str, metric: str, variant: str = SPLIT_FIRST) -> Score:
        """A metric of a model. Raises NotARunError if it is missing."""
        row = self._rows.get((variant, model, metric))
        if row is None or row.value is None:
            raise NotARunError(f"{self._path} has no {metric} of {model} under {variant}. Run the study again.")
        return Score(row.value, row.sd, row.n or 0, row.published, row.published_source)
