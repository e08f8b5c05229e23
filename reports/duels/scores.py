"""The metrics of a study of duels, and the comparisons in its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from models.records.duel_results import (
    BASELINES,
    COMPARISONS,
    MIRRORED_FIRST,
    SPLIT_FIRST,
    UNSEEN_ITEMS,
)
from models.scores.duel_comparisons import Comparisons
from reports.page.finished_run import FinishedRun, NotARunError

MODELS: Mapping[str, str] = {
    "gpm": "preference model (GPM)",
    "gpm_u": "preference model with a utility (GPM+U)",
    "c_gpm": "preference model with context (C-GPM)",
    "c_gpm_u": "preference model with context and utility (C-GPM+U)",
    "upm": "utility model (UPM)",
    "preference_tree": "preference tree",
    "coin": "coin",
    "difference_logit": "logistic regression on differences of features",
    "by_name": "Bradley-Terry model by name",
    "by_name_and_context": "Bradley-Terry model by name and context",
    "boosting": "gradient boosting",
}
NAMED: Mapping[str, str] = {
    **{model: f"the {name}" for model, name in MODELS.items()},
    **{model: MODELS[model] for model in ("difference_logit", "boosting")},
    "coin": "a coin",
}
"""The models as in a sentence."""
SHORT: Mapping[str, str] = {
    "gpm": "GPM", "gpm_u": "GPM+U", "c_gpm": "C-GPM", "c_gpm_u": "C-GPM+U", "upm": "UPM", "preference_tree": "tree",
    "coin": "coin", "difference_logit": "logit", "by_name": "by name", "by_name_and_context": "by name, context",
    "boosting": "boosting",
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

    models, baselines: those scored on duels that were split first; unseen: those scored on items never seen.
    mirrored: those also scored under the published protocols.
    """

    def __init__(self, run: FinishedRun) -> None:
        self._rows = {(row.variant, row.model, row.metric): row for row in run.metrics}
        self._path = run.path / "results" / "metrics.json"
        by_variant = {
            variant: tuple(dict.fromkeys(row.model for row in run.metrics if row.variant == variant))
            for variant in (SPLIT_FIRST, MIRRORED_FIRST, UNSEEN_ITEMS)
        }
        self.models = tuple(model for model in by_variant[SPLIT_FIRST] if model not in BASELINES)
        self.baselines = tuple(model for model in by_variant[SPLIT_FIRST] if model in BASELINES)
        self.unseen = by_variant[UNSEEN_ITEMS]
        self.mirrored = by_variant[MIRRORED_FIRST]
        if not self.models:
            raise NotARunError(f"{self._path} has no metric of the variant {SPLIT_FIRST}. Run the study again.")
        self.comparisons = run.document(COMPARISONS, Comparisons)

    def __call__(self, model: str, metric: str, variant: str = SPLIT_FIRST) -> Score:
        """A metric of a model. Raises NotARunError if it is missing."""
        row = self._rows.get((variant, model, metric))
        if row is None or row.value is None:
            raise NotARunError(f"{self._path} has no {metric} of {model} under {variant}. Run the study again.")
        return Score(row.value, row.sd, row.n or 0, row.published, row.published_source)
