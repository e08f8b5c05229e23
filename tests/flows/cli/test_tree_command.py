"""The command `prefstudy tree`."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.cli.main import main


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["data", "simulate", "sushi", "--out", "raw", "--users", "12"]) == 0
    assert main(["data", "build", "sushi", "--raw", "raw", "--out", "tables"]) == 0
    return tmp_path


def test_fit_show_and_edit_a_tree(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", "fit", "tables/sushi", "--max-depth", "3"]) == 0
    fitted = capsys.readouterr().out
    assert "node 0, " in fitted
    assert "Edit it: prefstudy tree edit tree.json" in fitted
    assert main(["tree", "edit", "tree.json", "--merge", "1", "--pin", "0>1", "--out", "mine.json"]) == 0
    edited = capsys.readouterr().out
    assert "pinned: leaf 0 at or above leaf 1" in edited
    assert "→" in edited
    assert main(["tree", "show", "mine.json"]) == 0
    assert "pinned: leaf 0 at or above leaf 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--pin", "0-1"], "expected --pin LEAF>LEAF"),
        (["--threshold", "0"], "expected --threshold NODE=VALUE"),
        (["--threshold", "0=nan"], "0=nan: expected --threshold NODE=VALUE, both numbers."),
        (["--threshold", "0=1e999"], "0=1e999: expected --threshold NODE=VALUE, both numbers."),
        (["--threshold", "0=2", "--threshold", "0=3"], "--threshold: a node is named twice"),
        (["--pin", "0>1.5"], "0>1.5: expected --pin LEAF>LEAF, both whole numbers."),
        (["--merge", "99"], "there is no node 99"),
    ],
)
def test_impossible_edits_exit_with_2(
    workplace: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert main(["tree", "fit", "tables/sushi"]) == 0
    before = Path("tree.json").read_bytes()
    assert main(["tree", "edit", "tree.json", *arguments]) == 2
    assert complaint in capsys.readouterr().err
    assert Path("tree.json").read_bytes() == before
