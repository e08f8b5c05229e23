"""The chameleon study: 106 contests of 35 males, too few for one test set; folds test every contest."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from models.kernels.selection import Tuning
from models.records.duel_results import DuelModel
from tasks.claims.studies.chameleon import PUBLISHED, PUBLISHED_SPEC_R
from tasks.duels.explanation_settings import ExplainConfig
from tasks.duels.published_findings import CHAMELEON
from tasks.duels.study import DuelConfig, study_duels
from tasks.runs.workers import one_thread_a_core

MODELS: tuple[DuelModel, ...] = ("gpm_u", "gpm", "upm", "preference_tree")
FORM = ("won_last", "wins_of_last_two", "prior_wins")
"""Features of a comparison: what each male had won before the contest."""


class ChameleonConfig(DuelConfig):
    """The study's settings; the features are the paper's, the cross-validation is this project's."""

    explaining: ExplainConfig = Field(
        default=CHAMELEON, description="duels to explain, and published findings to judge by the explanations"
    )
    folds: int | None = Field(default=10, ge=2, description="number of folds; each run tests every contest once")
    form: bool = Field(default=True, description="models also get what each male had won before the contest")
    tuning: Tuning = Field(default=Tuning(rank=None), description="search for lengthscales, penalty and depth")
    resamples: int = Field(default=1_000, ge=2, description="number of samples for the interval of SpecR")


PAPER = ChameleonConfig()
DEMO = ChameleonConfig(
    simulated=True, explaining=CHAMELEON.model_copy(update={"refits": 10}), runs=2, folds=5, resamples=100,
    tuning=Tuning(rank=None, inner_folds=3, lengthscales=(2.0, 4.0), penalties=(1e-3, 1e-2), depths=(2, 4)),
)  # fmt: skip


@flow(name="chameleon", task_runner=one_thread_a_core())
def chameleon_study(config: ChameleonConfig = PAPER) -> Path:
    """Predict every contest by models fitted without its fold, in five runs (pref-shap, section 4 and Table 3)."""
    return study_duels(
        "chameleon",
        config,
        models=MODELS,
        published=PUBLISHED,
        published_spec_r=PUBLISHED_SPEC_R,
        sides=FORM if config.form else (),
    )
