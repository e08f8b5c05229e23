"""The chameleon study: 106 contests of 35 males, too few for one test set, so that every contest is tested."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from tasks.duels.kept_explanations import ExplainConfig
from tasks.duels.models import DuelModel, Tuning
from tasks.duels.published_findings import CHAMELEON
from tasks.duels.scoring import Published
from tasks.duels.study import DuelConfig, study_duels
from tasks.runs.workers import one_thread_a_core

MODELS: tuple[DuelModel, ...] = ("gpm_u", "gpm", "upm", "preference_tree")
PUBLISHED = (Published("gpm", 0.92), Published("upm", 0.80))
PUBLISHED_SPEC_R = 0.24
FORM = ("won_last", "wins_of_last_two", "prior_wins")
"""What a male had won before a contest."""


class ChameleonConfig(DuelConfig):
    """The study's settings; the features are the paper's, the cross-validation is this project's."""

    explaining: ExplainConfig = Field(
        default=CHAMELEON, description="which duels are explained, and the published findings that this decides"
    )
    folds: int | None = Field(default=10, ge=2, description="folds; every contest is tested once a run")
    form: bool = Field(default=True, description="models also get what each male had won before the contest")
    tuning: Tuning = Field(default=Tuning(rank=None), description="how lengthscales, penalty and depth are chosen")
    resamples: int = Field(default=1_000, ge=2, description="resamples for the spread of SpecR")


PAPER = ChameleonConfig()
DEMO = ChameleonConfig(
    simulated=True, runs=2, folds=5, resamples=100,
    tuning=Tuning(rank=None, inner_folds=3, lengthscales=(2.0, 4.0), penalties=(1e-3, 1e-2), depths=(2, 4)),
)  # fmt: skip


@flow(name="chameleon", task_runner=one_thread_a_core())
def chameleon_study(config: ChameleonConfig = PAPER) -> Path:
    """Predict every contest from the nine tenths it is not in, five times over (pref-shap, section 4 and Table 3)."""
    return study_duels(
        "chameleon",
        config,
        models=MODELS,
        published=PUBLISHED,
        published_spec_r=PUBLISHED_SPEC_R,
        sides=FORM if config.form else (),
    )
