"""The engine `server` over HTTP against a real llama.cpp with a real, small model: `make test-llama`."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from prompts.answers import value_in
from prompts.conversation import Conversation
from prompts.engines.server import Server, ServerSettings
from prompts.feature_file import read_features
from prompts.ledger import Ledger
from prompts.questions import ask_for_feature
from tests.prompts.conftest import patient_who_writes

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-llama" / "bin" / "python"
MODEL = "smollm2-135m-instruct"
SPECS = {spec.name: spec for spec in read_features().features}

pytestmark = pytest.mark.skipif(not PYTHON.is_file(), reason="llama.cpp is not installed here: make test-llama")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).with_name("llama_server.py")
    server = subprocess.Popen([PYTHON, script, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        assert any(line.startswith("READY") for line in server.stdout)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


def test_a_real_server_answers_under_the_schema_of_every_kind_of_feature(url: str, tmp_path: Path) -> None:
    engine = Server(ServerSettings(url=url, model=MODEL, concurrency=1, can_think=False, timeout=200))
    patient = patient_who_writes("I have chest pain since this morning.", "Asthma")
    asked = [SPECS[name] for name in ("message_actionability", "acuity_conflict", "infection_risk_context")]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        answers = Conversation(engine, ledger).ask([ask_for_feature("a-01", patient, spec) for spec in asked])
        assert [entry.problem for entry in ledger.entries()] == [None] * 3
        assert all(entry.prompt_tokens > 100 for entry in ledger.entries())
    actionability, conflict, risks = (value_in(answer, spec) for answer, spec in zip(answers, asked, strict=True))
    assert actionability in asked[0].values
    assert conflict in asked[1].values
    assert set(risks) <= set(asked[2].values)
    engine.close()
