"""The BELA study: a preference tree for each woman, from her choices among breast-cancer screening programmes."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from flows.nightly import Nightly
from models.records.published import published_by_split
from models.records.studies.respondent_results import DISCARDED, GP_MODEL, KEPT, TREE_MODEL
from tasks.respondents.tree_study import ChoiceConfig, study_choices

TABLE_2, TABLE_12 = "dt-pbo, Table 2", "dt-pbo, Table 12"
PUBLISHED = (
    *published_by_split({"train": 0.97, "test": 0.63}, model=TREE_MODEL, variant=DISCARDED, source=TABLE_2),
    *published_by_split({"train": 1.0, "test": 0.60}, model=TREE_MODEL, variant=KEPT, source=TABLE_2),
    *published_by_split({"train": 0.99, "test": 0.55}, model=TREE_MODEL, variant=DISCARDED, source=TABLE_12),
)
PUBLISHED_GP = published_by_split({"train": 1.0, "test": 0.55}, model=GP_MODEL, source=TABLE_12)


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
