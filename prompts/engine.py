"""The interface of an engine, which takes a batch of requests and gives one reply to each."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from models.records.base import Record
from models.records.errors import PrefstudyError

REFUSED = "request refused"
"""The finish reason of a request that the engine will never answer, however often it is asked."""


class EngineError(PrefstudyError):
    """An engine cannot start or answer. The message names the engine and what to do; it never quotes a question."""


class Message(Record):
    """One turn of a conversation."""

    model_config = ConfigDict(hide_input_in_errors=True)

    role: Literal["system", "user"]
    content: str = Field(repr=False)


class Sampling(Record):
    """Sampling parameters of an answer. Temperature 0 always takes the most likely token."""

    temperature: float = Field(default=0.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=512, ge=1)
    seed: int = 0
    thinking: bool = Field(default=False, description="let the model reason before it answers under the schema")

    def on_attempt(self, attempt: int) -> Sampling:
        """The parameters of an attempt (1, 2, ...). Later attempts are drawn differently, or the error would repeat."""
        if attempt == 1:
            return self
        warmer = max(self.temperature, 0.7)
        return self.model_copy(update={"temperature": warmer, "seed": self.seed + attempt - 1})


@dataclass(frozen=True, eq=False)
class Request:
    """One question to a model.

    template, version: the template it was made from. subject: ids of the patients it is about. answer: the schema of
    its answer. filled: the values in the template, for engines that read no text; they are not part of the key.
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
        """The key of the request in a ledger."""
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
    """The JSON schema of a class of answers. Do not change it: it is cached."""
    return answer.model_json_schema()


def request_key(*parts: Any) -> str:
    """The sha256 of model, revision, template with version, messages, schema and sampling."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _storable(text: Any) -> Any:
    """A text without halves of surrogate pairs, which an answer cut off within an emoji ends with."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text) if isinstance(text, str) else text


class Reply(Record):
    """An unchecked answer of an engine. seconds: for a batch answered at once, its time divided by its size.

    refused: why the engine will never answer this request, in words that quote nothing.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    text: Annotated[str, BeforeValidator(_storable)] = Field(repr=False)
    finish_reason: Annotated[str, BeforeValidator(_storable)]
    prompt_tokens: int = Field(default=0, ge=0, lt=2**53)
    answer_tokens: int = Field(default=0, ge=0, lt=2**53)
    seconds: float = 0.0
    refused: str | None = None


def refusal(reason: str) -> Reply:
    """The reply in place of an answer to a request that the engine will never answer.

    >>> refusal("status 400: longer than the model's context").finish_reason
    'request refused'
    """
    return Reply(text="", finish_reason=REFUSED, refused=reason)


def without_thinking(text: str) -> str:
    """The answer after a model's thinking, where the engine did not separate the two.

    >>> without_thinking('She has a fever. </think> {"value":true}')
    '{"value":true}'
    >>> without_thinking('{"reasoning":"a </think> of hers"}')
    '{"reasoning":"a </think> of hers"}'
    """
    if text.lstrip().startswith("{"):
        return text.strip()
    return text.rpartition("</think>")[2].strip()


class Engine(Protocol):
    """Answers requests. The ledger records `model` and `revision` with each answer."""

    model: str
    revision: str

    def reply(self, requests: Sequence[Request]) -> Iterable[Reply | EngineError]:
        """The outcome of each request, in their order and as they come.

        An EngineError stands in the place of a reply that did not come; later requests may still have been answered.
        Raises EngineError if no request can be answered.
        """

    def close(self) -> None:
        """Free memory and close connections."""
