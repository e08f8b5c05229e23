"""Any choice experiment: a preference tree for each respondent and one for all, by a mapping of its columns."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.nightly import Nightly
from tasks.respondents.tree_study import ChoiceConfig, study_choices

DEFAULT = ChoiceConfig()
DEMO = ChoiceConfig(simulated=True, users=80)
NIGHTLY = Nightly(config={"simulated": True})


@flow(name="conjoint")
def conjoint_study(config: ChoiceConfig = DEFAULT) -> Path:
    """Learn each respondent's preferences from four fifths of the choices, and predict the others."""
    return study_choices("conjoint", config)
