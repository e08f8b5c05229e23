"""The page of the BELA study."""

from __future__ import annotations

from reports.page.blocks import Page
from reports.page.finished_run import FinishedRun
from reports.respondents.choice_study import choice_page


def page(run: FinishedRun) -> Page:
    """The report of a run of the BELA study. Raises NotARunError if a result it needs is missing or malformed."""
    return choice_page(run, study="BELA", title="What women want from breast-cancer screening")
