"""Asks a model through the ledger: recorded answers are reused, and answers that break their schema asked again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from json import dumps
from statistics import mean, stdev
from types import MappingProxyType
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from models.records.base import Record
from models.records.card import counted
from models.records.errors import PrefstudyError
from models.records.run_record import AnswerTime
from models.records.settings_errors import dotted
from prompts.engine import REFUSED, Engine, EngineError, Reply, Request
from prompts.ledger import Ledger
from prompts.ledger_entry import Entry
from prompts.unquoted import unquoted
from prompts.unusable import FEWEST, refused_all, unusable

ATTEMPTS = 3
SECONDS_UNRECORDED = 1.0
"""Answers that come one by one are recorded together, but none waits longer than this for the next one to come."""


class Budget(Record):
    """Limits on what a study may ask. Recorded answers count too: a resumed run stops where the whole would."""

    requests: int | None = Field(default=None, ge=1, description="most requests; no limit if not set")
    tokens: int | None = Field(
        default=None, ge=1, description="most tokens in prompts and answers; no limit if not set"
    )


class BudgetSpentError(PrefstudyError):
    """The next requests would exceed the budget."""


class Count(NamedTuple):
    """Counts for one template. refused: answers that broke their schema; missing: requests without a valid answer.

    reasons: why the engine will never answer some of the missing ones, and how many those are.
    """

    template: str
    requests: int
    refused: int
    missing: int
    tokens: int
    reasons: Mapping[str, int] = MappingProxyType({})


class Conversation:
    """Asks an engine, chunk by chunk. All answers of a chunk are recorded in the ledger before any is used.

    A model that gives no usable answer to the first requests of a kind, `FEWEST` at least, is not asked any further.

    on_answered: called with the number of requests answered since the last call.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from prompts.answers import value_in
    >>> from prompts.engines.rules import Rules
    >>> from prompts.feature_file import read_features
    >>> from prompts.patient import Patient
    >>> from prompts.questions import ask_for_feature
    >>> features = {spec.name: spec for spec in read_features().features}
    >>> spec = features["message_actionability"]
    >>> request = ask_for_feature("a-01", Patient(message="I have chest pain."), spec)
    >>> with TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite") as ledger:
    ...     [answer] = Conversation(Rules(features.values()), ledger).ask([request])
    ...     value_in(answer, spec), len(ledger)
    ('emergency_or_immediate_evaluation', 1)
    """

    def __init__(
        self,
        engine: Engine,
        ledger: Ledger,
        *,
        chunk_size: int = 256,
        budget: Budget | None = None,
        on_answered: Callable[[int], None] | None = None,
    ) -> None:
        self.engine = engine
        self.ledger = ledger
        self.chunk_size = chunk_size
        self.budget = budget or Budget()
        self.on_answered = on_answered or (lambda _: None)
        self._asked: dict[str, Request] = {}
        self._rows: dict[str, list[Entry]] = {}

    @unquoted()
    def ask(self, requests: Sequence[Request]) -> list[BaseModel | None]:
        """The answer to each request, valid under its schema.

        None if three answers in a row broke it, or if the engine refuses this request but answers others.

        Raises BudgetSpentError before anything is asked. Raises EngineError if the engine fails or the model gives no
        usable answer at all, and LedgerError for a recorded answer that was altered. Answers recorded by then are kept.
        """
        keys = [request.key(self.engine) for request in requests]
        asked = dict(zip(keys, requests, strict=True))
        self._check_budget(asked)
        self._asked |= asked
        self._rows |= self.ledger.recorded(keys)
        waiting = [key for key in asked if not self._is_settled(key)]
        self._check_usable(asked)
        self.on_answered(len(requests) - len(waiting))
        for chunk in _chunks(waiting, self.chunk_size):
            self._settle({key: asked[key] for key in chunk})
            self._check_usable(asked)
            self.on_answered(len(chunk))
        return [self._answer(key, request) for key, request in zip(keys, requests, strict=True)]

    def counts(self) -> list[Count]:
        """Counts of what was asked so far, by template. Answers found in the ledger count like new ones."""
        templates: dict[str, list[str]] = {}
        for key, request in self._asked.items():
            templates.setdefault(request.template, []).append(key)
        return [self._count(template, keys) for template, keys in templates.items()]

    def times(self) -> tuple[AnswerTime, ...]:
        """Mean and standard deviation of the seconds per answer, by template, as recorded in the ledger."""
        seconds: dict[str, list[float]] = {}
        for key, rows in self._rows.items():
            seconds.setdefault(self._asked[key].template, []).extend(row.seconds for row in rows)
        return tuple(
            AnswerTime(
                template=template, answers=len(each), seconds=mean(each), sd=stdev(each) if len(each) > 1 else None
            )
            for template, each in seconds.items()
        )

    def traces(self, requests: Sequence[Request]) -> list[str]:
        """The keys of these requests in the ledger."""
        return [request.key(self.engine) for request in requests]

    def _settle(self, requests: dict[str, Request]) -> None:
        """Ask until every request has a valid answer or was asked `ATTEMPTS` times."""
        for _ in range(ATTEMPTS):
            open_ = {key: request for key, request in requests.items() if not self._is_settled(key)}
            if not open_:
                return
            attempts = [len(self._rows.get(key, ())) + 1 for key in open_]
            posed = [
                Request(**{**vars(request), "sampling": request.sampling.on_attempt(attempt)})
                for request, attempt in zip(open_.values(), attempts, strict=True)
            ]
            try:
                self._record(open_, attempts, self.engine.reply(posed))
            finally:
                self._rows |= self.ledger.recorded(list(open_))

    def _record(
        self, requests: Mapping[str, Request], attempts: Sequence[int], outcomes: Iterable[Reply | EngineError]
    ) -> None:
        """Record the replies as they come, also where some fail. Raises the first error after the last reply."""
        waiting: list[Entry] = []
        refused: list[Entry] = []
        failed: EngineError | None = None
        last = time.monotonic()
        try:
            for (key, request), attempt, outcome in zip(requests.items(), attempts, outcomes, strict=True):
                if isinstance(outcome, EngineError):
                    failed = failed or outcome
                    continue
                entry = self._entry(key, request, attempt, outcome, datetime.now(UTC))
                (waiting if outcome.refused is None else refused).append(entry)
                if time.monotonic() - last >= SECONDS_UNRECORDED:
                    self.ledger.record(waiting)
                    waiting, last = [], time.monotonic()
        finally:
            self.ledger.record(waiting)
        if refused and failed is None and not self._is_fault_of(refused, list(requests)):
            raise refused_all(self.engine.model, len(refused), [entry.problem or "" for entry in refused])
        if refused and self._is_fault_of(refused, list(requests)):
            self.ledger.record(refused)
        if failed is not None:
            raise failed

    def _is_fault_of(self, refused: Sequence[Entry], just_asked: Sequence[str]) -> bool:
        """Whether refusals are about these requests: the engine has just answered others, or others before these few.

        Where it refuses all that it is asked, something else is wrong, and the requests may be answered later.
        """
        if _any_answered(self.ledger.recorded(just_asked)):
            return True
        return len(refused) < FEWEST and _any_answered(self._rows)

    def _check_usable(self, requests: Mapping[str, Request]) -> None:
        """Raise UnusableModelError if no answer of one of these templates is usable, of those asked so far."""
        for template in {request.template for request in requests.values()}:
            keys = [key for key, request in self._asked.items() if request.template == template]
            if any(self._accepted(key) for key in keys):
                continue
            settled = [key for key in keys if self._is_settled(key)]
            if len(settled) >= FEWEST:
                rows = [row for key in settled for row in self._rows[key]]
                raise unusable(self.engine.model, template, len(settled), rows)

    def _entry(self, key: str, request: Request, attempt: int, reply: Reply, now: datetime) -> Entry:
        return Entry(
            key=key,
            attempt=attempt,
            model=self.engine.model,
            revision=self.engine.revision,
            template=f"{request.template}.{request.version}",
            subject=request.subject,
            messages=dumps([message.model_dump() for message in request.messages], ensure_ascii=False),
            answer_schema=dumps(request.schema, ensure_ascii=False),
            sampling=request.sampling.model_dump_json(),
            answer=reply.text,
            problem=reply.refused or _problem(request, reply.text),
            finish_reason=reply.finish_reason,
            prompt_tokens=reply.prompt_tokens,
            answer_tokens=reply.answer_tokens,
            seconds=round(reply.seconds, 4),
            time=now,
        )

    def _is_settled(self, key: str) -> bool:
        rows = self._rows.get(key, ())
        return len(rows) >= ATTEMPTS or any(row.problem is None or row.finish_reason == REFUSED for row in rows)

    def _accepted(self, key: str) -> Entry | None:
        """The row whose answer counts. A recorded answer that today's schema refuses does not."""
        accepted = (row for row in self._rows.get(key, ()) if row.problem is None)
        return next((row for row in accepted if _problem(self._asked[key], row.answer) is None), None)

    def _answer(self, key: str, request: Request) -> BaseModel | None:
        accepted = self._accepted(key)
        return None if accepted is None else request.answer.model_validate_json(accepted.answer)

    def _count(self, template: str, keys: Sequence[str]) -> Count:
        rows = [row for key in keys for row in self._rows.get(key, ())]
        never = Counter(row.problem or "" for row in rows if row.finish_reason == REFUSED)
        refused = sum(row.problem is not None for row in rows) - never.total()
        missing = sum(self._is_settled(key) and self._accepted(key) is None for key in keys)
        return Count(template, len(keys), refused, missing, _tokens(rows), dict(sorted(never.items())))

    def _check_budget(self, asked: dict[str, Request]) -> None:
        requests = len(self._asked.keys() | asked.keys())
        tokens = _tokens([row for rows in self._rows.values() for row in rows])
        if self.budget.requests is not None and requests > self.budget.requests:
            raise BudgetSpentError(
                f"The budget allows {counted(self.budget.requests, 'requests')}; the next step would make them "
                f"{requests:,}. Allow more: --set budget.requests=N"
            )
        if self.budget.tokens is not None and tokens >= self.budget.tokens:
            raise BudgetSpentError(
                f"The budget allows {counted(self.budget.tokens, 'tokens')}, and {tokens:,} are spent. "
                "Allow more: --set budget.tokens=N"
            )


def _any_answered(rows: Mapping[str, Sequence[Entry]]) -> bool:
    return any(row.finish_reason != REFUSED for each in rows.values() for row in each)


def _chunks(keys: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def _tokens(rows: Sequence[Entry]) -> int:
    return sum(row.prompt_tokens + row.answer_tokens for row in rows)


def _problem(request: Request, text: str) -> str | None:
    """Why an answer breaks its schema, without quoting it; None if it is valid."""
    try:
        request.answer.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        # The name of an unknown key is a text of the model.
        known = first["loc"][:-1] if first["type"] == "extra_forbidden" else first["loc"]
        return f"{dotted(known)}: {first['type']}"
    return None
