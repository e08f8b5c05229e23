"""The dialogues of `prefstudy ask box`: at the terminal, and with a program by JSON lines."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.cli.commands.ask import box
from flows.cli.main import main

CONFIG = """
question = "Which coffee?"
n_initial = 3

[[features]]
name = "water"
lower = 85
upper = 96
step = 1
unit = "°C"

[[features]]
name = "coffee [dose]"
lower = 12
upper = 22
step = 0.5
unit = "g"
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "coffee.toml"
    file.write_text(CONFIG, encoding="utf-8")
    return file


def talk(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *lines: str) -> list[dict[str, Any]]:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    assert main(["ask", "box", "--config", "coffee.toml", "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def do(word: str) -> str:
    return json.dumps({"do": word})


def test_a_program_asks_answers_undoes_and_gets_the_result(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = talk(
        monkeypatch, capsys, do("result"), do("first"), "what?", do("third"), do("skip"), do("undo"), do("second"),
        do("result"), do("quit"), do("first"),
    )  # fmt: skip
    assert [event["event"] for event in said] == [
        "question", "error", "question", "error", "error", "question", "question", "question", "result",
    ]  # fmt: skip
    assert said[1]["message"] == "there is no answer to learn from"
    assert 'expected {"do": one of first, second,' in said[3]["message"]
    assert set(said[0]["first"]) == {"water", "coffee [dose]"}
    assert (said[5]["answered"], said[5]["skipped"]) == (1, 1)
    assert {**said[6]} == said[2]  # the undone question stands again
    result = said[8]
    assert (result["answered"], result["skipped"]) == (2, 0)
    assert 85 <= result["recommended"]["water"] <= 96
    assert result["tree"]["columns"][0]["unit"] == "°C"
    assert "comparison" in result["text"]


def test_after_a_kill_the_same_question_is_asked(config: Path) -> None:
    command = [sys.executable, "-c", "import sys; from flows.cli.main import main; sys.exit(main(sys.argv[1:]))"]
    options = ["ask", "box", "--config", str(config), "--json", "--state", "kept"]
    started = subprocess.Popen([*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdin is not None
    assert started.stdout is not None
    for word in ("first", "skip", "second", "second"):
        started.stdout.readline()
        started.stdin.write(do(word) + "\n")
        started.stdin.flush()
    asked = json.loads(started.stdout.readline())
    started.send_signal(signal.SIGKILL)
    started.communicate()
    again = subprocess.run([*command, *options], input="", capture_output=True, text=True, check=True)
    assert json.loads(again.stdout) == asked
    assert (asked["answered"], asked["skipped"]) == (3, 1)
    assert [path.name for path in (config.parent / "kept").iterdir()] == ["answers.json"]


def test_a_person_sees_two_columns_with_units_then_the_tree_and_the_recommendation(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting: Iterator[str] = iter(["t", "u", "perhaps", "1", "s", "2", "t", "u", "1", "q"])
    monkeypatch.setattr(box, "typed", lambda prompt: next(waiting))
    assert main(["ask", "box", "--config", "coffee.toml", "--questions", "5"]) == 0
    said = capsys.readouterr().out
    assert "question 1 of 5" in said
    assert "question 2 of 5, 1 without a preference" in said
    assert "Which coffee?" in said
    assert "There is no tree yet." in said
    assert "There is no answer to undo." in said
    assert "Please answer 1, 2, s, u, t or q." in said
    row = next(line for line in said.splitlines() if line.startswith("water"))
    assert row.split()[-1] == "°C"
    assert len(row.split()) == 4
    assert "coffee [dose]" in said
    assert "The tree of your 2 answers:" in said
    assert "You should like this setting best:" in said
    assert "The answers are kept in coffee-answers" in said
    waiting = iter(["q"])
    assert main(["ask", "box", "--config", "coffee.toml"]) == 0
    assert "Going on after 3 questions." in capsys.readouterr().out


def test_no_answers_are_nothing_to_recommend(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(box, "typed", lambda prompt: "q")
    assert main(["ask", "box", "--config", "coffee.toml"]) == 2
    assert "nothing to recommend" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        ("", ["features: field required", "name, lower, upper, step and unit of each"]),
        ("features = []", ["features"]),
        (CONFIG.replace("upper = 96", "upper = 80"), ["features.0", "lower must be below upper, found 85 and 80"]),
        (CONFIG.replace("step = 1\n", ""), ["features.0.step", "field required"]),
        (CONFIG.replace("step = 1\n", "steps = 1\n"), ["features.0.steps: there is no such setting"]),
        (CONFIG.replace("lower = 85", "lower = true"), ["features.0.lower = true: input should be a number"]),
        ("features = [", ["this is not a TOML file"]),
    ],
)
def test_a_config_that_cannot_be_asked_about_is_refused_with_what_is_wrong(
    config: Path, capsys: pytest.CaptureFixture[str], text: str, complaints: list[str]
) -> None:
    config.write_text(text, encoding="utf-8")
    assert main(["ask", "box", "--config", "coffee.toml"]) == 2
    said = capsys.readouterr().err
    for complaint in complaints:
        assert complaint in said
    assert not (config.parent / "coffee-answers").exists()


def test_a_config_that_is_not_there_is_named(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "box", "--config", "tea.toml"]) == 2
    assert "tea.toml: the config cannot be read" in capsys.readouterr().err
