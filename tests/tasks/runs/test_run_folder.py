"""A run folder appears whole or not at all, and what cannot be written is refused before the work starts."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from data_adapters.choice.mapping_file import SHIPPED
from flows.studies.pmr import PmrConfig
from models.records.errors import OutputError
from prompts.feature_file import TABLE_9
from tasks.respondents.tree_study import ChoiceConfig
from tasks.runs import run_folder as room
from tasks.runs.run_folder import run_folder
from tasks.runs.study import StudyConfig


@pytest.fixture
def config(tmp_path: Path) -> StudyConfig:
    return StudyConfig(out=tmp_path / "runs")


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def work_in(config: StudyConfig, error: Exception | None = None) -> None:
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


def test_a_run_that_fails_leaves_nothing(config: StudyConfig) -> None:
    with pytest.raises(ZeroDivisionError):
        work_in(config, ZeroDivisionError())
    assert visible(config.out / "sushi") == []


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
    [remains] = visible(config.out / "sushi")
    assert remains.startswith(".partial-")
    with run_folder("sushi", config) as run:
        assert visible(run.partial.parent) == [run.partial.name]


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


def test_a_disk_that_fills_up_on_the_way_is_told_and_leaves_nothing(config: StudyConfig) -> None:
    with pytest.raises(OutputError, match=r"sushi: the run cannot be written there \(no space left on device\)"):
        work_in(config, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
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
