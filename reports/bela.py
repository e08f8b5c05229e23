"""The BELA study's page."""

from __future__ import annotations

from reports.choice_study import choice_page
from reports.finished_run import FinishedRun
from reports.page import Page


def page(run: FinishedRun) -> Page:
    """The report of a run of the BELA study. Raises NotARunError if a result it needs is missing or malformed."""
    return choice_page(run, study="BELA", title="What women want from breast-cancer screening")
