"""The ledger keeps every answer unchanged, and detects altered rows."""

from __future__ import annotations

import json
import sqlite3
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from flows.cli.main import main
from prompts.conversation import Conversation
from prompts.ledger import Ledger
from prompts.ledger_entry import LedgerError, read_export
from tests.prompts.conftest import NONSENSE, TRUE, Scripted, questions

SECRET = "message number 1"


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    Conversation(Scripted(), ledger).ask(questions(3))
    return ledger


def change(ledger: Ledger, statement: str, *values: str) -> None:
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(statement, values)


def test_a_row_holds_the_model_the_question_and_the_answer(filled: Ledger) -> None:
    row = next(entry for entry in filled.entries() if entry.subject == "a-01")
    assert (row.model, row.revision, row.template, row.attempt) == ("scripted", "1", "extract_feature.1", 1)
    assert (row.answer, row.problem, row.finish_reason) == (TRUE, None, "stop")
    assert (row.prompt_tokens, row.answer_tokens, row.seconds) == (10, 5, 0.5)
    assert SECRET in row.messages
    assert json.loads(row.answer_schema)["required"] == ["value"]
    assert row.key == row.expected_key


def test_the_file_is_in_wal_mode_and_nobody_elses_to_read(filled: Ledger) -> None:
    with sqlite3.connect(filled.path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert stat.S_IMODE(filled.path.stat().st_mode) == 0o600


def test_of_two_answers_to_one_request_the_first_counts(filled: Ledger) -> None:
    first = next(filled.entries())
    filled.record([first.model_copy(update={"answer": '{"value":false}'})])
    assert next(filled.entries()) == first


def test_a_row_that_is_no_text_is_refused_with_all_of_its_chunk(filled: Ledger) -> None:
    row = next(filled.entries())
    new = row.model_copy(update={"attempt": 2})
    broken = row.model_copy(update={"attempt": 3, "answer": "\udcff"})
    with pytest.raises(ValueError, match=r"surrogates|utf"):
        filled.record([new, broken])
    assert len(filled) == 3


def test_a_chunk_that_fails_midway_leaves_none_of_its_rows_and_can_be_recorded_again(filled: Ledger) -> None:
    row = next(filled.entries())
    chunk = [row.model_copy(update={"attempt": attempt}) for attempt in (2, 3, 4)]
    change(
        filled,
        "CREATE TRIGGER full BEFORE INSERT ON entries WHEN NEW.attempt = 3 BEGIN SELECT RAISE(FAIL, 'no space'); END",
    )
    with pytest.raises(LedgerError, match=r"the ledger cannot be written \(no space\)"):
        filled.record(chunk)
    with Ledger(filled.path) as another_process:
        assert len(filled) == len(another_process) == 3
    change(filled, "DROP TRIGGER full")
    filled.record(chunk)
    with Ledger(filled.path) as another_process:
        assert len(filled) == len(another_process) == 6


def test_an_import_that_fails_midway_adds_none_of_its_rows(filled: Ledger, tmp_path: Path) -> None:
    filled.export(tmp_path / "all.jsonl")
    with Ledger(tmp_path / "other.sqlite") as other:
        change(
            other,
            "CREATE TRIGGER full BEFORE INSERT ON entries WHEN NEW.subject = 'a-01' "
            "BEGIN SELECT RAISE(FAIL, 'no space'); END",
        )
        with pytest.raises(LedgerError, match="no space"):
            other.import_from(read_export(tmp_path / "all.jsonl"))
    with Ledger(tmp_path / "other.sqlite") as other:
        assert len(other) == 0


def test_attempts_come_back_in_their_order_whatever_the_order_of_writing(filled: Ledger, tmp_path: Path) -> None:
    row = next(filled.entries())
    later = [
        row.model_copy(update={"attempt": attempt, "time": row.time - timedelta(hours=attempt)})
        for attempt in (10, 2, 3)
    ]
    filled.record(later)
    assert [entry.attempt for entry in filled.recorded([row.key])[row.key]] == [1, 2, 3, 10]
    assert [entry.attempt for entry in filled.entries() if entry.key == row.key] == [1, 2, 3, 10]
    with Ledger(tmp_path / "backwards.sqlite") as other:
        other.record(reversed(list(filled.entries())))
        other.export(tmp_path / "backwards.jsonl")
    filled.export(tmp_path / "forwards.jsonl")
    assert (tmp_path / "backwards.jsonl").read_bytes() == (tmp_path / "forwards.jsonl").read_bytes()


def test_export_and_import_keep_every_row_and_importing_again_changes_nothing(filled: Ledger, tmp_path: Path) -> None:
    assert filled.export(tmp_path / "all.jsonl") == 3
    assert stat.S_IMODE((tmp_path / "all.jsonl").stat().st_mode) == 0o600
    with Ledger(tmp_path / "other.sqlite") as other:
        assert other.import_from(read_export(tmp_path / "all.jsonl")) == (3, 0)
        assert other.import_from(read_export(tmp_path / "all.jsonl")) == (0, 3)
        assert list(other.entries()) == list(filled.entries())
        assert other.verify() == []


def test_an_unusual_line_break_in_a_message_survives_the_way_through_a_file(ledger: Ledger, tmp_path: Path) -> None:
    Conversation(Scripted(lambda _: "one\u2028two\u0085three\nfour"), ledger).ask(questions(1))
    ledger.export(tmp_path / "all.jsonl")
    with Ledger(tmp_path / "other.sqlite") as other:
        other.import_from(read_export(tmp_path / "all.jsonl"))
        assert list(other.entries()) == list(ledger.entries())


def test_another_answer_to_a_known_request_is_refused_and_nothing_of_the_file_is_taken(
    filled: Ledger, tmp_path: Path
) -> None:
    filled.export(tmp_path / "all.jsonl")
    with Ledger(tmp_path / "other.sqlite") as other:
        Conversation(Scripted(lambda _: '{"value":false}'), other).ask(questions(1))
        with pytest.raises(LedgerError, match=r"line \d: .* has another answer to request"):
            other.import_from(read_export(tmp_path / "all.jsonl"))
        assert len(other) == 1


@pytest.mark.parametrize("damage", ["answer", "messages"])
def test_an_altered_line_is_refused_by_its_number_and_not_quoted(damage: str, filled: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    filled.export(file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[1][damage] = lines[1][damage].replace("true", "false").replace("number", "nr")
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    with pytest.raises(LedgerError, match="line 2: the row was altered") as found:
        read_export(file)
    assert "message" not in str(found.value).partition("line 2")[2]


def test_a_file_of_something_else_is_refused_by_line_and_leaves_no_ledger_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text(SECRET)
    assert main(["ledger", "import", str(notes), "--ledger", str(tmp_path / "new.sqlite")]) == 1
    assert "notes.txt, line 1: expected a row of an exported ledger" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [notes]


def test_verify_finds_an_altered_answer_and_a_malformed_row(filled: Ledger) -> None:
    assert filled.verify() == []
    change(filled, "UPDATE entries SET answer = '{\"value\":false}' WHERE subject = 'a-01'")
    change(filled, "UPDATE entries SET seconds = 'soon' WHERE subject = 'a-02'")
    assert sorted(problem.partition(": ")[2] for problem in filled.verify()) == [
        "the row is malformed",
        "the row was altered after it was written",
    ]


ALTERED_QUESTIONS = {
    "messages": '[{"role": "user", "content": "another question"}]',
    "answer_schema": "{}",
    "sampling": "{}",
    "model": "another",
    "revision": "another",
    "template": "another.1",
}


@pytest.mark.parametrize(("part", "value"), ALTERED_QUESTIONS.items())
def test_verify_finds_an_altered_question(part: str, value: str, filled: Ledger) -> None:
    change(filled, f"UPDATE entries SET {part} = ? WHERE subject = 'a-01'", value)
    [problem] = filled.verify()
    assert problem.endswith(" attempt 1: the row was altered after it was written")
    assert "another" not in problem


@pytest.mark.parametrize(("part", "value"), ALTERED_QUESTIONS.items())
def test_verify_finds_an_altered_question_whose_checksum_was_altered_to_match(
    part: str, value: str, filled: Ledger
) -> None:
    row = next(entry for entry in filled.entries() if entry.subject == "a-01").model_copy(update={part: value})
    change(filled, f"UPDATE entries SET {part} = ?, checksum = ? WHERE subject = 'a-01'", value, row.checksum)
    assert filled.verify() == [f"{row.key[:12]} attempt 1: the key does not belong to the question"]


@pytest.mark.parametrize(("part", "value"), ALTERED_QUESTIONS.items())
def test_an_exported_row_with_an_altered_question_is_not_imported_even_with_a_checksum_to_match(
    part: str, value: str, filled: Ledger, tmp_path: Path
) -> None:
    file = tmp_path / "all.jsonl"
    filled.export(file)
    lines = file.read_text().splitlines()
    row = list(filled.entries())[1].model_copy(update={part: value})
    lines[1] = json.dumps({**row.model_dump(mode="json"), "checksum": row.checksum})
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(LedgerError, match="line 2: the row was altered after it was exported"):
        read_export(file)


def test_a_ledger_of_another_format_is_refused(filled: Ledger) -> None:
    change(filled, "PRAGMA user_version = 9")
    with pytest.raises(LedgerError, match="expected a ledger of format 1, found 9"):
        Ledger(filled.path)


def test_another_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "patients.sqlite")
    other.execute("CREATE TABLE patients (name TEXT)")
    other.commit()
    other.close()
    before = (tmp_path / "patients.sqlite").read_bytes()
    with pytest.raises(LedgerError, match="this database is not a ledger"):
        Ledger(tmp_path / "patients.sqlite")
    assert (tmp_path / "patients.sqlite").read_bytes() == before


def test_a_file_that_is_no_ledger_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_text("this is no database, whatever its name says. " * 30)
    with pytest.raises(LedgerError, match="the ledger cannot be opened"):
        Ledger(tmp_path / "x.sqlite")


def test_a_ledger_is_not_exported_over_itself(filled: Ledger) -> None:
    with pytest.raises(LedgerError, match="this is the ledger itself"):
        filled.export(filled.path.parent / "." / filled.path.name)
    assert filled.verify() == []


def test_a_ledger_with_an_altered_row_is_not_exported(filled: Ledger, tmp_path: Path) -> None:
    change(filled, "UPDATE entries SET answer = '{\"value\":false}' WHERE subject = 'a-01'")
    with pytest.raises(
        LedgerError, match=r"nothing is exported, because rows were altered \(1 found\)\. .*prefstudy ledger verify"
    ):
        filled.export(tmp_path / "all.jsonl")
    assert not (tmp_path / "all.jsonl").exists()


def test_a_malformed_row_is_refused_without_a_word_of_it_when_it_is_used(filled: Ledger) -> None:
    change(filled, f"UPDATE entries SET seconds = '{SECRET}' WHERE subject = 'a-02'")
    for use in (lambda: list(filled.entries()), lambda: Conversation(Scripted(), filled).ask(questions(3))):
        with pytest.raises(LedgerError, match=r"attempt 1 is malformed\. .*prefstudy ledger verify") as refusal:
            use()
        assert SECRET not in str(refusal.value)


def test_a_database_that_is_damaged_inside_is_reported_in_words(
    filled: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.close()
    content = bytearray(filled.path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    filled.path.write_bytes(content)
    for command in (["show"], ["verify"], ["export", str(filled.path.parent / "out.jsonl")]):
        assert main(["ledger", *command, "--ledger", str(filled.path)]) == 1
        assert "sqlite: " in capsys.readouterr().err
    assert not (filled.path.parent / "out.jsonl").exists()


def test_a_ledger_that_another_holds_is_reported_in_words(filled: Ledger) -> None:
    filled._connection.execute("PRAGMA busy_timeout = 1")
    other = sqlite3.connect(filled.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=r"the ledger cannot be written \(database is locked\)"):
        filled.record([])
    other.close()


def test_the_command_shows_counts_and_no_text(filled: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    Conversation(Scripted(lambda _: NONSENSE), filled).ask(questions(4)[3:])
    assert main(["ledger", "show", "--ledger", str(filled.path)]) == 0
    printed = capsys.readouterr().out
    [line] = [line for line in printed.splitlines() if "extract_feature.1" in line]
    assert line.split() == ["extract_feature.1", "4", "6", "3", "90", "0.500"]
    assert "scripted, revision 1" in printed
    assert "message number" not in printed


def test_the_commands_export_import_and_verify(
    filled: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = str(tmp_path / "all.jsonl"), str(tmp_path / "new" / "ledger.sqlite")
    assert main(["ledger", "export", file, "--ledger", str(filled.path)]) == 0
    assert main(["ledger", "import", file, "--ledger", other]) == 0
    assert main(["ledger", "verify", "--ledger", other]) == 0
    printed = capsys.readouterr().out
    assert "3 answers written" in printed
    assert "3 answers added" in printed
    assert "none of them altered" in printed
    change(filled, "UPDATE entries SET answer = 'x'")
    assert main(["ledger", "verify", "--ledger", str(filled.path)]) == 1


def test_a_ledger_that_is_not_there_is_an_error_and_none_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", "show", "--ledger", str(tmp_path / "no.sqlite")]) == 1
    assert "there is no ledger" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_no_ledger_and_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.sqlite").touch()
    assert main(["ledger", "verify", "--ledger", str(tmp_path / "empty.sqlite")]) == 1
    assert "empty.sqlite: there is no ledger" in capsys.readouterr().err
    assert (tmp_path / "empty.sqlite").stat().st_size == 0
