"""Results of a study of duels: names of models, variants, metrics, files and columns, and what the report claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from models.records.base import Record

# ------------------------------------------------------------------------------------------- models

DuelModel = Literal["gpm", "gpm_u", "c_gpm", "c_gpm_u", "upm", "preference_tree"]
"""gpm_u and c_gpm_u: gpm and c_gpm with a utility of their own beside the general preference."""
KernelModel = Literal["gpm", "c_gpm", "upm"]
"""Models that can be explained."""
CONTEXTUAL: frozenset[DuelModel] = frozenset({"c_gpm", "c_gpm_u"})
PLAIN: Mapping[DuelModel, DuelModel] = {"gpm_u": "gpm", "c_gpm_u": "c_gpm"}
"""The same model without a utility."""

BaselineModel = Literal["coin", "difference_logit", "by_name", "by_name_and_context", "boosting"]
"""Plain models beside ours: a coin, logistic regression on differences of features, Bradley-Terry by name, the same by
name and context, and gradient boosting."""
BASELINES: tuple[BaselineModel, ...] = ("coin", "difference_logit", "by_name", "by_name_and_context", "boosting")
BY_NAME: frozenset[BaselineModel] = frozenset({"by_name", "by_name_and_context"})
"""Models that have nothing to say of items that were not in training."""

# ------------------------------------------------------------------------------------------- variants and metrics

SplitProtocol = Literal["split_first", "mirrored_first", "as_published"]
"""split_first: duels are split as they are. mirrored_first: each duel is doubled with its sides swapped, then all are
split (pref-shap). as_published: the same, of a table that also has the duels that were published without an outcome."""
SPLIT_FIRST: Final = "split_first"
MIRRORED_FIRST: Final = "mirrored_first"
AS_PUBLISHED: Final = "as_published"
PROTOCOLS: tuple[SplitProtocol, ...] = (SPLIT_FIRST, MIRRORED_FIRST)
UNSEEN_ITEMS: Final = "unseen_items"
"""Variant of duels between two items that no model has seen."""
ScoredVariant = SplitProtocol | Literal["unseen_items"]
ALL_DUELS = "all_duels"
"""Variant of metrics of the data itself."""
NO_MODEL = "none"
"""Model of metrics of the data itself."""

AUC, ACCURACY, LOG_LOSS, SPEC_R, CYCLIC_SHARE = "auc", "accuracy", "log_loss", "spec_r", "cyclic_share"
BALANCED_ACCURACY = "balanced_accuracy"
"""The metric that was published as test AUC, after mirroring."""
METRICS = (AUC, ACCURACY, BALANCED_ACCURACY, LOG_LOSS)

# ------------------------------------------------------------------------------------------- files and columns

RUNS = "runs"
CHOSEN_MODELS = "chosen_models"
CHOSEN_BASELINES = "chosen_baselines"
CHOSEN_MEDIANS = "chosen_medians"
COMPARISONS = "comparisons"
RANKABILITY = "rankability"
EXPLANATIONS = "explanations"
EXPLAINED_DUELS = "explained_duels"
EXPLAINED = "explained"
FINDINGS = "findings"
"""Result files, without suffix: tables are `.parquet`, all others `.json`."""

EXPLANATION_COLUMNS = (
    "kind", "title", "model", "of", "duel", "player", "value", "standard_error", "difference",
)  # fmt: skip
EXPLAINED_DUEL_COLUMNS = (
    "kind", "title", "model", "of", "duel", "preference", "explained", "gap", "coalitions",
)  # fmt: skip

# ------------------------------------------------------------------------------------------- comparisons.json

Step = Literal["general_preference", "context", "utility"]
GAINS: Mapping[Step, tuple[tuple[DuelModel, DuelModel], ...]] = {
    "general_preference": (("gpm_u", "upm"), ("gpm", "upm")),
    "context": (("c_gpm_u", "gpm_u"), ("c_gpm", "gpm")),
    "utility": (("c_gpm_u", "c_gpm"), ("gpm_u", "gpm")),
}
"""For each step to a richer model, pairs (richer, plainer): the first pair with both models scored is compared."""


# ------------------------------------------------------------------------------------------- chosen_medians.json

ALL_FEATURES = "all features"
"""Stands for a lengthscale that all features share."""


class MedianSettings(Record):
    """Median over splits of the settings chosen for one model; None or no entry where a model has no such setting."""

    model: DuelModel
    lengthscales: dict[str, float]
    context_lengthscales: dict[str, float]
    penalty: float | None
    utility: float | None
    max_depth: int | None = Field(description="upper median; also None if that is unlimited")


class ChosenMedians(Record):
    """The settings chosen without the test parts, as medians over splits: `chosen_medians.json`."""

    splits: int
    models: tuple[MedianSettings, ...]


# ------------------------------------------------------------------------------------------- rankability.json


class SpecRInterval(Record):
    """SpecR and its interval from the spread of samples: `rankability.json`."""

    spec_r: float
    lower: float
    upper: float
    level: float
    over: str = Field(description="what the interval is over, as a plural")


# ------------------------------------------------------------------------------------------- explained.json


class PlayerSummary(Record):
    """What one player contributes to the explained duels."""

    player: str
    importance: float = Field(description="mean absolute contribution")
    mean: float = Field(description="mean contribution")
    favours: Literal["more", "less"] | None = Field(
        description="whether it favours the one who has more of it or less, on the whole; None for unordered values"
    )


class ExplanationSummary(Record):
    """Summary of the explanations of one kind of duels by one model."""

    kind: str
    title: str
    model: KernelModel
    of: Literal["items", "contexts"]
    duels: int
    players: tuple[PlayerSummary, ...] = Field(description="most important first")
    leading: str = Field(description="most important player other than the rest of the columns taken together")
    leads: bool | None = Field(
        default=None,
        description="whether the interval over other matches among the same items shows that its importance exceeds "
        "that of every other player; None if there are no refits",
    )


class MeanGap(Record):
    """Mean absolute gap between the explained values and a model's own preference, and that preference's mean size."""

    model: KernelModel
    gap: float
    preference: float


class ExplainedSummary(Record):
    """Summary of all explanations of a run: `explained.json`."""

    explanations: tuple[ExplanationSummary, ...]
    coalitions: int = Field(description="largest number of coalitions asked for one explanation")
    standard_error: float | None = Field(description="mean standard error of the sampled values; None if all are exact")
    gaps: tuple[MeanGap, ...] = Field(description="by model, over all its explained duels")
