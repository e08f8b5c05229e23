"""Ctrl-C or SIGTERM ends a run within seconds and leaves neither a half-written folder nor a server behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.cli.entry import entry
from models.records.run_record import UnfinishedRun

ROOT = Path(__file__).resolve().parents[3]


def group_is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def ctrl_c(run: subprocess.Popen[str]) -> None:
    """Send SIGINT to all processes of the run, as a terminal does."""
    os.killpg(run.pid, signal.SIGINT)


def terminate(run: subprocess.Popen[str]) -> None:
    run.send_signal(signal.SIGTERM)


@pytest.mark.parametrize(("stop", "code"), [(ctrl_c, 130), (terminate, 143)])
def test_a_run_that_is_stopped_ends_with_its_code_one_clean_line_and_only_a_record_left_behind(
    tmp_path: Path, stop: Callable[[subprocess.Popen[str]], None], code: int
) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    command = [sys.executable, "-m", "flows.cli.main", "run", "sushi", "--simulated", "--out", str(tmp_path / "runs")]
    command += ["--set", "users=500"]
    run = subprocess.Popen(
        command,
        cwd=ROOT,
        env=clean | {"PREFECT_HOME": "/dev/null/no-folder", "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert run.stderr is not None
        warning, *steps = [run.stderr.readline() for _ in range(4)]
        assert f"Prefect keeps its database in {tmp_path / 'prefstudy-prefect-'}" in warning
        assert [line.split(":")[0] for line in steps] == [
            "Study sushi\n",
            "Build the tables",
            "Fit two trees to each user",
        ]
        stop(run)
        _, last_words = run.communicate(timeout=20)
        assert last_words == "\nStopped. Nothing half-written was left behind.\n"
        assert run.returncode == code
        assert [path.name for path in (tmp_path / "runs" / "sushi").iterdir()] == ["failed"]
        [record] = (tmp_path / "runs" / "sushi" / "failed").iterdir()
        assert UnfinishedRun.model_validate_json(record.read_bytes()).outcome == "stopped"
        assert group_is_empty(run.pid)
        assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    finally:
        if not group_is_empty(run.pid):
            os.killpg(run.pid, signal.SIGKILL)


def test_ctrl_c_before_anything_runs_is_one_clean_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("flows.cli.main.main", interrupted)
    assert entry() == 130
    assert capsys.readouterr().err == "Stopped. Nothing half-written was left behind.\n"
