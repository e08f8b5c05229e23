"""Questions to somebody with a clear taste recover that taste."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from models.records.errors import UsageError
from models.trees.preference_tree import numeric_columns
from tasks.asking import questionnaire as questionnaire_module
from tasks.asking.questionnaire import Questionnaire

ITEMS = np.random.default_rng(3).uniform(size=(10, 3))
LABELS = [f"dish {number}" for number in range(10)]


@pytest.fixture
def questionnaire() -> Questionnaire:
    return Questionnaire(ITEMS, numeric_columns(["oil", "price", "salt"]), LABELS, seed=1)


def answer(questionnaire: Questionnaire, questions: int) -> None:
    """Answers of somebody who prefers less oil."""
    for _ in range(questions):
        one, other = questionnaire.next_pair()
        questionnaire.prefer((one, other) if ITEMS[one, 0] < ITEMS[other, 0] else (other, one))


def test_a_clear_taste_is_found_and_no_pair_is_asked_twice(questionnaire: Questionnaire) -> None:
    answer(questionnaire, 15)
    asked = {tuple(sorted(pair)) for pair in questionnaire._answers}
    assert len(asked) == 15
    assert questionnaire.recommended() == int(ITEMS[:, 0].argmin())
    best = questionnaire.ranking(questionnaire.tree())[0]
    assert LABELS[int(ITEMS[:, 0].argmin())] in best.items
    assert best.rank == 1


def test_an_answer_taken_back_is_asked_again(questionnaire: Questionnaire) -> None:
    answer(questionnaire, 3)
    pair = questionnaire.next_pair()
    questionnaire.prefer(pair)
    questionnaire.take_back()
    assert questionnaire.next_pair() == pair
    assert questionnaire.n_answers == 3


def test_all_items_are_ranked_once(questionnaire: Questionnaire) -> None:
    answer(questionnaire, 9)
    ranked = questionnaire.ranking(questionnaire.tree())
    assert sorted(item for group in ranked for item in group.items) == sorted(LABELS)
    assert [group.utility for group in ranked] == sorted((group.utility for group in ranked), reverse=True)


def test_items_without_names_or_too_many_of_them_cannot_be_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = adapter("sushi")
    simulate(source, tmp_path / "raw", seed=0, users=2)
    table = build(source, locate(source, tmp_path / "raw"))[0]
    assert Questionnaire.about(table, seed=0).labels[0] == "ebi"
    with pytest.raises(UsageError, match="have no names"):
        Questionnaire.about(dataclasses.replace(table, items=table.items.drop_columns("label")), seed=0)
    monkeypatch.setattr(questionnaire_module, "MOST_ITEMS", 9)
    with pytest.raises(UsageError, match="has 10 items; at most 9 can be asked about"):
        Questionnaire.about(table, seed=0)
