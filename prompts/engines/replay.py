"""The engine `replay`: no model; every answer must be in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NoReturn

from pydantic import Field

from models.records.base import Record
from models.records.plain_text import escaped
from prompts.engine import EngineError, Request
from prompts.ledger import Ledger


class ReplaySettings(Record):
    """Settings of the engine that takes all answers from the ledger."""

    kind: Literal["replay"] = "replay"
    model: str | None = Field(default=None, description="model whose answers to use; needed if the ledger has several")
    revision: str | None = Field(default=None, description="revision of that model; needed if the ledger has several")


class Replay:
    """Takes the place of the model whose answers are in the ledger. A request without an answer there is an error."""

    def __init__(self, settings: ReplaySettings, ledger: Ledger) -> None:
        wanted = (settings.model, settings.revision)
        found = [
            names
            for names in ledger.models()
            if all(want in {None, name} for want, name in zip(wanted, names, strict=True))
        ]
        if len(found) != 1:
            there = "; ".join(f"{model} at {revision}" for model, revision in ledger.models()) or "none"
            raise EngineError(
                f"replay: expected answers of one model in {ledger.path}, found: {escaped(there)}. "
                "Name one: --set engine.model=MODEL --set engine.revision=REVISION"
            )
        self.model, self.revision = found[0]
        self.path = ledger.path

    def reply(self, requests: Sequence[Request]) -> NoReturn:
        """Raise EngineError: a request reaches the engine only if the ledger has no answer to it."""
        first = requests[0]
        raise EngineError(
            f"replay: {self.path} has no answer of {self.model} to {len(requests):,} requests, the first of them "
            f"{first.template}.{first.version} about {first.subject} ({first.key(self)[:12]}). Record them with the "
            "engine that has the model, on this data and with these settings."
        )

    def close(self) -> None:
        """Do nothing: there is nothing to free."""
