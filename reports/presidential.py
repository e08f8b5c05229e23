"""The Presidential study's page."""

from __future__ import annotations

from reports.choice_study import choice_page
from reports.finished_run import FinishedRun
from reports.page import Page


def page(run: FinishedRun) -> Page:
    """The report of a run of the Presidential study. Raises NotARunError if a result is missing or malformed."""
    return choice_page(run, study="Presidential", title="Which candidate for President, and why")
