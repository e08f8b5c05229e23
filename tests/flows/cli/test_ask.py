"""The dialogue of `prefstudy ask`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flows.cli.commands.ask import items
from flows.cli.main import main


def typed(monkeypatch: pytest.MonkeyPatch, answers: list[str]) -> None:
    waiting: Iterator[str] = iter(answers)
    monkeypatch.setattr(items, "typed", lambda prompt: next(waiting, "q"))


def test_answers_end_in_a_tree_and_a_recommendation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, ["1", "2", "perhaps", "u", "2", "1", "1", "q"])
    assert main(["ask", "sushi", "--simulated"]) == 0
    said = capsys.readouterr().out
    assert "Please answer 1, 2, u or q." in said
    assert "The tree of your 4 answers:" in said
    assert "You should like this one best: " in said


def test_no_answers_are_no_tree(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed(monkeypatch, [])
    assert main(["ask", "sushi", "--simulated"]) == 2
    assert "There are no answers, so there is no tree." in capsys.readouterr().err
