"""Servers that misbehave: their replies are asked for again, or told of in one clear error, and never quoted."""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from prompts.conversation import Conversation
from prompts.engine import REFUSED, EngineError
from prompts.engines import waiting
from prompts.engines.server import Server, ServerSettings
from prompts.ledger import Ledger
from prompts.questions import ask_for_feature
from prompts.unusable import UnusableModelError
from tests.prompts.conftest import TRUE, YES_NO, patient_who_writes, questions

SECRET = "quetzalcoatlus"
JSON, HTML = "application/json", "text/html"
Answer = Callable[[str, int], tuple[int, bytes]]
"""From the last message and the number of requests so far to status and body."""


class BadServer:
    """An OpenAI-like server whose completions are what `answer` says; `models` is its list of models."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.asked = answer, 0
        self.models = packed({"data": [{"id": "tiny"}]})
        self.headers: dict[str, str] = {}
        bad, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(200, bad.models)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    bad.asked += 1
                    number = bad.asked
                self._send(*bad.answer(body["messages"][-1]["content"], number))

            def _send(self, status: int, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                for name, value in bad.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def engine(self, **settings: Any) -> Server:
        return Server(ServerSettings(url=self.url, model="tiny", timeout=5, **{"retries": 2, **settings}))

    def stop(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Answer], BadServer]]:
    monkeypatch.setattr(waiting, "FIRST_PAUSE", 0.01)
    started: list[BadServer] = []

    def start(answer: Answer) -> BadServer:
        started.append(BadServer(answer))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def packed(document: Any) -> bytes:
    return json.dumps(document).encode()


def completion(content: Any = TRUE, finish: Any = "stop", **changes: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    choices = [{"index": 0, "finish_reason": finish, "message": message}]
    return {"choices": choices, "usage": {"prompt_tokens": 7, "completion_tokens": 3}} | changes


MALFORMED = {
    "a page": b"<html>Log in, " + SECRET.encode() + b"</html>",
    "nothing": b"",
    "JSON cut off": packed(completion(SECRET))[:90],
    "no UTF-8": b'{"choices": "\xff\xfe',
    "too deep": b"[" * 100_000,
    "a text": packed(SECRET),
    "a list": packed([SECRET]),
    "a number": b"1e999",
    "no choices": packed({"error": {"code": 429, "message": SECRET}}),
    "choices null": packed(completion(choices=None)),
    "choices empty": packed(completion(choices=[])),
    "a choice null": packed(completion(choices=[None])),
    "no message": packed(completion(choices=[{"index": 0}])),
    "message null": packed(completion(choices=[{"message": None}])),
    "content a list": packed(completion([{"type": "text", "text": SECRET}])),
    "content a number": packed(completion(3)),
    "content an object": packed(completion({"value": SECRET})),
}
USABLE = {
    "finish_reason null": completion(finish=None),
    "finish_reason a number": completion(finish=3),
    "usage null": completion(usage=None),
    "usage a list": completion(usage=[]),
    "counts null": completion(usage={"prompt_tokens": None, "completion_tokens": None}),
    "counts that are none": completion(usage={"prompt_tokens": -1, "completion_tokens": "many"}),
    "counts beyond SQLite": completion(usage={"prompt_tokens": 10**30, "completion_tokens": 1.5}),
    "thinking before the answer": completion(f"<think>hm</think>\n{TRUE}"),
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_reply_is_asked_for_again_and_then_told_in_one_line_that_quotes_nothing(
    body: bytes, serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(lambda _, number: (200, body))
    with pytest.raises(EngineError, match=r"does not answer in the OpenAI protocol: .* run again") as found:
        Conversation(server.engine(), ledger).ask(questions(1))
    assert server.asked == 3 + 1, "three tries, and one question that could show that the server works"
    told = "".join(traceback.format_exception(found.value))
    assert SECRET not in told
    assert "message number" not in told
    server.answer, server.asked = lambda _, number: (200, body if number == 1 else packed(completion())), 0
    assert Conversation(server.engine(), ledger).ask(questions(1)) != [None]


@pytest.mark.parametrize("body", USABLE.values(), ids=USABLE)
def test_an_answer_with_odd_things_around_it_is_used(
    body: dict[str, Any], serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    [answer] = Conversation(serve(lambda *_: (200, packed(body))).engine(), ledger).ask(questions(1))
    assert answer.value is True
    assert ledger.verify() == []


def test_an_answer_cut_off_within_an_emoji_is_recorded_as_refused(
    serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(lambda *_: (200, packed(completion("tired \ud83d", finish="length"))))
    assert Conversation(server.engine(), ledger).ask(questions(1)) == [None]
    assert {row.answer for row in ledger.entries()} == {"tired \ufffd"}


@pytest.mark.parametrize(
    "listed", [b"<html>", b"", b"[]", b'{"data": null}', b'{"data": [null]}', b'{"data": [{"id": 3}]}']
)
def test_a_broken_list_of_models_is_one_clear_error(listed: bytes, serve: Callable[[Answer], BadServer]) -> None:
    server = serve(lambda *_: (200, b""))
    server.models = listed
    with pytest.raises(EngineError, match="does not answer in the OpenAI protocol"):
        server.engine()


def test_names_of_models_are_shown_escaped_and_not_all_of_them(serve: Callable[[Answer], BadServer]) -> None:
    server = serve(lambda *_: (200, b""))
    server.models = packed({"data": [{"id": f"\x1b[31m{at}"} for at in range(900)]})
    with pytest.raises(EngineError, match=r"it has: \\x1b\[31m0, .* and 895 more\."):
        server.engine()


def test_a_wait_of_a_day_is_not_waited_for(serve: Callable[[Answer], BadServer], ledger: Ledger) -> None:
    server = serve(lambda *_: (429, b"{}"))
    server.headers = {"Retry-After": "86400"}
    with pytest.raises(EngineError, match="status 429 and asks to wait 86,400 s"):
        Conversation(server.engine(), ledger).ask(questions(1))
    assert server.asked == 1


def long_record(text: str, _: int) -> tuple[int, bytes]:
    if len(text) > 20_000:
        return 400, packed({"error": {"message": f"maximum context length is 4096 tokens: {SECRET}"}})
    return 200, packed(completion())


@pytest.mark.parametrize("chunk_size", [1, 2, 256])
def test_one_record_too_long_is_missing_with_its_reason_and_never_asked_again(
    chunk_size: int, serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(long_record)
    asked = questions(6)
    asked[2] = ask_for_feature("a-02", patient_who_writes("long " * 9000), YES_NO)
    for _ in range(2):
        talk = Conversation(server.engine(), ledger, chunk_size=chunk_size)
        assert [answer is None for answer in talk.ask(asked)] == [at == 2 for at in range(6)]
        [count] = talk.counts()
        assert (count.refused, count.missing) == (0, 1)
        assert count.reasons == {"status 400: longer than the model's context": 1}
    assert server.asked == 6
    [row] = [row for row in ledger.entries() if row.finish_reason == REFUSED]
    assert (row.subject, row.problem) == ("a-02", "status 400: longer than the model's context")


def test_where_everything_is_refused_nothing_is_recorded_and_the_advice_is_to_change_something(
    serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(lambda *_: (400, b"unknown field chat_template_kwargs"))
    with pytest.raises(EngineError, match=r"takes none of 8 requests \(status 400\).*only after a change"):
        Conversation(server.engine(), ledger).ask(questions(8))
    assert len(ledger) == 0
    server.answer = lambda *_: (200, packed(completion()))
    assert all(Conversation(server.engine(), ledger).ask(questions(8)))


def test_answers_of_a_chunk_are_kept_where_one_request_fails_and_are_not_asked_again(
    serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(lambda text, _: (503, b"") if "number 5" in text else (200, packed(completion())))
    with pytest.raises(EngineError, match=r"status 503\..* run again when it works"):
        Conversation(server.engine(concurrency=1), ledger).ask(questions(6))
    assert len(ledger) == 5
    server.answer, server.asked = lambda *_: (200, packed(completion())), 0
    assert all(Conversation(server.engine(), ledger).ask(questions(6)))
    assert server.asked == 1


OF_ONE = {
    "status 500": (500, b""),
    "no JSON": (200, b"<html>"),
    "a filter": (200, packed(completion(choices=[{"finish_reason": "content_filter", "message": None}]))),
}


@pytest.mark.parametrize("failure", OF_ONE.values(), ids=OF_ONE)
@pytest.mark.parametrize("concurrency", [1, 4])
def test_one_request_that_fails_at_every_try_is_missing_with_its_reason_and_does_not_stop_the_study(
    failure: tuple[int, bytes], concurrency: int, serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(lambda text, _: failure if "number 0" in text else (200, packed(completion())))
    for _ in range(2):
        talk = Conversation(server.engine(concurrency=concurrency), ledger, chunk_size=3)
        assert [answer is None for answer in talk.ask(questions(6))] == [at == 0 for at in range(6)]
    [(reason, number)] = talk.counts()[0].reasons.items()
    assert reason.startswith("the server ")
    assert reason.endswith(", at every try, and answers others")
    assert number == 1
    assert server.asked == 5 + 3 + 1, "five answers, three tries, and one question that shows that the server works"


def test_the_last_request_of_a_study_that_fails_at_every_try_does_not_block_it(
    serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(lambda text, _: (503 if "number 5" in text else 200, packed(completion())))
    with pytest.raises(EngineError, match=r"status 503\."):
        Conversation(server.engine(concurrency=1), ledger).ask(questions(6))
    server.answer = lambda text, _: (500 if "number 5" in text else 200, packed(completion()))
    assert Conversation(server.engine(), ledger).ask(questions(6))[5] is None


def test_a_server_that_fails_at_all_of_a_study_but_answers_a_word_is_soon_given_up(
    serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(lambda text, _: (500 if "number" in text else 200, packed(completion())))
    with pytest.raises(EngineError, match=r"status 500\. .* run again when it works"):
        Conversation(server.engine(concurrency=1), ledger).ask(questions(40))
    assert (server.asked, len(ledger)) == (6 * 3 + 5, 0)


UNUSABLE = {
    "are empty: a reasoning parser": completion(None),
    "were cut at the length limit": completion("{", finish="length"),
    "hold thinking": completion("<think> well"),
    "are no JSON": completion(f"```json\n{TRUE}\n```"),
    "break the schema": completion('{"value": NaN}'.replace("NaN", f'"{SECRET}"')),
}


@pytest.mark.parametrize(("advice", "body"), UNUSABLE.items(), ids=UNUSABLE)
def test_a_model_without_a_usable_answer_stops_after_the_first_chunk_and_says_what_to_check(
    advice: str, body: dict[str, Any], serve: Callable[[Answer], BadServer], ledger: Ledger
) -> None:
    server = serve(lambda *_: (200, packed(body)))
    with pytest.raises(
        UnusableModelError, match=f"no usable answer to any of 8 requests .*\n  24 of 24 answers {advice}"
    ) as found:
        Conversation(server.engine(), ledger, chunk_size=8).ask(questions(20))
    assert SECRET not in str(found.value)
    assert server.asked == 24
    with pytest.raises(UnusableModelError):
        Conversation(server.engine(), ledger, chunk_size=8).ask(questions(20))
    assert server.asked == 24, "nothing is asked twice"
