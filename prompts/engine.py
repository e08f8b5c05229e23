"""What an engine is: a batch of requests in, one reply each out. Which model answers, and how, is its own business."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field

from models.records.base import Record
from models.records.errors import PrefstudyError


class EngineError(PrefstudyError):
    """An engine cannot start or answer. Says which, what is missing and what would work; never what was asked."""


class Message(Record):
    """One turn of a conversation."""

    role: Literal["system", "user"]
    content: str = Field(repr=False)


class Sampling(Record):
    """How an answer is drawn. Temperature 0 takes the likeliest word each time."""

    temperature: float = Field(default=0.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=512, ge=1)
    seed: int = 0
    thinking: bool = Field(default=False, description="let the model reason before the answer under the schema begins")

    def on_attempt(self, attempt: int) -> Sampling:
        """The sampling of the first, second, ... time of asking: the same words again would be as wrong again."""
        if attempt == 1:
            return self
        warmer = max(self.temperature, 0.7)
        return self.model_copy(update={"temperature": warmer, "seed": self.seed + attempt - 1})


@dataclass(frozen=True, eq=False)
class Request:
    """One question to a model.

    template, version: what it was made from; subject: ids of what it is about. answer: the schema of its answer.
    filled: what the template was filled with, which an engine without a model goes by.
    """

    template: str
    version: str
    subject: str
    messages: tuple[Message, ...]
    answer: type[BaseModel]
    sampling: Sampling
    filled: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema that binds the answer."""
        return schema_of(self.answer)

    def key(self, engine: Engine) -> str:
        """What the request is known by in a ledger."""
        return request_key(
            engine.model,
            engine.revision,
            f"{self.template}.{self.version}",
            [message.model_dump() for message in self.messages],
            self.schema,
            self.sampling.model_dump(),
        )


@cache
def schema_of(answer: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a kind of answer; not to be changed."""
    return answer.model_json_schema()


def request_key(*parts: Any) -> str:
    """The sha256 of model, revision, template with version, messages, schema and sampling."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Reply(Record):
    """What an engine answered, unchecked. seconds: of a batch answered at once, its time over its size."""

    text: str = Field(repr=False)
    finish_reason: str
    prompt_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0


class Engine(Protocol):
    """Answers requests. `model` and `revision` say who answers, as the ledger records it."""

    model: str
    revision: str

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply to each request, in their order. Raises EngineError."""

    def close(self) -> None:
        """Let go of memory and connections."""
