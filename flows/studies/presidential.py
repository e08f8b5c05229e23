"""The Presidential study: a preference tree for each respondent, from choices between two candidates for President."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import Field

from flows.nightly import Nightly
from tasks.claims.studies.presidential import PUBLISHED, PUBLISHED_GP
from tasks.respondents.tree_study import ChoiceConfig, study_choices


class PresidentialConfig(ChoiceConfig):
    """The study's settings; the defaults are the paper's."""

    test_share: float = Field(
        default=3 / 30, gt=0, lt=1, description="share of each respondent's choices held out for testing"
    )
    sensitive: tuple[str, ...] = Field(
        default=("gender", "ethnicity", "religion"),
        description="attributes for which the report says whether trees depend on them (dt-pbo, G.4)",
    )


PAPER = PresidentialConfig()
DEMO = PresidentialConfig(simulated=True, users=60)
NIGHTLY = Nightly(config={"simulated": True})


@flow(name="presidential")
def presidential_study(config: PresidentialConfig = PAPER) -> Path:
    """Learn each respondent's preferences from 27 of 30 choices, and predict the other three (dt-pbo, Table 12)."""
    return study_choices("presidential", config, PUBLISHED, PUBLISHED_GP)
