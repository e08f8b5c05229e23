"""Terminals in other encodings, paths that are no text, and folders or disks that nothing can be written to."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.cli.main import main
from prompts import ledger as ledger_file
from prompts.conversation import Conversation
from prompts.ledger import Ledger, LedgerError
from prompts.ledger_entry import read_export
from tests.prompts.conftest import Scripted, questions

COMMANDS = (
    ["list"],
    ["doctor"],
    ["--help"],
    ["run", "--help"],
    ["ledger", "show"],
    ["run", "nosuch\u8336"],
    ["data", "check", "sushi"],
)


def test_no_terminal_is_too_narrow_in_its_encoding_for_any_command(tmp_path: Path) -> None:
    script = (
        f"import sys; from flows.cli.main import main; [main(each) for each in {list(COMMANDS)!r}]; "
        "from flows.cli.console import say; say('caf\u00e9 \u8336'); sys.exit(7)"
    )
    plain = {**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "C", "PREFSTUDY_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=plain, capture_output=True, check=False)
    assert done.returncode == 7, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert (done.stdout + done.stderr).isascii()


@pytest.mark.parametrize(
    "arguments",
    [
        ["data", "simulate", "sushi", "--out", "x\udcffy"], ["report", "x\udcffy"], ["ledger", "export", "x\udcffy"],
        ["run", "pmr", "--simulated", "--out=x\udcffy"], ["run", "sushi", "--set", "seed=\udcff"],
    ],
)  # fmt: skip
def test_a_path_that_is_no_text_is_refused_and_shown_escaped(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert "\\udcff" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A ledger that its writer closed, in a folder of its own."""
    with Ledger(tmp_path / "kept" / "ledger.sqlite") as ledger:
        Conversation(Scripted(), ledger).ask(questions(3))
    return tmp_path / "kept" / "ledger.sqlite"


@pytest.mark.parametrize("command", [["show"], ["verify"]])
def test_a_ledger_can_be_read_where_sqlite_can_write_no_file_beside_it(
    command: list[str], kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a full or a read-only disk, where SQLite must be told that nobody else writes."""

    def connected(file: str) -> Full | sqlite3.Connection:
        return opened(file) if "immutable" in file else Full()

    opened = ledger_file._connected
    monkeypatch.setattr(ledger_file, "_connected", connected)
    assert main(["ledger", *command, "--ledger", str(kept)]) == 0
    assert "3 answers in" in capsys.readouterr().out
    kept.with_name("ledger.sqlite-wal").write_bytes(b"a log of a process that writes")
    assert main(["ledger", *command, "--ledger", str(kept)]) == 1
    assert "the ledger cannot be opened (database or disk is full)" in capsys.readouterr().err


def test_reading_a_ledger_changes_nothing_of_it(kept: Path) -> None:
    before = kept.read_bytes()
    with Ledger(kept, must_exist=True) as ledger:
        assert len(list(ledger.entries())) == 3
        with pytest.raises(LedgerError, match="readonly"):
            ledger.record(list(ledger.entries()))
    assert kept.read_bytes() == before


def test_an_answer_that_another_process_still_has_in_its_log_is_read(kept: Path) -> None:
    with Ledger(kept) as writer:
        Conversation(Scripted(), writer).ask(questions(5))
        with Ledger(kept, must_exist=True) as ledger:
            assert len(ledger) == 5


class Full:
    """A connection on a full disk."""

    def execute(self, *_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    def close(self) -> None:
        pass


def test_a_disk_that_is_full_while_a_ledger_is_read_is_reported_in_words(kept: Path) -> None:
    with Ledger(kept, must_exist=True) as ledger:
        ledger.close()
        ledger._connection = Full()
        for read in (len, Ledger.summary, Ledger.verify, Ledger.models, lambda each: each.recorded(["a"])):
            with pytest.raises(LedgerError, match=r"the ledger cannot be read \(database or disk is full\)"):
                read(ledger)


@pytest.mark.parametrize("place", ["file/answers.jsonl", "none/answers.jsonl", "/proc/answers.jsonl", "/dev/full/x"])
def test_an_export_to_where_nothing_can_be_written_is_reported_in_words(
    place: str, kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(kept.parent)
    Path("file").touch()
    assert main(["ledger", "export", place, "--ledger", str(kept)]) == 1
    assert "the ledger cannot be written there (" in capsys.readouterr().err


def test_a_folder_that_may_not_even_be_looked_into_is_reported_in_words(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", forbidden)
    assert main(["ledger", "export", "answers.jsonl", "--ledger", str(kept)]) == 1
    monkeypatch.setattr(Path, "is_file", forbidden)
    assert main(["ledger", "show", "--ledger", str(kept)]) == 1
    assert capsys.readouterr().err.count("Permission denied") == 2


def test_the_export_of_an_empty_ledger_can_be_imported(tmp_path: Path) -> None:
    with Ledger(tmp_path / "empty.sqlite") as empty:
        assert empty.export(tmp_path / "none.jsonl") == 0
    with Ledger(tmp_path / "other.sqlite") as other:
        assert other.import_from(read_export(tmp_path / "none.jsonl")) == (0, 0)


def test_a_ledger_with_rows_of_other_types_is_shown_without_a_traceback(kept: Path) -> None:
    shutil.copy(kept, kept.with_name("odd.sqlite"))
    with sqlite3.connect(kept.with_name("odd.sqlite")) as connection:
        connection.execute(
            "UPDATE entries SET prompt_tokens = NULL, seconds = 'soon', model = x'ff1b', template = char(27)"
        )
    assert main(["ledger", "show", "--ledger", str(kept.with_name("odd.sqlite"))]) == 0


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """A limit of the system on what this process writes: like a full disk, writing fails in the middle."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("ledger export out/answers.jsonl --ledger ledger.sqlite", "the ledger cannot be written there (File too"),
        ("ledger import export.jsonl --ledger out/ledger.sqlite", "the ledger cannot be "),
        ("data simulate sushi --users 20 --out out", "Cannot write out/sushi: File too large"),
    ],
)
def test_what_a_disk_cannot_hold_is_told_in_words_and_nothing_half_written_is_left(
    command: str, told: str, kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(kept.parent)
    assert main(["ledger", "export", "export.jsonl"]) == 1  # there is no ledger in the usual place
    assert main(["ledger", "export", "export.jsonl", "--ledger", "ledger.sqlite"]) == 0
    Path("out").mkdir()
    with no_file_longer_than(1_000):
        assert main(command.split()) == 1
    assert told in capsys.readouterr().err
    assert [path for path in Path("out").rglob("*") if path.stat().st_size and path.is_file()] == []
