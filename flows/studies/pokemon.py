"""The Pokemon study: 50,000 battles of 800 Pokemon, and whether types or strength decide them."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from models.kernels.selection import Tuning
from models.records.duel_results import DuelModel
from tasks.claims.studies.pokemon import PUBLISHED, PUBLISHED_SPEC_R
from tasks.duels.explanation_settings import ExplainConfig
from tasks.duels.published_findings import POKEMON
from tasks.duels.study import DuelConfig, study_duels
from tasks.runs.workers import one_thread_a_core

MODELS: tuple[DuelModel, ...] = ("gpm_u", "gpm", "upm", "preference_tree")
LEFT_OUT = ("generation",)
"""The generation says when a Pokemon was introduced, not what it is like; the paper does not use it either."""


class PokemonConfig(DuelConfig):
    """The study's settings; the defaults are the paper's."""

    tuning: Tuning = Field(default=Tuning(rank=300), description="search for lengthscales, penalty and depth")
    explaining: ExplainConfig = Field(
        default=POKEMON, description="duels to explain, and published findings to judge by the explanations"
    )


PAPER = PokemonConfig()
DEMO = PokemonConfig(
    simulated=True, items=80, explaining=POKEMON.model_copy(update={"refits": 10}), runs=2, tuning=Tuning(steps=4)
)


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
