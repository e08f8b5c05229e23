"""The page of the Presidential study."""

from __future__ import annotations

from reports.page.blocks import Page
from reports.page.finished_run import FinishedRun
from reports.respondents.choice_study import choice_page


def page(run: FinishedRun) -> Page:
    """The report of a run of the Presidential study. Raises NotARunError if a result is missing or malformed."""
    return choice_page(run, study="Presidential", title="Which candidate for President, and why")
