"""The BELA study: a preference tree for each woman, from her choices among breast-cancer screening programmes."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from flows.nightly import Nightly
from tasks.claims.studies.bela import PUBLISHED, PUBLISHED_GP
from tasks.respondents.tree_study import ChoiceConfig, study_choices


class BelaConfig(ChoiceConfig):
    """The study's settings; the defaults are the paper's."""

    test_share: float = Field(
        default=2 / 18, gt=0, lt=1, description="share of each woman's choices held out for testing"
    )


PAPER = BelaConfig()
DEMO = BelaConfig(simulated=True, users=80)
NIGHTLY = Nightly(config={"simulated": True})


@flow(name="bela")
def bela_study(config: BelaConfig = PAPER) -> Path:
    """Learn each woman's preferences from eight ninths of her choices, and predict the others (dt-pbo, Table 12)."""
    return study_choices("bela", config, PUBLISHED, PUBLISHED_GP)
