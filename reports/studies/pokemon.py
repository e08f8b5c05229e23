"""The page of the pokemon study."""

from __future__ import annotations

from reports.duels.scores import Duel
from reports.duels.study import duel_page
from reports.page.blocks import Page
from reports.page.finished_run import FinishedRun


def page(run: FinishedRun) -> Page:
    """The report of a run of the pokemon study. Raises NotARunError if a result it needs is missing or malformed."""
    return duel_page(
        run,
        study="Pokemon",
        title="What decides between two Pokemon",
        duel=Duel("battle", "battles"),
        comparable=not run.record.simulated,
    )
