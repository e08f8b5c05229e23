"""The page of any choice experiment read by a mapping: its title is what the user's mapping says."""

from __future__ import annotations

from reports.page.blocks import Page
from reports.page.finished_run import FinishedRun
from reports.respondents.choice_study import choice_page

_EXAMPLE = "Which flat to rent: a choice experiment made up as an example"


def page(run: FinishedRun) -> Page:
    """The report of a run of the conjoint study. Raises NotARunError if a result it needs is missing or malformed."""
    own = run.record.config.get("mapping") is not None
    return choice_page(run, study="Choice experiment", title=run.record.data[0].title if own else _EXAMPLE)
