"""A signal ends a command within a second and leaves a record, but no folder, no file and no process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from prefect.settings import get_current_settings

from flows.cli.entry import entry
from models.records.run_record import UnfinishedRun
from tests.flows.hundred_kills import catches, marked, own_seconds

ROOT = Path(__file__).resolve().parents[3]
MARK = "PREFSTUDY_STOPPED_BY"
STOPPED = "\nStopped. Nothing half-written was left behind.\n"
SUSHI = "run sushi --simulated --set users=300 --set protocols=false --out runs"


def ctrl_c(run: subprocess.Popen[str]) -> None:
    """Send SIGINT to all processes of the run, as a terminal does."""
    os.killpg(run.pid, signal.SIGINT)


def terminate(run: subprocess.Popen[str]) -> None:
    run.send_signal(signal.SIGTERM)


def kill(run: subprocess.Popen[str]) -> None:
    run.send_signal(signal.SIGKILL)


@contextmanager
def started(command: str, folder: Path, mark: str = "", api: str | None = None) -> Iterator[subprocess.Popen[str]]:
    """The command, in `folder`; Prefect has no home there. Nothing of it is left when the block ends.

    api: address of a Prefect server; otherwise the command starts its own.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    clean |= {} if api is None else {"PREFECT_API_URL": api}
    run = subprocess.Popen(
        [sys.executable, "-m", "flows.cli.entry", *command.split()],
        cwd=folder,
        env=clean | {"PREFECT_HOME": "/dev/null/no-folder", "TMPDIR": str(folder), "PYTHONPATH": str(ROOT), MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield run
    finally:
        run.kill()
        run.wait()
        if run.stderr is not None:
            run.stderr.close()


def lines_until(run: subprocess.Popen[str], words: str) -> list[str]:
    assert run.stderr is not None
    lines = [run.stderr.readline()]
    while lines[-1] and words not in lines[-1]:
        lines.append(run.stderr.readline())
    return lines


def outlived(mark: str) -> list[str]:
    """The processes with this mark that are still there after a moment."""
    for _ in range(100):
        if not (found := list(marked(mark))):
            break
        time.sleep(0.02)
    return found


@pytest.mark.parametrize(
    ("stop", "code", "when", "outcome", "own_server"),
    [
        (ctrl_c, 130, "Build the tables", "stopped", False),
        (terminate, 143, "Study sushi", "stopped", True),  # while Prefect starts
        (kill, -9, "Build the tables", "running", True),
    ],
)
def test_a_run_that_is_stopped_ends_at_once_with_one_clean_line_and_only_a_record_left_behind(
    tmp_path: Path,
    stop: Callable[[subprocess.Popen[str]], None],
    code: int,
    when: str,
    outcome: str,
    own_server: bool,
    prefect_server: None,
) -> None:
    mark = uuid4().hex
    api = None if own_server else str(get_current_settings().api.url)
    with started(SUSHI, tmp_path, mark, api) as run:
        warning, *_ = lines_until(run, when)
        assert f"Prefect keeps its database in {tmp_path / 'prefstudy-prefect-'}" in warning
        used = own_seconds(run.pid)
        stop(run)
        os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)
        used = own_seconds(run.pid) - used
        last_words = run.communicate()[1]
    assert run.returncode == code
    assert outlived(f"{MARK}={mark}") == []
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    if outcome == "stopped":
        assert used < 1, "processor seconds: other tests may run at the same time"
        assert last_words == STOPPED
        assert [path.name for path in (tmp_path / "runs" / "sushi").iterdir()] == ["failed"]
        [record] = (tmp_path / "runs" / "sushi" / "failed").iterdir()
    else:
        [record] = (tmp_path / "runs" / "sushi").glob(".partial-*/started.json")
    assert UnfinishedRun.model_validate_json(record.read_bytes()).outcome == outcome


@pytest.mark.parametrize(("stop", "code"), [(ctrl_c, 130), (terminate, 143)])
def test_a_command_that_still_starts_ends_with_one_clean_line(
    tmp_path: Path, stop: Callable[[subprocess.Popen[str]], None], code: int
) -> None:
    for processor_seconds in (0.0, 0.1, 0.3):
        with started("list", tmp_path) as run:
            while not catches(run.pid, signal.SIGTERM):  # until then Python starts, and nothing of ours can catch it
                time.sleep(0.001)
            while own_seconds(run.pid) < processor_seconds:
                time.sleep(0.005)
            stop(run)
            said = run.communicate(timeout=30)[1]
        assert (run.returncode, said) == (code, STOPPED)


def test_ctrl_c_before_anything_runs_is_one_clean_line_too(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("flows.cli.stopping.watch", interrupted)
    assert entry() == 130
    assert capfd.readouterr().err == STOPPED.lstrip()
