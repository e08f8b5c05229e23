"""The Pokemon study: 50,000 battles of 800 Pokemon, and whether types or strength decide them."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from tasks.duels.kept_explanations import ExplainConfig
from tasks.duels.models import DuelModel, Tuning
from tasks.duels.published_findings import POKEMON
from tasks.duels.scoring import Published
from tasks.duels.study import DuelConfig, study_duels
from tasks.runs.workers import one_thread_a_core

MODELS: tuple[DuelModel, ...] = ("gpm_u", "gpm", "upm", "preference_tree")
PUBLISHED = (Published("gpm", 0.86), Published("upm", 0.82))
PUBLISHED_SPEC_R = 0.20
LEFT_OUT = ("generation",)
"""It is when a Pokemon came, not what it is like; the paper does not use it either."""


class PokemonConfig(DuelConfig):
    """The study's settings; the defaults are the paper's."""

    tuning: Tuning = Field(default=Tuning(rank=300), description="how lengthscales, penalty and depth are chosen")
    explaining: ExplainConfig = Field(
        default=POKEMON, description="which duels are explained, and the published findings that this decides"
    )


PAPER = PokemonConfig()
DEMO = PokemonConfig(simulated=True, items=80, runs=2, tuning=Tuning(steps=4))


@flow(name="pokemon", task_runner=one_thread_a_core())
def pokemon_study(config: PokemonConfig = PAPER) -> Path:
    """Predict a tenth of the battles from the others (pref-shap, section 4 and Table 3)."""
    return study_duels(
        "pokemon",
        config,
        models=MODELS,
        published=PUBLISHED,
        published_spec_r=PUBLISHED_SPEC_R,
        published_variant="published-60000",
        leave_out=LEFT_OUT,
    )
