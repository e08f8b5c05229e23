"""The nightly deployment works offline on one machine: server, pool, deployment, worker, run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("offline_deployment.sh")


@pytest.mark.deployment
def test_the_nightly_deployment_goes_from_server_to_report(tmp_path: Path) -> None:
    """Server and worker outlive the script. They belong to its process group, which is ended in any case."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment = clean | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    log = tmp_path / "deployment.log"
    with log.open("w") as words:
        script = subprocess.Popen(
            ["bash", str(SCRIPT), str(tmp_path)], stdout=words, stderr=words, env=environment, start_new_session=True
        )
    try:
        code = script.wait(timeout=240)
    finally:
        os.killpg(script.pid, signal.SIGKILL)
    told = "\n".join(path.read_text(errors="replace") for path in (log, *tmp_path.glob("*.log")))
    assert code == 0, told
    [report] = (tmp_path / "runs" / "sushi").glob("*/report.html")
    assert report.with_name("run.json").is_file()
    assert report.with_name("report.pdf").is_file()
