"""The engine `server`: any server with the OpenAI protocol, such as a remote vLLM or a llama.cpp on a laptop."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal, TypeVar

from openai import APIConnectionError, APIStatusError, OpenAI, OpenAIError
from pydantic import AfterValidator, Field, HttpUrl, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from models.records.base import Record
from models.records.plain_text import escaped, unprintable
from prompts.engine import EngineError, Reply, Request, refusal
from prompts.engines.completion import MalformedReplyError, is_too_long, read_completion, read_models
from prompts.engines.waiting import pause_before, seconds_asked_for

CHATTY_LOGGERS = ("openai", "httpx", "httpcore", "httpx2", "httpcore2")
"""At level DEBUG these log every message."""
SECONDS_TO_LIST_MODELS = 10.0
RETRIES_OF_THE_LIST = 2
MOST_MODELS_NAMED = 5
MOST_ALONE = 5
"""Requests of a batch that may fail at every try before one is answered. After one more, the server is to blame."""

OVERLOADED = {408, 409, 425, 429, 502, 503, 504}
"""Statuses that may pass, and that speak of the server, whatever it was asked. Others from 500 up may pass too."""
OF_ONE_REQUEST = {400, 413, 422}
"""Statuses that say what is wrong with a request, while others may be answered."""
LATER = "The ledger keeps all answers so far; run again when it works, or without a model: --engine rules"
CHANGE = "The ledger keeps all answers so far; to run again helps only after a change."
ADVICE = {
    401: "Set the server's key: OPENAI_API_KEY.",
    403: "Set a key that may use this model: OPENAI_API_KEY.",
    404: "Check the address, which usually ends in /v1: --set engine.url=URL",
}

NO_CONNECTION, NO_ANSWER = "does not answer (no connection)", "does not answer in time"
TOO_LONG = ": longer than the model's context"

T = TypeVar("T")


class _CannotBeAsked(Exception):  # noqa: N818  it never leaves this module
    """Why one try failed, though the next may not. wait: the seconds until then that the server asks for.

    alone: whether it may be the fault of this one request.
    """

    def __init__(self, what: str, *, wait: float | None = None, alone: bool = False) -> None:
        super().__init__(what)
        self.what, self.wait, self.alone = what, wait, alone


class _PersistentError(EngineError):
    """The same failure at every try. alone: whether it may be the fault of this one request."""

    def __init__(self, told: str, failure: _CannotBeAsked) -> None:
        super().__init__(told)
        self.what, self.alone = failure.what, failure.alone


def _printable(text: str) -> str:
    if unprintable(text):
        raise PydanticCustomError("unprintable", "a name holds no control characters")
    return text


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
    model: Annotated[str, AfterValidator(_printable)] = Field(
        default="Qwen/Qwen3.5-27B", description="name of the model on the server"
    )
    revision: Annotated[str, AfterValidator(_printable)] = Field(
        default="as served", description="revision of the model, as recorded in the ledger"
    )
    concurrency: int = Field(default=8, ge=1, le=256, description="requests sent at the same time")
    timeout: float = Field(default=300.0, gt=0, description="seconds to wait for one answer")
    retries: int = Field(
        default=5,
        ge=0,
        description="retries after a status 429 or 5xx, a timeout, a broken connection or a malformed reply; the wait "
        "doubles each time, or is what the server's Retry-After says, up to ten minutes",
    )
    can_think: bool = Field(default=True, description="whether the model has a thinking mode to switch on and off")


class Server:
    """Asks a server, several requests at a time. A request that fails for a passing reason is asked again."""

    def __init__(self, settings: ServerSettings) -> None:
        for name in CHATTY_LOGGERS:
            logger = logging.getLogger(name)
            logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))
        self.model, self.revision, self.settings = settings.model, settings.revision, settings
        # The client insists on a key; a server of one's own needs none. It does not retry: a malformed reply would
        # need a retry of our own anyway, and the waits of both would multiply.
        key = os.environ.get("OPENAI_API_KEY", "none")
        self._client = OpenAI(base_url=settings.url, api_key=key, timeout=settings.timeout, max_retries=0)
        self._check()

    def reply(self, requests: Sequence[Request]) -> Iterator[Reply | EngineError]:
        """The outcome of each request, in their order. After the first EngineError no further request is sent."""
        pool, failed = ThreadPoolExecutor(self.settings.concurrency), _Failed()
        try:
            for asked in [pool.submit(self._outcome, request, failed) for request in requests]:
                yield asked.result()
        finally:
            failed.event.set()
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _check(self) -> None:
        """Raise EngineError if the server does not answer or does not have the model.

        A server that is not there is not waited for: the study has not started, so nothing is lost.
        """
        client = self._client.with_options(timeout=SECONDS_TO_LIST_MODELS)
        there = self._insist(
            lambda: read_models(client.models.with_raw_response.list().content),
            threading.Event(),
            retries=min(RETRIES_OF_THE_LIST, self.settings.retries),
            wait_for_connection=False,
        )
        if there and self.model not in there:
            more = f" and {len(there) - MOST_MODELS_NAMED:,} more" if len(there) > MOST_MODELS_NAMED else ""
            raise EngineError(
                f"server: {self.settings.url} has no model {self.model}; it has: "
                f"{escaped(', '.join(there[:MOST_MODELS_NAMED]))}{more}. Name one: --set engine.model=NAME"
            )

    def _outcome(self, request: Request, failed: _Failed) -> Reply | EngineError:
        """The reply to one request, or the error that keeps it from coming."""
        if failed.error is not None:
            return failed.error
        try:
            reply = self._insist(lambda: self._ask(request), failed.event, retries=self.settings.retries)
        except EngineError as error:
            if isinstance(error, _PersistentError) and error.alone and failed.may_be_alone() and self._answers_others():
                return refusal(f"the server {error.what}, at every try, and answers others")
            failed.error = failed.error or error
            failed.event.set()
            return error
        failed.answered = True
        return reply

    def _answers_others(self) -> bool:
        """Whether the server answers a question that holds nothing, so that another one is itself what it fails at."""
        question: dict[str, Any] = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1}
        try:
            raw = self._client.chat.completions.with_raw_response.create(model=self.model, **question)
            read_completion(raw.content, seconds=0.0)
        except (OpenAIError, MalformedReplyError):
            return False
        return True

    def _insist(
        self, ask: Callable[[], T], stop: threading.Event, *, retries: int, wait_for_connection: bool = True
    ) -> T:
        """What the server answers, after some retries and waits. Raises EngineError; it quotes nothing of a reply."""
        for retry in range(retries + 1):
            failure = self._try(ask)
            if not isinstance(failure, _CannotBeAsked):
                return failure
            wait = pause_before(retry, failure.wait)
            if wait is None:
                raise EngineError(self._complaint(f"{failure.what} and asks to wait {failure.wait:,.0f} s", LATER))
            is_last = retry == retries or (failure.what == NO_CONNECTION and not wait_for_connection)
            if is_last:
                raise _PersistentError(self._complaint(failure.what, LATER), failure)
            if stop.wait(wait):
                raise EngineError(self._complaint(failure.what, LATER))
        raise AssertionError("the last retry returns or raises")

    def _try(self, ask: Callable[[], T]) -> T | _CannotBeAsked:
        """One try. Raises EngineError for what no retry changes."""
        try:
            return ask()
        except MalformedReplyError as error:
            return _CannotBeAsked(f"does not answer in the OpenAI protocol: it {error}", alone=True)
        except APIStatusError as error:
            what = f"answers with status {error.status_code}"
            if error.status_code in OVERLOADED or error.status_code >= 500:
                wait = seconds_asked_for(error.response.headers)
                return _CannotBeAsked(what, wait=wait, alone=error.status_code not in OVERLOADED)
            advice = f"{ADVICE.get(error.status_code, '')} {CHANGE}".strip()
            raise EngineError(self._complaint(what, advice)) from None
        except APIConnectionError as error:
            # A timeout is one too. Its own class tells a server that is not there from one that is slow.
            is_there = type(error) is not APIConnectionError
            return _CannotBeAsked(NO_ANSWER if is_there else NO_CONNECTION, alone=is_there)
        except (OpenAIError, ValueError, TypeError) as error:  # a key or a text that no HTTP message can hold
            what = f"cannot be asked ({type(error).__name__})"
            raise EngineError(self._complaint(what, f"Check OPENAI_API_KEY and engine.url. {CHANGE}")) from None

    def _ask(self, request: Request) -> Reply:
        """One reply. A request that the server refuses for its content gets a reply that says so."""
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
        start = time.perf_counter()
        try:
            raw = self._client.chat.completions.with_raw_response.create(**asked)
        except APIStatusError as error:
            too_long = is_too_long(error.response.text)
            if error.status_code in OF_ONE_REQUEST or (too_long and error.status_code >= 500):
                return refusal(f"status {error.status_code}{TOO_LONG if too_long else ''}")
            raise
        return read_completion(raw.content, time.perf_counter() - start)

    def _complaint(self, what: str, advice: str) -> str:
        return f"server: {self.settings.url} {what}. {advice}"


class _Failed:
    """Whether a request of a batch has failed for good: then no further one is sent, and no other waits any longer."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.error: EngineError | None = None
        self.answered = False
        self._alone = 0

    def may_be_alone(self) -> bool:
        """Whether one more request may be to blame for its failure: not where many fail and none was answered."""
        self._alone += 1
        return self.answered or self._alone <= MOST_ALONE
