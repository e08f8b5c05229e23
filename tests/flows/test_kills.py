"""Commands killed at random moments leave nothing half-written; the long form is `tests.flows.hundred_kills`."""

from __future__ import annotations

from prefect.settings import get_current_settings

from tests.flows.hundred_kills import kills


def test_killed_commands_leave_nothing_and_come_to_the_same_end(prefect_server: None) -> None:
    api = get_current_settings().api.url
    with kills(seed=1, api=str(api)) as killing:
        names = ["build", "server", "build", "build"]
        killing.prepare(["build", "server"])
        killing.killed(names)
        assert killing.faults == []
        assert len(killing.server.asked) > 0


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
