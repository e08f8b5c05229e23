"""No error that leaves the conversation quotes a patient or a model, whatever is altered or goes wrong."""

from __future__ import annotations

import json
import sqlite3
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from models.records.errors import PrefstudyError
from prompts.conversation import Conversation
from prompts.engine import Reply, Request
from prompts.engines.replay import Replay, ReplaySettings
from prompts.ledger import Ledger
from prompts.ledger_entry import LedgerError, read_export
from prompts.unquoted import UnexpectedError
from tests.prompts.conftest import Scripted, questions

SECRET = "quetzalcoatlus"


def alter(ledger: Ledger, statement: str) -> None:
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(f"UPDATE entries SET {statement} WHERE subject = 'a-01'")


ALTERATIONS = {
    "another answer": """answer = '{"value":false}'""",
    "an answer outside the schema": f"""answer = '{{"value":"{SECRET}"}}'""",
    "no JSON": f"answer = '{SECRET}'",
    "no text": f"messages = CAST(x'ff' || '{SECRET}' AS TEXT)",
    "bytes": f"answer = CAST('{SECRET}' AS BLOB)",
    "nothing": "answer = NULL",
    "a refusal made an answer": "problem = 'value: bool_type'",
    "a word for a number": f"seconds = '{SECRET}'",
    "another checksum": f"checksum = '{SECRET}'",
    "a control character": f"problem = char(27) || '{SECRET}'",
}


@pytest.mark.parametrize("statement", ALTERATIONS.values(), ids=ALTERATIONS)
@pytest.mark.parametrize("replayed", [False, True])
def test_an_altered_answer_is_not_used_and_not_quoted(statement: str, replayed: bool, ledger: Ledger) -> None:
    Conversation(Scripted(), ledger).ask(questions(3))
    alter(ledger, statement)
    engine = Replay(ReplaySettings(), ledger) if replayed else Scripted()
    with pytest.raises(LedgerError, match=r"attempt 1 (was altered|is malformed).*prefstudy ledger verify") as found:
        Conversation(engine, ledger).ask(questions(3))
    assert SECRET not in "".join(traceback.format_exception(found.value))
    assert found.value.__context__ is None
    [problem] = ledger.verify()
    assert SECRET not in problem


def test_an_unknown_key_of_an_answer_is_not_named_as_the_reason_it_was_refused(ledger: Ledger) -> None:
    Conversation(Scripted(lambda _: json.dumps({"value": True, SECRET: 1})), ledger).ask(questions(1))
    assert {row.problem for row in ledger.entries()} == {"the whole: extra_forbidden"}


def test_an_answer_that_todays_schema_refuses_is_missing_and_no_error(ledger: Ledger) -> None:
    Conversation(Scripted(), ledger).ask(questions(1))
    [row] = ledger.entries()
    alter_row = row.model_copy(update={"answer": f'{{"value":"{SECRET}"}}'})
    with Ledger(ledger.path.with_name("older.sqlite")) as older:
        older.record([alter_row])
        talk = Conversation(Scripted(), older)
        assert talk.ask(questions(1)) == [None]
        assert [count.missing for count in talk.counts()] == [1]


@pytest.mark.parametrize("error", [KeyError, ValueError, RuntimeError, AssertionError])
def test_an_unexpected_error_leaves_by_class_and_place_only(error: Callable[[str], Exception], ledger: Ledger) -> None:
    class Breaks(Scripted):
        def reply(self, requests: Sequence[Request]) -> list[Reply]:
            try:
                raise OSError(SECRET)
            except OSError as inner:
                raise error(SECRET) from inner

    with pytest.raises(UnexpectedError, match=rf"^{error.__name__}, .*test_privacy\.py:\d+ <") as found:
        Conversation(Breaks(), ledger).ask(questions(1))
    assert SECRET not in "".join(traceback.format_exception(found.value))


def test_the_errors_behind_one_of_ours_do_not_leave_with_it(ledger: Ledger) -> None:
    class Fails(Scripted):
        def reply(self, requests: Sequence[Request]) -> list[Reply]:
            try:
                raise OSError(SECRET)
            except OSError as inner:
                raise PrefstudyError("The engine stopped.") from inner

    with pytest.raises(PrefstudyError, match="The engine stopped") as found:
        Conversation(Fails(), ledger).ask(questions(1))
    assert SECRET not in "".join(traceback.format_exception(found.value))


NAMES = ("../../outside", "/etc/outside", "C:\\outside", "a/b")


@pytest.mark.parametrize("name", NAMES)
def test_names_in_an_imported_file_are_never_paths(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in" / "here"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    engine = Scripted()
    engine.model = engine.revision = name
    asked = [Request(**{**vars(each), "subject": name, "template": name}) for each in questions(1)]
    with Ledger(folder / "one.sqlite") as one:
        Conversation(engine, one).ask(asked)
        one.export(folder / "all.jsonl")
    with Ledger(folder / "two.sqlite") as two:
        two.import_from(read_export(folder / "all.jsonl"))
        assert Conversation(Replay(ReplaySettings(), two), two).ask(asked) != [None]
    assert {path.name for path in folder.iterdir()} == {"one.sqlite", "two.sqlite", "all.jsonl"}
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(
    "change", [{"model": "a\x1b[31m"}, {"subject": "a\u202e"}, {"seconds": 1e999}, {"attempt": 10**30}]
)
def test_a_row_that_no_ledger_can_hold_or_show_is_refused_by_its_line(
    change: dict[str, object], ledger: Ledger, tmp_path: Path
) -> None:
    Conversation(Scripted(), ledger).ask(questions(2))
    ledger.export(tmp_path / "all.jsonl")
    first, second = (json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines())
    (tmp_path / "all.jsonl").write_text(f"{json.dumps(first)}\n{json.dumps(second | change)}\n")
    with pytest.raises(LedgerError, match="line 2: expected a row of an exported ledger"):
        read_export(tmp_path / "all.jsonl")
