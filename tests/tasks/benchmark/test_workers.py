"""Worker processes compute cells, and none outlives the process that started it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import os, sys, time
from tasks.benchmark.workers import workers
from tasks.benchmark.cells import CourseCell
cell = CourseCell(
    function="levy", n_dimensions=2, model="tree", settings={}, runs=1, n_initial=2, n_questions=1, seed=0
)
if __name__ == "__main__":
    with workers(1) as helpers:
        found = helpers.compute(cell)
        [number] = helpers._pool._processes
        print(found.regret.shape, number, flush=True)
        time.sleep(60)
"""


def test_a_worker_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        shape, _, number = parent.stdout.readline().rpartition(" ")
        assert shape == "(2, 1)"
        parent.kill()
    until = time.monotonic() + 20
    while Path(f"/proc/{int(number)}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{int(number)}").exists()
