"""`prefstudy explain` prints what the task computed, and computes nothing itself."""

from __future__ import annotations

import numpy as np
import pytest

from flows.cli.commands.explain import _print
from models.records.duel_results import MeanGap, PlayerSummary
from models.shap.explanation import PreferenceExplanation
from tasks.duels.explanation_results import Explained
from tasks.duels.lost_matches import Losses, Place


def explained(*players: str) -> Explained:
    values, nothing = np.ones((3, len(players))), np.zeros(3)
    explanation = PreferenceExplanation(
        players=players, values=values, standard_error=None, empty=nothing, full=nothing, score=nothing, data=values,
        coalitions=4,
    )  # fmt: skip
    return Explained("losses", "Matches that A lost", "c_gpm", explanation)


def test_the_command_prints_the_numbers_of_the_losses(capsys: pytest.CaptureFixture[str]) -> None:
    losses = Losses(
        player="A", matches=9, by_items=explained("birth_year"), by_contexts=explained("surface"),
        contexts=("Clay", "Clay", "Grass"),
        features=(PlayerSummary(player="birth_year", importance=0.25, mean=-0.125, favours="less"),),
        places=(Place("Clay", 7, (0.5,)), Place("Grass", 6, (-0.0625,))),
        gap=MeanGap(model="c_gpm", gap=0.0312, preference=1.75),
    )  # fmt: skip
    _print(losses, simulated=True)
    out = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert lines["birth"][2:] == ["0.250", "-0.125", "less"]
    assert lines["Clay"][1:] == ["7", "+0.500"]
    assert lines["Grass"][1:] == ["6", "-0.062"]
    assert "A lost 3 of 9 matches." in out
    assert "SIMULATED DATA" in out
    assert "Smoothing leaves 0.031 of a preference" in out
    assert "is 1.750" in out
