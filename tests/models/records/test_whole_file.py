"""A file appears whole or not at all, and nothing is left beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.records.whole_file import whole_file


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
