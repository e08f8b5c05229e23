"""The section on the language model of the PMR study: its questions, their number, and the time of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from models.records.studies.message_results import CONVERSATION, MOST_MISSING, AskedModel, TemplateCount
from reports.page.blocks import Block, Column, Definitions, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.wording import MISSING, fixed

RULES = "keyword rules"
TEMPLATES = {
    "extract_feature": "read one feature of one patient",
    "why_chosen": "why one message was put first",
    "propose_feature": "propose a feature",
    "more_urgent": "which of two messages comes first",
}
PUBLISHED_TIMES = (
    "On one A100, 0.323 ± 0.05 s to read a feature of a patient, 32.15 ± 0.17 s to propose one (dt-pbo, Table 4)."
)


class Asked(NamedTuple):
    """The engine of a run, and the model with the counts of what it was asked."""

    engine: str
    answered: AskedModel

    @property
    def has_model(self) -> bool:
        """Whether a language model was asked."""
        return self.answered.model != RULES

    @property
    def who(self) -> str:
        """The model, in words."""
        return self.answered.model if self.has_model else "keyword rules (no language model)"

    @property
    def alarms(self) -> list[str]:
        """For each kind of question that was too often without an answer, a sentence that says so."""
        return [
            f"Of the {count.requests:,} requests to {TEMPLATES.get(count.template, count.template)}, "
            f"{count.missing:,} are without a usable answer, more than {100 * MOST_MISSING:.0f}%: do not rely on what "
            "follows."
            for count in self.answered.templates
            if count.template in self.answered.unreliable
        ]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warning on every page of a report without a language model."""
        return () if self.has_model else ("KEYWORD RULES, NO LANGUAGE MODEL",)


def read_asked(run: FinishedRun) -> Asked:
    """Read `results/conversation.json`. Raises NotARunError if it is missing or malformed."""
    try:
        # The engine is not among the results: replayed answers give the same results.
        engine = str(run.record.config["engine"]["kind"])
    except (KeyError, TypeError) as problem:
        raise NotARunError(f"{run.path / 'run.json'} names no engine. Run the study again.") from problem
    return Asked(engine, run.document(CONVERSATION, AskedModel))


def asked_section(run: FinishedRun, asked: Asked) -> Section:
    """The engine, and a line for each kind of question."""
    how = "recorded answers, replayed" if asked.engine == "replay" else asked.engine
    who = Definitions([("Answers by", asked.who), ("Revision", asked.answered.revision), ("Engine", how)])
    counts = _counts(run, asked.answered.templates, has_model=asked.has_model)
    return Section("What was asked", [who, counts, *_refusals(asked.answered.templates)])


def _refusals(counts: Sequence[TemplateCount]) -> list[Block]:
    """Why some requests will never be answered."""
    reasons = [
        f"{number:,} to {TEMPLATES.get(count.template, count.template)} ({reason})"
        for count in counts
        for reason, number in count.reasons.items()
    ]
    if not reasons:
        return []
    return [Prose([f"Requests that the engine refused, and that are missing for good: {'; '.join(reasons)}."])]


def _counts(run: FinishedRun, counts: Sequence[TemplateCount], *, has_model: bool) -> Block:
    times = {time.template: time for time in run.record.answers}
    rows = []
    for count in counts:
        time = times.get(count.template)
        seconds = MISSING if time is None else fixed(time.seconds, 3)
        sd = MISSING if time is None or time.sd is None else fixed(time.sd, 3)
        numbers = (count.requests, count.refused, count.missing, count.tokens)
        rows.append(
            Row((TEMPLATES.get(count.template, count.template), *(f"{each:,}" for each in numbers), seconds, sd))
        )
    headers = ("Requests", "Refused", "Missing", "Tokens", "Seconds", "sd")
    return Table(
        "Questions and answers, including those already in the ledger.",
        [Column("Question", "left"), *map(Column, headers)],
        rows,
        note="Refused: answers that broke their schema and were asked for again. Missing: questions without a usable "
        "answer after three. Seconds: an answer’s share of its batch’s time, where a batch is answered at once. "
        + (PUBLISHED_TIMES if has_model else "Rules take no time worth comparing with a model’s."),
    )
