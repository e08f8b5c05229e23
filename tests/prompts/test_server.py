"""The engine `server`, against a small local server that works, fails or hangs up."""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any

import pytest

from prompts.conversation import Conversation
from prompts.engine import EngineError, Reply, Request
from prompts.engines.server import Server, ServerSettings
from prompts.engines.vllm import Vllm, VllmSettings
from prompts.ledger import Ledger
from tests.prompts.conftest import TRUE, questions

HANG_UP = 0


class Fake:
    """An OpenAI-compatible server.

    statuses: what the next completions are answered with (HANG_UP: not at all), then 200. headers: sent with failures.
    body: sent as the next completions instead of a well-formed one.
    """

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.headers: dict[str, str] = {}
        self.body: bytes | None = None
        self.asked: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(200, _json({"object": "list", "data": [{"id": "tiny", "object": "model"}]}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with fake.lock:
                    fake.at_once += 1
                    fake.most_at_once = max(fake.most_at_once, fake.at_once)
                    status = fake.statuses.pop(0) if fake.statuses else 200
                    fake.asked.append(body)
                    fake.times.append(time.monotonic())
                time.sleep(0.05)
                with fake.lock:
                    fake.at_once -= 1
                message = body["messages"][-1]["content"]
                if status == HANG_UP:
                    self.close_connection = True
                elif status == 200:
                    self._send(status, fake.body or _json(_completion()))
                else:
                    self._send(status, _json({"error": {"message": f"cannot do {message}"}}), fake.headers)

            def _send(self, status: int, data: bytes, headers: Mapping[str, str] = MappingProxyType({})) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()


def _completion() -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TRUE}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


@pytest.fixture
def fake() -> Iterator[Fake]:
    server = Fake()
    thread = threading.Thread(target=server.http.serve_forever)
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture
def engine(fake: Fake) -> Iterator[Server]:
    server = Server(ServerSettings(url=fake.url, model="tiny", concurrency=3, timeout=5, retries=2))
    yield server
    server.close()


def replies(engine: Server, asked: list[Request]) -> list[Reply]:
    """The replies, or the first error."""
    outcomes = list(engine.reply(asked))
    for outcome in outcomes:
        if isinstance(outcome, EngineError):
            raise outcome
    return outcomes


def test_answers_come_back_in_order_with_tokens_and_time_and_no_more_at_once_than_allowed(
    engine: Server, fake: Fake
) -> None:
    found = replies(engine, questions(9))
    assert [reply.text for reply in found] == [TRUE] * 9
    assert (found[0].prompt_tokens, found[0].answer_tokens, found[0].finish_reason) == (7, 3, "stop")
    assert found[0].seconds >= 0.05
    assert 1 < fake.most_at_once <= 3


def test_a_request_carries_schema_sampling_and_no_thinking(engine: Server, fake: Fake) -> None:
    [request] = questions(1)
    replies(engine, [request])
    [asked] = fake.asked
    assert asked["response_format"]["json_schema"]["schema"] == request.schema
    assert (asked["temperature"], asked["seed"], asked["max_tokens"]) == (0.0, 0, 512)
    assert asked["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize("failure", [429, 500, 503, HANG_UP])
def test_a_passing_failure_is_retried(failure: int, engine: Server, fake: Fake) -> None:
    fake.statuses = [failure]
    [reply] = replies(engine, questions(1))
    assert reply.text == TRUE
    assert len(fake.asked) == 2


def test_the_wait_between_retries_grows(engine: Server, fake: Fake) -> None:
    fake.statuses = [503, HANG_UP]
    replies(engine, questions(1))
    first, second, third = fake.times
    assert second - first > 0.37
    assert third - second > 0.74


def test_the_wait_before_a_retry_is_what_the_server_asks_for(engine: Server, fake: Fake) -> None:
    """Without Retry-After the first wait is half a second at most."""
    fake.statuses, fake.headers = [429], {"Retry-After": "1"}
    replies(engine, questions(1))
    first, second = fake.times
    assert second - first >= 1


def test_a_failure_that_does_not_pass_ends_after_all_retries_and_its_error_quotes_nothing(
    engine: Server, fake: Fake
) -> None:
    fake.statuses = [503] * 9
    with pytest.raises(EngineError, match="answers with status 503") as found:
        replies(engine, questions(1))
    assert len(fake.asked) == 1 + engine.settings.retries
    assert "message number" not in "".join(traceback.format_exception(found.value))


@pytest.mark.parametrize("status", [401, 403, 404, 451])
def test_a_permanent_failure_is_not_retried_and_its_error_quotes_nothing(
    status: int, engine: Server, fake: Fake
) -> None:
    fake.statuses = [status]
    with pytest.raises(EngineError, match=f"answers with status {status}") as found:
        replies(engine, questions(1))
    assert len(fake.asked) == 1
    assert "\n" not in str(found.value)
    assert "message number" not in "".join(traceback.format_exception(found.value))
    assert found.value.__cause__ is None


@pytest.mark.parametrize("body", [b"message number 1", b'"message number 1"', b"{}", b'{"choices": []}'])
def test_an_answer_in_another_protocol_is_one_clear_error_that_quotes_nothing(
    body: bytes, engine: Server, fake: Fake
) -> None:
    fake.body = body
    with pytest.raises(EngineError, match="does not answer in the OpenAI protocol") as found:
        replies(engine, questions(1))
    assert "message number" not in "".join(traceback.format_exception(found.value))


def test_a_server_that_fails_midway_leaves_the_ledger_with_what_was_answered(
    engine: Server, fake: Fake, ledger: Ledger
) -> None:
    conversation = Conversation(engine, ledger, chunk_size=2)
    conversation.ask(questions(2))
    fake.statuses = [401] * 9
    with pytest.raises(EngineError, match="The ledger keeps all answers so far"):
        conversation.ask(questions(6))
    assert len(ledger) == 2
    fake.statuses = []
    assert all(Conversation(engine, ledger, chunk_size=2).ask(questions(6)))
    assert ledger.verify() == []


def test_a_server_that_is_not_there_is_one_clear_line() -> None:
    with pytest.raises(
        EngineError, match=r"server: http://127\.0\.0\.1:9/v1 does not answer .*--engine rules"
    ) as found:
        Server(ServerSettings(url="http://127.0.0.1:9/v1"))
    assert "\n" not in str(found.value)


def test_a_model_the_server_has_not_is_named_with_those_it_has(fake: Fake) -> None:
    with pytest.raises(EngineError, match=r"has no model huge; it has: tiny"):
        Server(ServerSettings(url=fake.url, model="huge"))


def test_not_even_in_detail_do_the_clients_log_what_was_asked(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = Server(ServerSettings(url=fake.url, model="tiny"))
    replies(server, questions(1))
    server.close()
    assert "message number" not in caplog.text


def test_without_vllm_the_engine_says_in_one_line_what_would_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prompts.engines.vllm.find_spec", lambda _: None)
    with pytest.raises(EngineError, match=r"vllm: vLLM is not installed.*--engine server .* --engine rules") as found:
        Vllm(VllmSettings())
    assert "\n" not in str(found.value)
