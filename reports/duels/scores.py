"""The metrics of a study of duels: of each model, under each protocol, with what was published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from reports.page.finished_run import FinishedRun, NotARunError

SPLIT_FIRST, MIRRORED_FIRST, AS_PUBLISHED = "split_first", "mirrored_first", "as_published"
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
SIMPLEST = ("preference_tree", "upm", "gpm", "c_gpm", "gpm_u", "c_gpm_u")
"""The models from the simplest on."""
LEAKING = "balanced_accuracy"
"""What was published as test AUC."""
_RUNS = ("run", "variant", "model", "auc")


class Score(NamedTuple):
    """A metric of a model: its mean over runs, their standard deviation, how many, and what was published."""

    value: float
    sd: float | None
    n: int
    published: float | None
    source: str | None


class Duel(NamedTuple):
    """What a duel is called: one, and several."""

    one: str
    many: str


DUEL = Duel("duel", "duels")


class Scores:
    """The metrics of a run by variant, model and metric. Raises NotARunError where one is missing or malformed."""

    def __init__(self, run: FinishedRun) -> None:
        self._rows = {(row.variant, row.model, row.metric): row for row in run.metrics}
        self._path = run.path / "results" / "metrics.json"
        self.models = tuple(dict.fromkeys(row.model for row in run.metrics if row.variant == SPLIT_FIRST))
        self.mirrored = tuple(dict.fromkeys(row.model for row in run.metrics if row.variant == MIRRORED_FIRST))
        self.last = AS_PUBLISHED if any(row.variant == AS_PUBLISHED for row in run.metrics) else MIRRORED_FIRST
        self.runs = run.table("runs", _RUNS)
        if not self.models:
            raise NotARunError(f"{self._path} has no metric of the variant {SPLIT_FIRST}. Run the study again.")

    def __call__(self, model: str, metric: str, variant: str = SPLIT_FIRST) -> Score:
        """A metric of a model. Raises NotARunError if it is missing."""
        row = self._rows.get((variant, model, metric))
        if row is None or row.value is None:
            raise NotARunError(f"{self._path} has no {metric} of {model} under {variant}. Run the study again.")
        return Score(row.value, row.sd, row.n or 0, row.published, row.published_source)

    def best(self) -> str:
        """The model of the highest AUC, or the simplest that it exceeds by no more than one standard error."""
        top = max(self.models, key=lambda model: self(model, "auc").value)

        def as_good(model: str) -> bool:
            lead, error = self.advantage(top, model)
            return lead <= (error or 0.0)

        return next(model for model in SIMPLEST if model in self.models and as_good(model))

    def advantage(self, model: str, other: str) -> tuple[float, float | None]:
        """By how much the AUC of a model exceeds another's in the same runs: the mean, and the standard error of it."""
        honest = self.runs[self.runs["variant"] == SPLIT_FIRST]
        auc = honest.pivot_table(index="run", columns="model", values="auc")
        difference = (auc[model] - auc[other]).to_numpy(dtype=np.float64)
        error = float(difference.std(ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else None
        return float(difference.mean()), error
