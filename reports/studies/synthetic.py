"""The page of the synthetic study."""

from __future__ import annotations

from reports.duels.scores import Duel
from reports.duels.study import duel_page
from reports.page.blocks import Page
from reports.page.finished_run import FinishedRun


def page(run: FinishedRun) -> Page:
    """The report of a run of the synthetic study. Raises NotARunError if a result it needs is missing or malformed."""
    return duel_page(
        run, study="Synthetic", title="Matches that no ranking explains", duel=Duel("match", "matches"), comparable=True
    )
