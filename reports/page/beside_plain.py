"""What a report says first of its own models and the plain ones."""

from __future__ import annotations

from collections.abc import Mapping

from models.baselines.beside import Beside
from models.records.results import BESIDE_PLAIN
from reports.page.conclusions import compared
from reports.page.finished_run import FinishedRun


def read_beside(run: FinishedRun) -> dict[str, Beside]:
    """The comparisons with plain models, by variant. Raises NotARunError if the file is missing or malformed."""
    return {each.variant: each for each in run.document(BESIDE_PLAIN, tuple[Beside, ...])}


def plain_leads(beside: Beside) -> bool:
    """Whether the plain model has the higher score: the report then starts with that."""
    return (beside.difference.estimate or 0.0) < 0


def plain_sentence(beside: Beside, names: Mapping[str, str], *, measure: str) -> str:
    """One sentence about the two, the one with the higher score first. names: of the models, as in a sentence."""
    model, plain = (names[each] for each in (beside.model, beside.plain))
    if plain_leads(beside):
        return compared(plain, model, beside.difference.reversed, measure=measure)
    return compared(model, plain, beside.difference, measure=measure)
