"""The engine `vllm` on a real vLLM, on the CPU, with a tiny Qwen3.5: `make test-vllm`, in an environment of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("vllm", reason="vLLM is not installed here: make test-vllm")

from prompts.conversation import Conversation
from prompts.engines.vllm import Vllm, VllmSettings
from prompts.feature_file import read_features
from prompts.ledger import Ledger
from prompts.patient import Patient
from prompts.questions import ask_for_feature, ask_why_chosen
from tests.engines.tiny_qwen import write_tiny_qwen

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}  # fmt: skip
PATIENTS = 60


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    os.environ.update(ENVIRONMENT)
    folder = tmp_path_factory.mktemp("tiny-qwen")
    write_tiny_qwen(folder)
    started = Vllm(VllmSettings(model=str(folder), revision="tiny", context_length=4096))
    yield started
    started.close()


def patient(number: int) -> Patient:
    message = f"I have felt dizzy for {number} days; any advice?"
    return Patient(age=40 + number % 40, gender="female", active_problems=("Asthma",), message=message)


SPECS = {spec.name: spec for spec in read_features().features}
REQUESTS = [ask_for_feature(f"a-{at:02d}", patient(at), SPECS["message_actionability"]) for at in range(PATIENTS)]


def test_a_batch_of_sixty_is_answered_under_its_schema(engine: Vllm, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        answers = Conversation(engine, ledger).ask(REQUESTS)
        assert all(answer is not None for answer in answers)
        assert [entry.problem for entry in ledger.entries()] == [None] * PATIENTS
        assert all(entry.prompt_tokens > 100 and entry.answer_tokens > 1 for entry in ledger.entries())
        assert ledger.verify() == []


def test_several_labels_are_answered_under_their_schema_too(engine: Vllm, tmp_path: Path) -> None:
    asked = [ask_for_feature(f"a-{at:02d}", patient(at), SPECS["red_flag_syndrome"]) for at in range(6)]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert None not in Conversation(engine, ledger).ask(asked)


def test_a_killed_run_is_resumed_from_the_ledger_and_asks_only_what_is_missing(engine: Vllm, tmp_path: Path) -> None:
    def dies(answered: int) -> None:
        if answered:
            raise KeyboardInterrupt

    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        with pytest.raises(KeyboardInterrupt):
            Conversation(engine, ledger, chunk_size=20, on_answered=dies).ask(REQUESTS)
        assert len(ledger) == 20
        before = list(ledger.entries())
        counts: list[int] = []
        answers = Conversation(engine, ledger, chunk_size=20, on_answered=counts.append).ask(REQUESTS)
        assert counts == [20, 20, 20]
        assert None not in answers
        kept = {entry.key: entry for entry in ledger.entries()}
        assert all(kept[entry.key] == entry for entry in before)


def test_a_model_that_thinks_answers_or_is_recorded_as_having_not(engine: Vllm, tmp_path: Path) -> None:
    """Random weights rarely end a thought. The claim is that nothing breaks and every attempt is recorded."""
    asked = ask_why_chosen("a-01_a-02", patient(1), patient(2), failure="cannot tell them apart", features=[], seed=1)
    short = asked.sampling.model_copy(update={"max_tokens": 64})
    asked = type(asked)(**{**vars(asked), "sampling": short})
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        [answer] = Conversation(engine, ledger).ask([asked])
        entries = list(ledger.entries())
    assert 1 <= len(entries) <= 3
    assert (answer is None) == all(entry.problem is not None for entry in entries)
