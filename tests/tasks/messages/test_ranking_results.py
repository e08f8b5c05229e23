"""The results of the PMR study: changes without a feature, signed and in order, and what may be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.records.results import MetricRow
from prompts.conversation import Conversation
from prompts.engines.rules import Rules
from prompts.feature_file import read_features
from prompts.ledger import Ledger
from tasks.messages.feature_loop import Search
from tasks.messages.plain_models import write_plain
from tasks.messages.ranking_results import PUBLISHED_MODEL, comparability, feature_worth, write_results
from tasks.messages.reading_messages import extract_features
from tasks.messages.settings import TreeSettings
from tasks.runs.results import METRICS
from tests.tasks.messages.pmr_inboxes import simulated_inboxes

START = read_features().starting


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pmr")
    boxes = simulated_inboxes(folder)
    with Ledger(folder / "ledger.sqlite") as ledger:
        talk = Conversation(Rules(START), ledger)
        train, test = (extract_features(talk, box, START) for box in boxes)
    out = folder / "results"
    out.mkdir()
    search = Search(START, train, (), "nothing was searched for")
    write_results(
        out, boxes, search, test, (), settings=TreeSettings(), readable_depth=2, model=PUBLISHED_MODEL
    )  # fmt: skip
    return out


def test_a_delta_is_the_accuracy_without_a_feature_minus_the_one_with_all(results: Path) -> None:
    rows = METRICS.validate_json((results / "metrics.json").read_bytes())
    value = {(row.variant, row.metric, row.split): row.value for row in rows if row.model == "preference_tree"}
    changes = {key: change for key, change in value.items() if key[1] == "delta_accuracy"}
    assert {name for name, _, _ in changes} == {spec.name for spec in START}
    for (name, _, split), change in changes.items():
        assert change == pytest.approx(value[name, "accuracy", split] - value["all_features", "accuracy", split])
    assert min(changes.values()) < 0, "some feature is missed, so that the sign shows"


def test_published_values_stand_beside_the_tree_with_all_features_and_each_feature_left_out(results: Path) -> None:
    rows = METRICS.validate_json((results / "metrics.json").read_bytes())
    published = {(row.variant, row.metric, row.split): row.published for row in rows if row.published is not None}
    assert published["all_features", "accuracy", "test"] == 0.699
    assert published["message_actionability", "delta_accuracy", "test"] == -0.176
    assert ("readable", "accuracy", "test") not in published
    assert ("message_actionability", "accuracy", "test") not in published


def test_the_feature_missed_most_on_the_second_inbox_comes_first(results: Path) -> None:
    changes = [each["change"]["test"] for each in json.loads((results / "feature_worth.json").read_text())]
    assert changes == sorted(changes)
    common = {"study": "pmr", "model": "preference_tree"}
    rows = [
        MetricRow(variant=name, metric=metric, split=split, value=value, **common)
        for name, value in (("b", -0.1), ("a", 0.2), ("c", -0.3))
        for split in ("train", "test")
        for metric in ("accuracy", "delta_accuracy")
    ]
    assert [each.feature for each in feature_worth(rows, ["a", "b", "c", "d"])] == ["c", "b", "a"]


def test_published_values_are_comparable_only_with_the_same_model_on_the_published_files(tmp_path: Path) -> None:
    [first, second] = [
        box.table.manifest.model_copy(update={"simulated": False}) for box in simulated_inboxes(tmp_path)
    ]
    assert comparability([first, second], PUBLISHED_MODEL).comparable
    simulated = second.model_copy(update={"simulated": True})
    assert comparability([first, simulated], PUBLISHED_MODEL).obstacles == ("simulated",)
    unpinned = first.model_copy(update={"unpinned": True})
    found = comparability([unpinned, second], "keyword rules")
    assert found.obstacles == ("unpinned", "other_model")
    assert not found.comparable


def test_where_no_feature_differs_between_messages_no_number_of_a_tree_is_written(tmp_path: Path) -> None:
    boxes = simulated_inboxes(tmp_path)
    same = [{spec.name: [spec.values[0]] * len(box.ids) for spec in START} for box in boxes]
    search = Search(START, same[0], (), "nothing was searched for")
    write_results(tmp_path, boxes, search, same[1], (), settings=TreeSettings(), readable_depth=2, model="tiny")
    write_plain("pmr", tmp_path, boxes, START, same, START, same, settings=TreeSettings())
    rows = METRICS.validate_json((tmp_path / "metrics.json").read_bytes())
    assert {row.value for row in rows if row.model == "preference_tree"} == {None}
    assert all(row.value is not None for row in rows if row.model in {"coin", "text_logit"})
    assert json.loads((tmp_path / "feature_worth.json").read_text()) == []
