"""Commands killed at random moments leave nothing half-written; the long form is `tests.flows.hundred_kills`."""

from __future__ import annotations

import signal

from prefect.settings import get_current_settings

from tests.flows.hundred_kills import CHUNK, kills

SECONDS_OF_A_BUILD = 1.5
"""As a process of its own, on a quiet machine."""


def test_killed_commands_leave_nothing_and_come_to_the_same_end(prefect_server: None) -> None:
    """The study is killed after half a chunk of answers more than it was before, so that it has recorded some."""
    with kills(seed=1, api=str(get_current_settings().api.url), in_process=True) as killing:
        killing.prepare(["build", "server"])
        killing.seconds["build"] = SECONDS_OF_A_BUILD
        killing.killed(["build", "build", "build"])
        whole = len(killing.server.asked)
        folder = killing.folder("server", "killed")
        killing.kill("server", folder, signal.SIGKILL, answers=CHUNK + CHUNK // 2)
        killing.finish("server", folder)
        assert killing.faults == []
        assert len(killing.server.asked) - whole < whole + CHUNK, "at most one chunk is asked again"


def test_a_fault_is_found() -> None:
    """What the kills look for is there to be found."""
    with kills(seed=1) as killing:
        folder = killing.scratch / "folder"
        (folder / "tables" / "INBOX_A").mkdir(parents=True, mode=0o755)
        (folder / "tables" / ".INBOX_B.lock").touch()
        (folder / "runs" / "pmr" / "2026").mkdir(parents=True)
        assert len(list(killing.half(folder))) == 2
        assert [path.name for path in killing.remains(folder)] == [".INBOX_B.lock"]
        assert {path.name for path in killing.open_to_others(folder)} == {"INBOX_A", ".INBOX_B.lock"}
