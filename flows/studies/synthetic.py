"""The synthetic study: simulated matches that no ranking explains, and the models that can learn them."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from models.kernels.selection import Tuning
from tasks.claims.studies.synthetic import PUBLISHED, PUBLISHED_SPEC_R
from tasks.duels.explanation_settings import ExplainConfig
from tasks.duels.published_findings import SYNTHETIC
from tasks.duels.study import DuelConfig, study_duels
from tasks.runs.workers import one_thread_a_core


class SyntheticConfig(DuelConfig):
    """The study's settings; the defaults are the paper's."""

    explaining: ExplainConfig = Field(
        default=SYNTHETIC, description="duels to explain, and published findings to judge by the explanations"
    )
    simulated: bool = Field(default=True, description="simulate the matches; only the way to draw them was published")


PAPER = SyntheticConfig()
DEMO = SyntheticConfig(items=80, explaining=SYNTHETIC.model_copy(update={"refits": 10}), runs=2, tuning=Tuning(steps=4))


@flow(name="synthetic", task_runner=one_thread_a_core())
def synthetic_study(config: SyntheticConfig = PAPER) -> Path:
    """Predict the last tenth of 40,000 matches between items of three clusters (pref-shap, section 4 and Table 3)."""
    return study_duels("synthetic", config, published=PUBLISHED, published_spec_r=PUBLISHED_SPEC_R)
