"""A run folder appears whole or not at all, and an unwritable output folder is refused before the work starts."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prefect.exceptions import TerminationSignal

from data_adapters.choice.mapping_file import SHIPPED
from flows.studies.pmr import PmrConfig
from models.records.errors import OutputError, ServerError, TableError, UsageError
from models.records.run_record import UnfinishedRun
from prompts.feature_file import TABLE_9
from tasks.respondents.tree_study import ChoiceConfig
from tasks.runs import run_folder as room
from tasks.runs.run_folder import run_folder
from tasks.runs.study import StudyConfig
from tasks.runs.unfinished import FAILED


@pytest.fixture
def config(tmp_path: Path) -> StudyConfig:
    return StudyConfig(out=tmp_path / "runs")


def visible(folder: Path) -> list[str]:
    """Everything in the folder of a study but the records of runs without results."""
    return sorted(path.name for path in folder.iterdir() if path.name != FAILED)


def records(folder: Path) -> list[UnfinishedRun]:
    return [UnfinishedRun.model_validate_json(path.read_bytes()) for path in sorted((folder / FAILED).iterdir())]


def work_in(config: StudyConfig, error: BaseException | None = None) -> None:
    """Start a run whose work fails with `error`, or which must not get as far as the work."""
    with run_folder("sushi", config) as run:
        if error is None:
            pytest.fail("the work must not start")
        (run.results / "metrics.json").write_text("[]")
        raise error


def test_the_folder_appears_only_at_the_end_and_without_the_intermediate_files(config: StudyConfig) -> None:
    with run_folder("sushi", config) as run:
        (run.results / "metrics.json").write_text("[]")
        (run.work / "raw.txt").write_text("intermediate")
        assert not run.path.exists()
    assert visible(run.path.parent) == [run.run_id]
    assert [path.name for path in run.path.rglob("*")] == ["results", "metrics.json"]


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (ZeroDivisionError("Mrs Doe"), "failed", "ZeroDivisionError"),
        (TableError("no item Mrs Doe"), "failed", "TableError"),
        (UsageError("no user Mrs Doe, only Mr Roe"), "failed", "UsageError"),
        (ServerError("No server answers at :4200.\nStart it"), "failed", "ServerError: No server answers at :4200."),
        (KeyboardInterrupt(), "stopped", "KeyboardInterrupt"),
        (TerminationSignal(15), "stopped", "TerminationSignal"),
    ],
)
def test_a_run_that_fails_leaves_no_results_and_a_record_without_data(
    config: StudyConfig, error: BaseException, outcome: str, reason: str
) -> None:
    with pytest.raises(type(error)):
        work_in(config, error)
    assert visible(config.out / "sushi") == []
    [record] = records(config.out / "sushi")
    assert (record.study, record.outcome, record.reason) == ("sushi", outcome, reason)
    assert record.config == config.model_dump(mode="json")
    assert record.ended is not None
    assert record.ended >= record.started
    assert [path.stem for path in (config.out / "sushi" / FAILED).iterdir()] == [record.run_id]


def test_a_run_that_ends_well_leaves_no_record_of_failure(config: StudyConfig) -> None:
    with run_folder("sushi", config):
        pass
    assert not (config.out / "sushi" / FAILED).exists()


def test_a_record_that_cannot_be_written_does_not_hide_why_the_run_failed(config: StudyConfig) -> None:
    (config.out / "sushi").mkdir(parents=True)
    (config.out / "sushi" / FAILED).write_text("a file")
    with pytest.raises(ZeroDivisionError):
        work_in(config, ZeroDivisionError())


@pytest.mark.parametrize("taken_by", ["{0}/run.json", ".partial-{0}.lock", "failed/{0}.json"])
def test_a_run_id_already_taken_is_not_taken_again(
    config: StudyConfig, taken_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Noon(datetime):
        @classmethod
        def now(cls, tz: object = None) -> Noon:
            return cls(2026, 1, 1, 12, tzinfo=UTC)

    monkeypatch.setattr(room, "datetime", Noon)
    first = f"20260101T120000Z-{config.digest()}"
    taken = config.out / "sushi" / taken_by.format(first)
    taken.parent.mkdir(parents=True)
    with taken.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with run_folder("sushi", config) as run:
            assert run.run_id == f"{first}-2"
    assert taken.exists()
    assert run.path.is_dir()


def test_run_ids_sort_by_start_and_two_runs_of_one_second_do_not_meet(config: StudyConfig) -> None:
    with run_folder("sushi", config) as first, run_folder("sushi", config) as second:
        pass
    assert visible(first.path.parent) == [first.run_id, second.run_id]
    assert first.run_id.split("-")[1] == config.digest() == second.run_id.split("-")[1]


def test_the_digest_sees_settings_and_not_places(config: StudyConfig, tmp_path: Path) -> None:
    assert config.digest() == StudyConfig(out=tmp_path / "elsewhere", raw=tmp_path).digest()
    assert config.digest() != StudyConfig(seed=1).digest()


@pytest.mark.parametrize(
    ("config_of", "shipped", "words"),
    [
        (lambda file: ChoiceConfig(mapping=file), SHIPPED / "conjoint.toml", b"an invented one"),
        (lambda file: PmrConfig(features=str(file)), TABLE_9, b"in so many words"),
    ],
)
def test_the_digest_sees_what_a_mapping_or_a_file_of_features_says_and_not_where_it_lies(
    config_of: Callable[[Path], StudyConfig], shipped: Path, words: bytes, tmp_path: Path
) -> None:
    mine, copy = tmp_path / "mine.toml", tmp_path / "copy.toml"
    for file in (mine, copy):
        file.write_bytes(shipped.read_bytes())
    before = config_of(mine).digest()
    assert config_of(copy).digest() == before
    mine.write_bytes(shipped.read_bytes().replace(words, b"something else"))
    assert config_of(mine).digest() != before


def test_a_file_that_is_called_like_a_partial_folder_is_left_alone(config: StudyConfig) -> None:
    stray = config.out / "sushi" / ".partial-notes"
    stray.parent.mkdir(parents=True)
    stray.write_text("mine")
    with run_folder("sushi", config) as run:
        pass
    assert run.path.is_dir()
    assert stray.read_text() == "mine"


def test_a_killed_run_leaves_no_final_folder_and_the_next_run_clears_its_remains(config: StudyConfig) -> None:
    script = f"""
        import os, signal
        from pathlib import Path
        from tasks.runs.run_folder import run_folder
        from tasks.runs.study import StudyConfig
        with run_folder("sushi", StudyConfig(out=Path({str(config.out)!r}))) as run:
            (run.results / "half.parquet").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert killed.returncode == -signal.SIGKILL
    [remains, lock] = visible(config.out / "sushi")
    assert remains.startswith(".partial-")
    assert lock == f"{remains}.lock"
    with run_folder("sushi", config) as run:
        assert visible(run.partial.parent) == [run.partial.name, f"{run.partial.name}.lock"]
        [record] = records(run.partial.parent)
    assert record.outcome == "killed"
    assert record.run_id == remains.removeprefix(".partial-")
    assert record.ended is None
    assert record.config == config.model_dump(mode="json")


def test_a_partial_folder_without_a_lock_is_of_a_killed_run_too(config: StudyConfig) -> None:
    remains = config.out / "sushi" / ".partial-20260101T120000Z-b1b193cc" / "results"
    remains.mkdir(parents=True)
    with run_folder("sushi", config) as run:
        pass
    assert visible(config.out / "sushi") == [run.run_id]


def test_processes_that_start_and_end_runs_at_once_do_not_remove_each_others_folders(config: StudyConfig) -> None:
    script = f"""
        from pathlib import Path
        from tasks.runs.run_folder import run_folder
        from tasks.runs.study import StudyConfig
        for _ in range(60):
            with run_folder("sushi", StudyConfig(out=Path({str(config.out)!r}))) as run:
                (run.results / "metrics.json").write_text("[]")
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[1] for process in both] == ["", ""]
    runs = visible(config.out / "sushi")
    assert len(runs) == 120
    assert all((config.out / "sushi" / run / "results" / "metrics.json").is_file() for run in runs)


def reserve_and_fail(config: StudyConfig, work: Callable[[], None]) -> None:
    """Reserve a run, do the work, then fail as Prefect does where it does not start or a flow fails."""
    with room.reserved("sushi", config):
        work()
        raise ServerError("Prefect reports it in its own way.")


def test_a_run_that_ends_before_its_flow_begins_leaves_a_record(config: StudyConfig) -> None:
    def look() -> None:
        assert [path.suffix for path in sorted((config.out / "sushi").iterdir())] == ["", ".lock"]

    with pytest.raises(ServerError):
        reserve_and_fail(config, look)
    assert visible(config.out / "sushi") == []
    [record] = records(config.out / "sushi")
    assert (record.outcome, record.reason) == ("failed", "ServerError: Prefect reports it in its own way.")


def test_a_flow_takes_the_folder_that_was_reserved_for_it_and_its_failure_is_recorded_once(config: StudyConfig) -> None:
    with room.reserved("sushi", config), run_folder("sushi", StudyConfig(out=config.out)) as run:
        pass
    assert visible(config.out / "sushi") == [run.run_id]

    def fail() -> None:
        with pytest.raises(ZeroDivisionError):
            work_in(config, ZeroDivisionError())

    with pytest.raises(ServerError):
        reserve_and_fail(config, fail)
    [record] = records(config.out / "sushi")
    assert record.reason == "ZeroDivisionError"


def test_the_partial_folder_of_a_run_that_still_works_is_left_alone(config: StudyConfig) -> None:
    with run_folder("sushi", config) as first, run_folder("sushi", config):
        assert first.results.exists()
    assert first.path.exists()


def test_an_output_folder_that_is_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(OutputError, match=r"runs/sushi: the run cannot be written.*\n.*--out DIR"):
        work_in(StudyConfig(out=tmp_path / "runs"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write in a read-only folder")
def test_a_read_only_output_folder_is_refused_by_name(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match=r"cannot be written there \(permission denied\)"):
        work_in(StudyConfig(out=tmp_path))


def test_a_read_only_disk_is_refused_by_name() -> None:
    with pytest.raises(OutputError, match=r"/proc/prefstudy/sushi: the run cannot be written there"):
        work_in(StudyConfig(out=Path("/proc/prefstudy")))


def test_a_nearly_full_disk_is_refused_before_the_work(config: StudyConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "BYTES_NEEDED", 2**70)
    with pytest.raises(OutputError, match=r"MiB are free on this disk.\nFree some space"):
        work_in(config)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_disk_or_quota_that_is_full_on_the_way_is_an_output_error_and_leaves_no_results(
    config: StudyConfig, number: int
) -> None:
    why = os.strerror(number).lower()
    with pytest.raises(OutputError, match=rf"sushi: the run cannot be written there \({why}\)"):
        work_in(config, OSError(number, os.strerror(number)))
    assert visible(config.out / "sushi") == []
    [record] = records(config.out / "sushi")
    assert record.reason == f"OutputError: {config.out}/sushi: the run cannot be written there ({why})."


def test_a_disk_that_is_full_at_the_start_is_an_output_error(
    config: StudyConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def full(folder: Path, *arguments: Any, **options: Any) -> None:
        if folder.name.startswith(room.PARTIAL):
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        make(folder, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(OutputError, match="disk quota exceeded"):
        work_in(config)
    assert visible(config.out / "sushi") == []


def test_a_final_folder_that_cannot_be_renamed_leaves_no_partial_folder(
    config: StudyConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(OutputError), run_folder("sushi", config) as run:
        (run.results / "metrics.json").write_text("[]")
    assert visible(config.out / "sushi") == []


def test_an_unrelated_error_of_the_system_is_not_dressed_up_as_an_output_error(config: StudyConfig) -> None:
    with pytest.raises(FileNotFoundError):
        work_in(config, FileNotFoundError())


def test_steps_are_timed_and_told(config: StudyConfig, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="prefstudy")
    with run_folder("sushi", config) as run, run.step("Fit", total=3):
        pass
    assert [time.step for time in run.seconds] == ["Fit"]
    assert run.seconds[0].seconds >= 0
    assert [getattr(record, "total", None) for record in caplog.records] == [3, None]
