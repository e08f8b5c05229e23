"""Published findings about what decides preferences, the statistic that decides each, and whether it holds in a run.

A finding is declared before the run: what is measured on the explained duels, and on which side of which threshold it
must be. All statistics but `mean_value` are the same whichever of the two of a duel comes first.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from models.records.arrays import FloatArray
from models.records.base import Record
from models.shap.explanation import PreferenceExplanation

Statistic = Literal["importance_ratio", "evenness", "importance_share", "larger_favoured", "mean_value"]

STATISTICS: dict[Statistic, str] = {
    "importance_ratio": "the lowest importance among the features named, divided by the highest among the others, or "
    "among those they are set against",
    "evenness": "the lowest importance among the features named, divided by the highest among them",
    "importance_share": "the importance of the features named as a share of that of all",
    "larger_favoured": "1 where a feature always speaks for the one of the two that has more of it, −1 where always "
    "for the one that has less; of several features, that of the one furthest from what is claimed",
    "mean_value": "the mean contribution of the features named, together",
}
"""What each measures; the importance of a player is its mean absolute value over duels."""

RESAMPLES = 2_000
LEVEL = 0.95


class Finding(Record):
    """A published finding, and what decides whether it holds."""

    name: str = Field(description="what it is called in results")
    source: str = Field(description="where it was published")
    claim: str = Field(description="what it says, as a sentence")
    explained: str = Field(description="which explanations are looked at")
    model: Literal["gpm", "c_gpm", "upm"] = "gpm"
    statistic: Statistic = Field(description="what is measured on them")
    players: tuple[str, ...] = Field(description="the features it is about", min_length=1)
    rivals: tuple[str, ...] = Field(default=(), description="those they are compared with; all others if not set")
    side: Literal["above", "below"] = Field(default="above", description="where the statistic must be")
    threshold: float = Field(description="of which value")


class Verdict(Record):
    """What a run found of a finding: the statistic, the bootstrap interval over duels, and whether it holds.

    It holds where the whole interval lies on the side that was declared.
    """

    finding: Finding
    value: float
    lower: float
    upper: float
    duels: int
    holds: bool

    @property
    def undecided(self) -> bool:
        """Whether the threshold lies within the interval."""
        return self.lower <= self.finding.threshold <= self.upper


def judge(finding: Finding, explanation: PreferenceExplanation, *, seed: int) -> Verdict:
    """Measure a finding's statistic on explained duels, and again on duels drawn from them with replacement.

    Raises ValueError for a player that is not explained, or an explanation of no duels.
    """
    duels = len(explanation.values)
    if not duels:
        raise ValueError(f"finding {finding.name}: there are no explained duels")
    players = _positions(finding, finding.players, explanation.players)
    others = [at for at in range(len(explanation.players)) if at not in players]
    rivals = _positions(finding, finding.rivals, explanation.players) or others
    parts = np.stack(
        [np.abs(explanation.values), explanation.values * np.sign(np.nan_to_num(explanation.data)), explanation.values]
    )  # (3, n, d)
    draws = np.random.default_rng(seed).multinomial(duels, np.full(duels, 1 / duels), size=RESAMPLES)
    once = _measure(finding, parts.mean(axis=1)[:, None], players, rivals)
    again = _measure(finding, draws @ parts / duels, players, rivals)
    lower, upper = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    holds = lower > finding.threshold if finding.side == "above" else upper < finding.threshold
    return Verdict(
        finding=finding, value=once[0], lower=float(lower), upper=float(upper), duels=duels, holds=bool(holds)
    )


def _positions(finding: Finding, names: tuple[str, ...], players: tuple[str, ...]) -> list[int]:
    if unknown := [name for name in names if name not in players]:
        raise ValueError(f"finding {finding.name}: no player {', '.join(unknown)} among {', '.join(players)}")
    return [players.index(name) for name in names]


def _measure(finding: Finding, means: FloatArray, players: list[int], rivals: list[int]) -> FloatArray:
    """means: (3, b, d) of each player's absolute value, value towards the larger, and value. Returns (b,)."""
    importance, towards_larger, value = means
    tiny = np.finfo(np.float64).tiny
    if finding.statistic == "importance_ratio":
        return np.asarray(importance[:, players].min(axis=1) / np.maximum(importance[:, rivals].max(axis=1), tiny))
    if finding.statistic == "evenness":
        mine = importance[:, players]
        return np.asarray(mine.min(axis=1) / np.maximum(mine.max(axis=1), tiny))
    if finding.statistic == "importance_share":
        return np.asarray(importance[:, players].sum(axis=1) / np.maximum(importance.sum(axis=1), tiny))
    if finding.statistic == "larger_favoured":
        favour = towards_larger[:, players] / np.maximum(importance[:, players], tiny)
        return np.asarray(favour.min(axis=1) if finding.side == "above" else favour.max(axis=1))
    return np.asarray(value[:, players].sum(axis=1))
