"""The engine `replay`: no model at all, the ledger has to know every answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NoReturn

from pydantic import Field

from models.records.base import Record
from prompts.engine import EngineError, Request
from prompts.ledger import Ledger


class ReplaySettings(Record):
    """Answers come from the ledger only."""

    kind: Literal["replay"] = "replay"
    model: str | None = Field(default=None, description="whose answers; may be left out where the ledger has one model")
    revision: str | None = Field(default=None, description="of that model; may be left out where there is one")


class Replay:
    """Stands for the model whose answers the ledger holds; a request it does not know is an error that names it."""

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
                f"replay: expected answers of one model in {ledger.path}, found: {there}. "
                "Name one: --set engine.model=MODEL --set engine.revision=REVISION"
            )
        self.model, self.revision = found[0]
        self.path = ledger.path

    def reply(self, requests: Sequence[Request]) -> NoReturn:
        """Refuse: a request that reaches an engine is one that the ledger has no answer to. Raises EngineError."""
        first = requests[0]
        raise EngineError(
            f"replay: {self.path} has no answer of {self.model} to {len(requests):,} requests, the first of them "
            f"{first.template}.{first.version} about {first.subject} ({first.key(self)[:12]}). Record them with the "
            "engine that has the model, on this data and with these settings."
        )

    def close(self) -> None:
        """There is nothing to let go of."""
