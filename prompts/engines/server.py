"""The engine `server`: any server with the OpenAI protocol, such as a remote vLLM or a llama.cpp on a laptop."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from openai import APIStatusError, OpenAI, OpenAIError
from openai.types.chat import ChatCompletion
from pydantic import AfterValidator, Field, HttpUrl, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from models.records.base import Record
from prompts.engine import EngineError, Reply, Request

CHATTY_LOGGERS = ("openai", "httpx", "httpcore", "httpx2", "httpcore2")
"""At level DEBUG these log every message."""
SECONDS_TO_LIST_MODELS = 10.0


def _is_url(text: str) -> str:
    """Return the text unchanged if it is a URL. A `HttpUrl` would normalise it, and so change the run-id."""
    try:
        TypeAdapter(HttpUrl).validate_python(text)
    except ValidationError as error:
        raise PydanticCustomError("no_url", "expected a valid http:// or https:// address") from error
    return text


class ServerSettings(Record):
    """Address of the server and how to ask it. An API key is read from OPENAI_API_KEY and stored nowhere."""

    kind: Literal["server"] = "server"
    url: Annotated[str, AfterValidator(_is_url)] = Field(
        description="address of the server, for example http://gpu-box:8000/v1"
    )
    model: str = Field(default="Qwen/Qwen3.5-27B", description="name of the model on the server")
    revision: str = Field(default="as served", description="revision of the model, as recorded in the ledger")
    concurrency: int = Field(default=8, ge=1, le=256, description="requests sent at the same time")
    timeout: float = Field(default=300.0, gt=0, description="seconds to wait for one answer")
    retries: int = Field(
        default=5,
        ge=0,
        description="retries after a status 429 or 5xx, a timeout or a broken connection; the wait doubles each "
        "time, or is what the server's Retry-After says",
    )
    can_think: bool = Field(default=True, description="whether the model has a thinking mode to switch on and off")


class Server:
    """Asks a server, several requests at a time. The OpenAI client retries requests that fail for a passing reason."""

    def __init__(self, settings: ServerSettings) -> None:
        for name in CHATTY_LOGGERS:
            logger = logging.getLogger(name)
            logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))
        self.model, self.revision, self.settings = settings.model, settings.revision, settings
        # The client insists on a key; a server of one's own needs none.
        key = os.environ.get("OPENAI_API_KEY", "none")
        self._client = OpenAI(
            base_url=settings.url, api_key=key, timeout=settings.timeout, max_retries=settings.retries
        )
        self._check()

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply to each request, in their order. Raises EngineError if one of them fails after all retries."""
        pool = ThreadPoolExecutor(self.settings.concurrency)
        try:
            return list(pool.map(self._reply_one, requests))
        finally:
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _check(self) -> None:
        """Raise EngineError if the server does not answer or does not have the model.

        It does not retry: the study has not started, so nothing is lost.
        """
        client = self._client.with_options(timeout=SECONDS_TO_LIST_MODELS, max_retries=0)
        with self._complaints():
            there = [model.id for model in client.models.list()]
        if there and self.model not in there:
            raise EngineError(
                f"server: {self.settings.url} has no model {self.model}; it has: {', '.join(there)}. "
                "Name one: --set engine.model=NAME"
            )

    def _reply_one(self, request: Request) -> Reply:
        start = time.perf_counter()
        with self._complaints():
            completion = self._ask(request)
            return _reply(completion, time.perf_counter() - start)

    def _ask(self, request: Request) -> ChatCompletion:
        sampling = request.sampling
        schema = {"name": request.template, "schema": request.schema, "strict": True}
        asked: dict[str, Any] = {
            "model": self.model,
            "messages": [message.model_dump() for message in request.messages],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        if self.settings.can_think:
            asked["extra_body"] = {"chat_template_kwargs": {"enable_thinking": sampling.thinking}}
        completion: ChatCompletion = self._client.chat.completions.create(**asked)
        return completion

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        """Raise EngineError for whatever goes wrong, without the server's own words: they may repeat the question."""
        try:
            yield
        except APIStatusError as error:
            raise EngineError(self._complaint(f"answers with status {error.status_code}")) from None
        except OpenAIError as error:
            raise EngineError(self._complaint(f"does not answer ({type(error).__name__})")) from None
        except (ValueError, TypeError, AttributeError, IndexError):  # what came back lacks the expected fields
            raise EngineError(self._complaint("does not answer in the OpenAI protocol")) from None

    def _complaint(self, what: str) -> str:
        return (
            f"server: {self.settings.url} {what}. The ledger keeps all answers so far; run again when it works, "
            "or without a model: --engine rules"
        )


def _reply(completion: ChatCompletion, seconds: float) -> Reply:
    choice = completion.choices[0]
    usage = completion.usage
    return Reply(
        text=choice.message.content or "",
        finish_reason=choice.finish_reason,
        prompt_tokens=usage.prompt_tokens if usage else 0,
        answer_tokens=usage.completion_tokens if usage else 0,
        seconds=seconds,
    )
