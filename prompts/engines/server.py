"""The engine `server`: any server that speaks the OpenAI protocol, such as a remote vLLM or a llama.cpp on a laptop."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal

from openai import APIConnectionError, APIStatusError, OpenAI, OpenAIError
from openai.types.chat import ChatCompletion
from pydantic import AfterValidator, Field, HttpUrl, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from models.records.base import Record
from prompts.engine import EngineError, Reply, Request

LONGEST_WAIT = 60.0
REFUSED = (400, 401, 403, 404, 422)
"""Answers that another try would not change."""


def _is_url(text: str) -> str:
    """The text as it was given: a `HttpUrl` would become another, which the run-id would show."""
    try:
        TypeAdapter(HttpUrl).validate_python(text)
    except ValidationError as error:
        raise PydanticCustomError("no_url", "expected a valid http:// or https:// address") from error
    return text


class ServerSettings(Record):
    """Where the server is and how it is asked. A key, if it wants one, is read from OPENAI_API_KEY and kept nowhere."""

    kind: Literal["server"] = "server"
    url: Annotated[str, AfterValidator(_is_url)] = Field(
        description="address of the server, for example http://gpu-box:8000/v1"
    )
    model: str = Field(default="Qwen/Qwen3.5-27B", description="the model's name there")
    revision: str = Field(default="as served", description="its revision, as the ledger is to record it")
    concurrency: int = Field(default=8, ge=1, le=256, description="requests under way at the same time")
    timeout: float = Field(default=300.0, gt=0, description="seconds to wait for an answer")
    retries: int = Field(default=5, ge=0, description="tries after a failed one, with longer and longer waits between")
    can_think: bool = Field(default=True, description="whether the model knows how to think, and when not to")


class Server:
    """Asks a server, several requests at a time; what fails for a moment is tried again."""

    def __init__(self, settings: ServerSettings) -> None:
        # In detail these would log every message.
        for name in ("openai", "httpx", "httpcore"):
            logger = logging.getLogger(name)
            logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))
        self.model, self.revision, self.settings = settings.model, settings.revision, settings
        # tenacity does the trying again, and a server of one's own asks for no key.
        key = os.environ.get("OPENAI_API_KEY", "none")
        self._client = OpenAI(base_url=settings.url, api_key=key, timeout=settings.timeout, max_retries=0)
        self._check()

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply to each request. Raises EngineError if the server does not answer one of them after all tries."""
        pool = ThreadPoolExecutor(self.settings.concurrency)
        try:
            return list(pool.map(self._reply_one, requests))
        finally:
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _check(self) -> None:
        """Make sure, before a study begins, that the server is there and has the model."""
        try:
            there = [model.id for model in self._client.with_options(timeout=10.0).models.list()]
        except OpenAIError as error:
            raise EngineError(self._silent(error)) from None
        if there and self.model not in there:
            raise EngineError(
                f"server: {self.settings.url} has no model {self.model}; it has: {', '.join(there)}. "
                "Name one: --set engine.model=NAME"
            )

    def _reply_one(self, request: Request) -> Reply:
        start = time.perf_counter()
        patient = Retrying(
            stop=stop_after_attempt(self.settings.retries + 1),
            wait=wait_random_exponential(max=LONGEST_WAIT),
            retry=retry_if_exception(_is_passing),
            reraise=True,
        )
        try:
            completion = patient(self._ask, request)
        except OpenAIError as error:
            raise EngineError(self._silent(error)) from None
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

    def _silent(self, error: Any) -> str:
        """What went wrong, without the server's own words: they may repeat what was asked."""
        status = getattr(error, "status_code", None)
        what = f"answers with status {status}" if status else f"does not answer ({type(error).__name__})"
        return (
            f"server: {self.settings.url} {what}. The ledger keeps all answers so far; run again when it is back, or "
            "without a model: --engine rules"
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


def _is_passing(error: BaseException) -> bool:
    """Whether another try may help."""
    if isinstance(error, APIStatusError):
        return error.status_code not in REFUSED
    return isinstance(error, APIConnectionError)
