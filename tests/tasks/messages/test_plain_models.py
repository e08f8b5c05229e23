"""Plain models of messages: the first inbox chooses and fits, and no word of a patient is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.records.results import MetricRow
from models.records.studies.message_results import PLAIN_VARIANTS
from prompts.conversation import Conversation
from prompts.engines.rules import Rules
from prompts.feature_file import read_features
from prompts.ledger import Ledger
from tasks.messages.inbox import Inbox
from tasks.messages.plain_models import write_plain
from tasks.messages.reading_messages import extract_features
from tasks.messages.settings import TreeSettings
from tasks.runs.results import METRICS, write_metrics
from tests.tasks.messages.pmr_inboxes import simulated_inboxes

START = read_features().starting


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Inbox, ...], list]:
    folder = tmp_path_factory.mktemp("plain")
    boxes = simulated_inboxes(folder)
    with Ledger(folder / "ledger.sqlite") as ledger:
        talk = Conversation(Rules(START), ledger)
        return boxes, [extract_features(talk, box, START) for box in boxes]


def written(folder: Path, boxes, values, specs) -> list[MetricRow]:
    whole = {"study": "pmr", "model": "preference_tree", "variant": "all_features", "metric": "accuracy"}
    write_metrics(folder / "metrics.json", [MetricRow(**whole, split="test", value=0.9)])
    write_plain("pmr", folder, boxes, specs, values, START, values, settings=TreeSettings())
    return list(METRICS.validate_json((folder / "metrics.json").read_bytes()))


def test_each_plain_model_is_scored_on_both_inboxes_and_the_best_of_them_stands_beside_the_tree(read, tmp_path: Path):
    boxes, values = read
    rows = written(tmp_path, boxes, values, START[:2])
    accuracy = {(row.variant, row.split): row.value for row in rows if row.metric == "accuracy"}
    assert {variant for variant, _ in accuracy} == {"all_features", *PLAIN_VARIANTS}
    assert accuracy["coin", "test"] == 0.5
    [beside] = json.loads((tmp_path / "beside_plain.json").read_text())
    best = max(PLAIN_VARIANTS, key=lambda name: accuracy[name, "test"])
    assert beside["plain"] == best
    assert beside["difference"]["over"] == "other patients"


def test_plain_models_have_intervals_over_patients_on_the_inbox_that_none_was_fitted_to(read, tmp_path: Path):
    boxes, values = read
    rows = [row for row in written(tmp_path, boxes, values, START[:2]) if row.metric == "accuracy"]
    known = {(row.variant, row.split) for row in rows if row.lower is not None}
    assert known == {(name, "test") for name in PLAIN_VARIANTS if name != "coin"}
    [beside] = json.loads((tmp_path / "beside_plain.json").read_text())
    difference = beside["difference"]
    assert difference["lower"] < difference["estimate"] < difference["upper"]


def test_the_single_feature_is_chosen_without_the_second_inbox(read, tmp_path: Path):
    boxes, (train, test) = read
    chosen = []
    for at, second in enumerate((test, {name: list(reversed(each)) for name, each in test.items()})):
        folder = tmp_path / str(at)
        folder.mkdir()
        written(folder, boxes, (train, second), START)
        chosen.append((folder / "chosen_single.json").read_text())
    assert chosen[0] == chosen[1]


def test_the_start_features_are_left_out_where_the_search_ended_with_them(read, tmp_path: Path):
    boxes, values = read
    assert "start_features" not in {row.variant for row in written(tmp_path, boxes, values, START)}


def test_no_text_of_a_patient_is_written(read, tmp_path: Path):
    boxes, values = read
    written(tmp_path, boxes, values, START)
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir()).decode()
    assert not [text for box in boxes for text in box.texts if len(text) > 8 and text in everything]
