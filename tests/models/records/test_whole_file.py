"""A file appears whole or not at all, and nothing is left beside it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from models.records import whole_file as module
from models.records.whole_file import clear, hold, whole_file


def interrupted(path: Path) -> None:
    """Write half a file, then raise."""
    with whole_file(path) as aside:
        aside.write_text("half")
        raise KeyboardInterrupt


def test_the_file_appears_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    with whole_file(path) as aside:
        aside.write_text("whole")
        assert not path.exists()
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("answer.txt", "whole")]


def test_a_block_that_raises_leaves_what_was_there_before_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        interrupted(path)
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("answer.txt", "before")]


def test_two_writers_of_one_file_do_not_share_a_temporary_file(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a") as first, whole_file(tmp_path / "a") as second:
        first.write_text("first")
        second.write_text("second")
    assert (tmp_path / "a").read_text() == "first"


def test_a_private_file_is_private_before_anything_is_written(tmp_path: Path) -> None:
    with whole_file(tmp_path / "secret", mode=0o600) as aside:
        assert aside.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    with whole_file(link) as aside:
        aside.write_text("after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_a_folder_in_the_way_is_an_error_and_stays(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"), whole_file(tmp_path / "a") as aside:
        aside.write_text("whole")
    assert [found.name for found in tmp_path.iterdir()] == ["a"]


def test_the_next_writer_clears_what_a_killed_one_left_and_not_what_another_writes(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        from pathlib import Path
        from models.records.whole_file import whole_file
        with whole_file(Path(sys.argv[1])) as aside:
            aside.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    path = tmp_path / "a"
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(path)], check=False)
    assert killed.returncode == -9
    assert len(list(tmp_path.iterdir())) == 2, "the file and its lock"
    with whole_file(path) as first:
        first.write_text("first")
        with whole_file(path) as second:
            second.write_text("second")
        assert len(list(tmp_path.iterdir())) == 3, "what the first still writes, its lock, and what the second wrote"
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("a", "first")]


def test_a_lock_that_is_removed_while_another_takes_it_is_not_taken_by_both(tmp_path: Path) -> None:
    """Threads that take the same lock, and clear what they find: each finds what it made until it ends it."""
    lost = []

    def work() -> None:
        for _ in range(300):
            held = hold(tmp_path / "aside")
            if held is not None:
                held.aside.write_text("mine")
                clear(tmp_path, "aside*")
                if not held.aside.exists():
                    lost.append(1)
                held.end()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not lost
    assert list(tmp_path.iterdir()) == []


def test_without_locks_nothing_is_taken_for_a_remain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(descriptor: int, operation: int) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(module.fcntl, "flock", unsupported)
    with whole_file(tmp_path / "a") as first:
        first.write_text("first")
        with whole_file(tmp_path / "a") as second:
            second.write_text("second")
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("a", "first")]


def test_a_process_that_is_stopped_leaves_nothing_aside_and_puts_nothing_in_place_any_more(tmp_path: Path) -> None:
    script = """
        import os, sys, threading, time
        from pathlib import Path
        from models.records.whole_file import abandon, hold, whole_file
        folder = Path(sys.argv[1])
        def write():
            with whole_file(folder / "late") as aside:
                aside.write_text("late")
                time.sleep(0.3)
        threading.Thread(target=write).start()
        partial = hold(folder / "partial", on_stop=lambda: (folder / "record").write_text("stopped"))
        (partial.aside / "inside").mkdir(parents=True)
        time.sleep(0.1)
        abandon(0.2)
        time.sleep(0.4)
        os._exit(7)
    """
    stopped = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(tmp_path)], check=False)
    assert stopped.returncode == 7
    assert [path.name for path in tmp_path.iterdir()] == ["record"]


def test_a_lock_that_its_last_owner_removes_after_it_was_opened_is_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / ".file.lock"
    taken: list[int] = []
    flock = module.fcntl.flock

    def removed_first(descriptor: int, operation: int) -> None:
        flock(descriptor, operation)
        if not taken:
            lock.unlink()
        taken.append(descriptor)

    monkeypatch.setattr(module.fcntl, "flock", removed_first)
    held = hold(tmp_path / ".file")
    assert held is not None
    assert (len(taken), lock.exists()) == (2, True)
    held.end()
    assert list(tmp_path.iterdir()) == []
