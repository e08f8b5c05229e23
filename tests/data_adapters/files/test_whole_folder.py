"""A folder is never missing while it is replaced, and the next writer clears what a killed one left."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from pathlib import Path

from data_adapters.files.whole_folder import whole_folder


def write(final: Path, words: str) -> None:
    with whole_folder(final, marker="done", ours=("done",)) as aside:
        (aside / "done").write_text(words)


def test_a_folder_that_is_replaced_is_there_at_every_moment(tmp_path: Path) -> None:
    final = tmp_path / "final"
    write(final, "0")
    ended, missing = threading.Event(), []

    def look() -> None:
        while not ended.is_set():
            if not final.is_dir():
                missing.append(1)

    looking = threading.Thread(target=look)
    looking.start()
    for at in range(200):
        write(final, str(at))
    ended.set()
    looking.join()
    assert not missing
    assert [path.name for path in tmp_path.iterdir()] == ["final"]


def test_the_next_writer_clears_what_a_killed_one_left_and_not_what_another_writes(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        from pathlib import Path
        from data_adapters.files.whole_folder import whole_folder
        with whole_folder(Path(sys.argv[1]) / "final", marker="done", ours=("done",)) as aside:
            (aside / "done").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(tmp_path)], check=False)
    assert killed.returncode == -9
    assert len(list(tmp_path.iterdir())) == 2, "the folder and its lock"
    with whole_folder(tmp_path / "final", marker="done", ours=("done",)) as first:
        (first / "done").write_text("first")
        write(tmp_path / "final", "second")
        assert (first / "done").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["final"]
    assert (tmp_path / "final" / "done").read_text() == "first"
