"""Patients, questions about them, and an engine with scripted answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from models.records.feature_spec import FeatureSpec
from models.records.features import FeatureKind
from prompts.engine import Reply, Request
from prompts.feature_file import read_features
from prompts.ledger import Ledger
from prompts.patient import Patient
from prompts.questions import ask_for_feature

YES_NO = FeatureSpec(name="has_fever", kind=FeatureKind.BINARY, instruction="Does the patient have a fever now?")
TRUE, NONSENSE = '{"value":true}', "Certainly! Here is the JSON"


class Scripted:
    """Answers with what `says` returns, and keeps the batches of requests."""

    model = "scripted"
    revision = "1"

    def __init__(self, says: Callable[[Request], str] = lambda _: TRUE) -> None:
        self.says = says
        self.batches: list[list[Request]] = []

    def reply(self, requests: Sequence[Request]) -> list[Reply]:
        self.batches.append(list(requests))
        return [
            Reply(text=self.says(request), finish_reason="stop", prompt_tokens=10, answer_tokens=5, seconds=0.5)
            for request in requests
        ]

    def close(self) -> None:
        self.batches = []


def patient_who_writes(message: str, *problems: str, age: int = 50, medications: Sequence[str] = ()) -> Patient:
    return Patient(age=age, gender="female", active_problems=problems, medications=tuple(medications), message=message)


def questions(n: int) -> list[Request]:
    return [ask_for_feature(f"a-{at:02d}", patient_who_writes(f"message number {at}"), YES_NO) for at in range(n)]


@pytest.fixture
def ledger(tmp_path: Path):
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.fixture(scope="session")
def table9() -> dict[str, FeatureSpec]:
    return {spec.name: spec for spec in read_features().features}
