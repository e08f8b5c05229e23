"""What tests of flows share: one Prefect server for a process, and runs without a report."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prefect.testing.utilities import prefect_test_harness


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    with prefect_test_harness(server_startup_timeout=120):
        yield


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no report, which is half the time of a small run, where only results are looked at."""
    monkeypatch.setattr("tasks.runs.publish.render", lambda run_dir: None)
