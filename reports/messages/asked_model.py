"""Who was asked in a run of the PMR study, what, how often, and how long an answer took."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, ValidationError

from reports.page.blocks import Block, Column, Definitions, Row, Section, Table
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


class Count(BaseModel):
    """How often one template was asked, and with which luck."""

    model_config = ConfigDict(frozen=True)

    template: str
    requests: int
    refused: int
    missing: int
    tokens: int


class Asked(BaseModel):
    """The engine and the model of a run, and what it was asked."""

    model_config = ConfigDict(frozen=True)

    engine: str
    model: str
    revision: str
    templates: tuple[Count, ...]

    @property
    def has_model(self) -> bool:
        """Whether a language model was asked at all."""
        return self.model != RULES

    @property
    def who(self) -> str:
        """Who was asked, in words."""
        return self.model if self.has_model else "keyword rules (no language model)"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What every page must say of it."""
        return () if self.has_model else ("KEYWORD RULES, NO LANGUAGE MODEL",)


def read_asked(run: FinishedRun) -> Asked:
    """Read `results/conversation.json`. Raises NotARunError if it is missing or malformed."""
    try:
        # Not among the results: answers replayed are the same answers.
        engine = run.record.config["engine"]["kind"]
        return Asked.model_validate({**run.json("conversation"), "engine": engine})
    except (ValidationError, KeyError, TypeError) as problem:
        path = run.path / "results" / "conversation.json"
        raise NotARunError(f"{path}, or the engine in run.json, is malformed. Run the study again.") from problem


def asked_section(run: FinishedRun, asked: Asked) -> Section:
    """The engine, and a line for each kind of question."""
    how = "recorded answers, replayed" if asked.engine == "replay" else asked.engine
    who = Definitions([("Answers by", asked.who), ("Revision", asked.revision), ("Engine", how)])
    return Section("What was asked", [who, _counts(run, asked.templates, has_model=asked.has_model)])


def _counts(run: FinishedRun, counts: Sequence[Count], *, has_model: bool) -> Block:
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
        "Questions and answers, those found in the ledger included.",
        [Column("Question", "left"), *map(Column, headers)],
        rows,
        note="Refused: answers that broke their schema and were asked for again. Missing: questions without a usable "
        "answer after three. Seconds: an answer’s share of its batch’s time, where a batch is answered at once. "
        + (PUBLISHED_TIMES if has_model else "Rules take no time worth comparing with a model’s."),
    )
