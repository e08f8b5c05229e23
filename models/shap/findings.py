"""Published findings about what decides preferences, and whether they hold in a run.

A finding is declared before the run: a statistic of the explained duels, a threshold, and the side on which the
statistic must be. Swapping the two items of a duel changes no statistic but `mean_value`.
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
    "importance_ratio": "the lowest importance among the named features, divided by the highest among the others, or "
    "among the named rivals",
    "evenness": "the lowest importance among the named features, divided by the highest among them",
    "importance_share": "the importance of the named features as a share of the importance of all features",
    "larger_favoured": "1 if a feature always favours the item that has more of it, −1 if always the item that has "
    "less; for several features, the value furthest from the claim",
    "mean_value": "the mean of the summed contributions of the named features",
}
"""Each statistic in words; the importance of a player is its mean absolute Shapley value over duels."""

RESAMPLES = 2_000
LEVEL = 0.95
"""Level of the bootstrap interval."""


class Finding(Record):
    """A published finding, and the statistic that decides whether it holds.

    >>> finding = Finding(
    ...     name="faster_wins", source="a paper", claim="The faster one wins.", explained="all",
    ...     statistic="larger_favoured", players=("speed",), threshold=0.5,
    ... )
    >>> values = np.array([[2.0, 0.1], [1.0, -0.2], [-2.5, 0.1]])
    >>> explanation = PreferenceExplanation(
    ...     players=("speed", "age"), values=values, standard_error=None, empty=np.zeros(3), full=values.sum(axis=1),
    ...     score=values.sum(axis=1), data=np.array([[9.0, 1.0], [4.0, 1.0], [-7.0, 0.0]]), coalitions=4,
    ... )
    >>> verdict = judge(finding, explanation, seed=0)
    >>> verdict.value, verdict.holds
    (1.0, True)
    """

    name: str = Field(description="name in the results")
    source: str = Field(description="publication, with page or table")
    claim: str = Field(description="the finding as a sentence")
    explained: str = Field(description="kind of explained duels that the statistic is computed on")
    model: Literal["gpm", "c_gpm", "upm"] = Field(default="gpm", description="model whose explanations are used")
    statistic: Statistic = Field(description="statistic of the explained duels")
    players: tuple[str, ...] = Field(description="features of the finding", min_length=1)
    rivals: tuple[str, ...] = Field(default=(), description="features to compare with; all others if not set")
    side: Literal["above", "below"] = Field(default="above", description="side of the threshold it must be on")
    threshold: float = Field(description="threshold of the statistic")


class Verdict(Record):
    """The result for a finding in a run: the statistic, its bootstrap interval over duels, and whether it holds.

    It holds if the whole interval lies on the declared side of the threshold.
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
    """Compute the statistic of a finding on explained duels, with a bootstrap interval over duels.

    Raises ValueError for a player that is not explained, or an explanation of no duels. Example: see `Finding`.
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
    """The statistic of b samples of duels, (b,).

    means: (3, b, d) per player, the mean absolute value, the mean value for the item with more, and the mean value.
    """
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
