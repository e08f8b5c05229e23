"""`prefstudy explain` prints what the task computed, and computes nothing itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flows.cli.commands.explain import _print, _write
from models.records.duel_results import MeanGap, PlayerSummary
from models.records.errors import OutputError
from models.shap.explanation import PreferenceExplanation
from tasks.duels.explanation_results import Explained
from tasks.duels.lost_matches import BY_CONTEXTS, BY_ITEMS, Losses, Place


def explained(*players: str, name: str = BY_ITEMS) -> Explained:
    values, nothing = np.ones((3, len(players))), np.zeros(3)
    explanation = PreferenceExplanation(
        players=players, values=values, standard_error=None, empty=nothing, full=nothing, score=nothing, data=values,
        coalitions=4,
    )  # fmt: skip
    return Explained(name, "Matches that A lost", "c_gpm", explanation)


def losses() -> Losses:
    return Losses(
        player="A", matches=9, by_items=explained("birth_year"), by_contexts=explained("surface", name=BY_CONTEXTS),
        contexts=("Clay", "Clay", "Grass"),
        features=(PlayerSummary(player="birth_year", importance=0.25, mean=-0.125, favours="less"),),
        places=(Place("Clay", 7, (0.5,)), Place("Grass", 6, (-0.0625,))),
        gap=MeanGap(model="c_gpm", gap=0.0312, preference=1.75),
    )  # fmt: skip


def test_the_command_prints_the_numbers_of_the_losses(capsys: pytest.CaptureFixture[str]) -> None:
    _print(losses(), simulated=True)
    out = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert lines["birth"][2:] == ["0.250", "-0.125", "less"]
    assert lines["Clay"][1:] == ["7", "+0.500"]
    assert lines["Grass"][1:] == ["6", "-0.062"]
    assert "A lost 3 of 9 matches." in out
    assert "SIMULATED DATA" in out
    assert "Smoothing leaves 0.031 of a preference" in out
    assert "is 1.750" in out


def test_what_is_written_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    _write(losses(), out)
    files = {"explained.json", "explanations.parquet", "explained_duels.parquet", "losses.svg", "losses_contexts.svg"}
    assert {file.name for file in out.iterdir()} == files
    before = {file.name: file.stat().st_mtime_ns for file in out.iterdir()}

    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reports.page.html.standalone_svg", full)
    for folder in (out, tmp_path / "new"):
        with pytest.raises(OutputError, match="No space left on device"):
            _write(losses(), folder)
    assert {file.name: file.stat().st_mtime_ns for file in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_other_files_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(OutputError, match="was not written by prefstudy"):
        _write(losses(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
