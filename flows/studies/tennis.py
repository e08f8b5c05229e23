"""The tennis study: 95,359 matches of the ATP World Tour, and whether it matters where they were played."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from models.kernels.selection import Tuning
from tasks.claims.studies.tennis import PUBLISHED, PUBLISHED_SPEC_R
from tasks.duels.explanation_settings import ExplainConfig
from tasks.duels.published_findings import TENNIS
from tasks.duels.study import DuelConfig, study_duels
from tasks.runs.workers import one_thread_a_core


class TennisConfig(DuelConfig):
    """The study's settings; the defaults are the paper's."""

    explaining: ExplainConfig = Field(
        default=TENNIS, description="duels to explain, and published findings to judge by the explanations"
    )
    resamples: int = Field(
        default=1_000, ge=2, description="number of samples of tournaments for the interval of SpecR"
    )


PAPER = TennisConfig()
DEMO = TennisConfig(
    simulated=True, items=80, explaining=TENNIS.model_copy(update={"refits": 10}), runs=2, tuning=Tuning(steps=4)
)


@flow(name="tennis", task_runner=one_thread_a_core())
def tennis_study(config: TennisConfig = PAPER) -> Path:
    """Predict a tenth of the matches with and without surface and roof (pref-shap, section 4 and Table 3)."""
    return study_duels(
        "tennis",
        config,
        models=("c_gpm_u", "gpm_u", "c_gpm", "upm", "preference_tree"),
        published=PUBLISHED,
        published_spec_r=PUBLISHED_SPEC_R,
        rank_by_context=True,
    )
