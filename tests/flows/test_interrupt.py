"""Ctrl-C ends a run within seconds, cleanly, and leaves neither a half-written folder nor a server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def group_is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_ctrl_c_ends_a_run_with_130_one_clean_line_and_nothing_left_behind(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    command = [sys.executable, "-m", "flows.cli.main", "run", "sushi", "--simulated", "--out", str(tmp_path / "runs")]
    run = subprocess.Popen(
        command,
        cwd=ROOT,
        env=clean | {"PREFECT_HOME": str(tmp_path / "prefect")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert run.stderr is not None
        told = [run.stderr.readline() for _ in range(3)]
        assert [line.split(":")[0] for line in told] == [
            "Study sushi\n",
            "Build the tables",
            "Fit two trees to each user",
        ]
        os.killpg(run.pid, signal.SIGINT)
        _, last_words = run.communicate(timeout=20)
        assert last_words == "\nStopped. Nothing was written under a final name.\n"
        assert run.returncode == 130
        assert list((tmp_path / "runs" / "sushi").iterdir()) == []
        assert group_is_empty(run.pid)
    finally:
        if not group_is_empty(run.pid):
            os.killpg(run.pid, signal.SIGKILL)
