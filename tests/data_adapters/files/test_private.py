"""What holds patients' texts is its owner's alone from the first byte; the doctor says what is not."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from data_adapters.catalogue import adapter
from data_adapters.files.private import open_up, private_files, readable_by_others
from data_adapters.source import simulation
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.table import parquet
from flows.cli.main import main
from prompts.ledger import Ledger
from prompts.ledger_entry import Entry
from tasks.runs.run_folder import run_folder
from tasks.runs.study import StudyConfig


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def seen_by_all() -> Iterator[Path]:
    """A folder that others can look into; those of pytest are closed."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def modes(folder: Path) -> set[str]:
    """The permissions of a folder and of everything in it."""
    paths = [folder, *folder.rglob("*")]
    return {f"{'folder' if path.is_dir() else 'file'} {path.stat().st_mode & 0o777:o}" for path in paths}


PRIVATE = {"folder 700", "file 600"}


def test_simulated_inboxes_and_their_tables_are_private_while_they_are_written_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    during: list[set[str]] = []
    for module, name in ((simulation, "sha256_of"), (parquet, "sha256_of")):
        digest = getattr(module, name)
        monkeypatch.setattr(module, name, lambda path, digest=digest: during.append(modes(path.parent)) or digest(path))
    pmr = adapter("pmr")
    simulation.simulate(pmr, tmp_path / "raw", seed=0, users=6)
    for table in build(pmr, locate(pmr, tmp_path / "raw")):
        assert table.private
        assert modes(parquet.write_table(table, tmp_path / "tables")) == PRIVATE
    assert modes(tmp_path / "raw") == PRIVATE
    assert during
    assert all(found == PRIVATE for found in during)


def test_data_without_texts_about_people_keeps_the_permissions_of_the_umask(tmp_path: Path) -> None:
    sushi = adapter("sushi")
    simulation.simulate(sushi, tmp_path / "raw", seed=0, users=2)
    assert modes(tmp_path / "raw") == {"folder 777", "file 666"}


def test_a_run_is_private_until_it_is_whole_and_then_as_open_as_the_umask_says(tmp_path: Path) -> None:
    os.umask(0o027)
    with run_folder("sushi", StudyConfig(out=tmp_path)) as run:
        (run.work / "texts.txt").write_text("a message")
        (run.results / "metrics.json").write_text("[]")
        assert modes(run.partial) == PRIVATE
    assert modes(run.path) == {"folder 750", "file 640"}
    assert os.umask(0o022) == 0o027


def test_a_ledger_its_side_files_and_its_exports_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = dict.fromkeys(("key", "model", "revision", "template", "subject", "messages", "answer_schema"), "{}")
    entry = Entry(
        **texts, sampling="{}", attempt=1, answer="{}", problem=None, finish_reason="stop", prompt_tokens=1,
        answer_tokens=1, seconds=0.1, time=datetime.now(UTC),
    )  # fmt: skip
    entry = entry.model_copy(update={"key": entry.expected_key})
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.record([entry])
        files = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        assert files == dict.fromkeys(["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"], 0o600)
        # Where a disk cannot hold a write-ahead log, SQLite writes a journal beside the file.
        ledger._connection.execute("PRAGMA journal_mode = PERSIST")
        ledger.record([entry.model_copy(update={"attempt": 2})])
        assert (tmp_path / "ledger.sqlite-journal").stat().st_mode & 0o777 == 0o600
        open_at_each_line: list[int] = []
        rows = ledger.entries

        def watched() -> Iterator[Entry]:
            for row in rows():
                open_at_each_line.extend(path.stat().st_mode & 0o077 for path in tmp_path.glob(".export*"))
                yield row

        monkeypatch.setattr(ledger, "entries", watched)
        ledger.export(tmp_path / "export.jsonl")
    assert (tmp_path / "export.jsonl").stat().st_mode & 0o777 == 0o600
    assert len(open_at_each_line) == 4, "the file that is being written and its lock, at each of two rows"
    assert not any(open_at_each_line)


def test_blocks_that_overlap_leave_the_umask_as_it_was(tmp_path: Path) -> None:
    os.umask(0o002)
    first, second = private_files(), private_files()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    (tmp_path / "folder").mkdir()
    assert modes(tmp_path / "folder") == {"folder 700"}
    open_up(tmp_path / "folder")
    assert modes(tmp_path / "folder") == {"folder 775"}
    second.__exit__(None, None, None)
    assert os.umask(0o002) == 0o002


def test_a_file_is_readable_by_others_only_if_all_its_folders_let_them_in(seen_by_all: Path) -> None:
    file = seen_by_all / "folder" / "file"
    file.parent.mkdir()
    file.touch()
    assert readable_by_others(file)
    file.parent.chmod(0o700)
    assert not readable_by_others(file)
    file.parent.chmod(0o755)
    file.chmod(0o600)
    assert not readable_by_others(file)


def test_the_doctor_names_private_files_that_others_can_read(
    seen_by_all: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(seen_by_all)
    monkeypatch.setenv("PREFSTUDY_CACHE", str(seen_by_all))
    monkeypatch.delenv("PREFSTUDY_RAW", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    main(["data", "simulate", "pmr", "--items", "6"])
    main(["doctor"])
    assert "no file with patients' texts here that others can read" in " ".join(capsys.readouterr().out.split())
    [opened, *_] = Path("simulated/pmr").iterdir()
    opened.parent.chmod(0o755)
    opened.chmod(0o640)
    left = Path("runs/pmr/ledger.sqlite-wal")
    left.parent.mkdir(parents=True)
    left.touch(mode=0o644)
    main(["doctor"])
    told = " ".join(capsys.readouterr().out.split())
    assert f"Privacy open others can read runs/pmr/ledger.sqlite-wal, {opened}. Close them: chmod go= FILE" in told
