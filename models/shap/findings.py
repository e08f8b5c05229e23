"""Published findings about what decides preferences, and whether they hold in a run.

A finding is declared before the run: a statistic of the explained duels, a threshold, and the side on which the
statistic must be. Swapping the two items of a duel changes no statistic but `mean_value`.

Duels share items and one fitted model, so that a bootstrap of the explained duels alone tells far too small an error.
The model is therefore fitted again to resampled data, at the settings it has, and its explanations are measured again
(see `models.shap.refits`). Statistics are quotients of two means. Their intervals are Fieller's: all values c for which
the refits' spread of numerator - c * denominator does not rule out that this is zero on average.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Literal

import numpy as np
from pydantic import Field
from scipy.stats import t as students_t

from models.records.arrays import FloatArray
from models.records.base import Record
from models.scores.comparing import Difference
from models.shap.explanation import PreferenceExplanation
from models.shap.refits import Refitted

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

LEVEL = 0.95
"""Level of the intervals."""
FEW_ITEMS = 30
"""With fewer items nothing is said about other items: resampling so few does not show how much they vary."""
OTHER_MATCHES = "other matches among the same items"
OTHER_ITEMS = "other items like these"
RANGES: Mapping[Statistic, tuple[float, float]] = {
    "importance_ratio": (0, np.inf),
    "evenness": (0, 1),
    "importance_share": (0, 1),
    "larger_favoured": (-1, 1),
}
"""The lowest and highest value of each statistic that has one."""
NOT_CALIBRATED: frozenset[tuple[str, Statistic]] = frozenset({("upm", "importance_ratio"), ("upm", "larger_favoured")})
"""Models and statistics whose intervals contained the truth in fewer than 90% of simulated data sets, where a utility
model cannot hold what it is fitted to: docs/calibration.md. No verdict follows from such an interval."""
Outcome = Literal["holds", "fails", "not_decided", "unknown"]
"""holds, fails: the interval lies on one side of the threshold; not_decided: it contains it; unknown: there is none."""


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
    >>> verdict = judge(finding, explanation)
    >>> verdict.value, verdict.outcome
    (1.0, 'unknown')
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


class Bounds(Record):
    """The 95% interval of a statistic; a bound that is None does not exist."""

    lower: float | None
    upper: float | None
    over: str = Field(description="what the interval is over, as a plural")


class Verdict(Record):
    """The result for a finding in a run: the statistic, its intervals, and whether the finding holds.

    matches: over other matches among the same items; None if there are no refits. items: over other items too; None
    where the items are too few to tell. n_items: number of items in the explained data.
    """

    finding: Finding
    value: float
    duels: int
    refits: int
    n_items: int
    matches: Bounds | None
    items: Bounds | None

    @property
    def calibrated(self) -> bool:
        """Whether the intervals of this statistic of this model contain the truth often enough for a verdict."""
        return (self.finding.model, self.finding.statistic) not in NOT_CALIBRATED

    @property
    def outcome(self) -> Outcome:
        """Whether the finding holds among the same items."""
        return self._outcome(self.matches)

    @property
    def outcome_for_others(self) -> Outcome:
        """Whether the finding holds for other items like these."""
        return self._outcome(self.items)

    def _outcome(self, bounds: Bounds | None) -> Outcome:
        if bounds is None or not self.calibrated:
            return "unknown"
        threshold = self.finding.threshold
        lower = -sys.float_info.max if bounds.lower is None else bounds.lower - threshold
        upper = sys.float_info.max if bounds.upper is None else bounds.upper - threshold
        found = Difference(estimate=self.value - threshold, lower=lower, upper=upper, over=bounds.over).outcome
        if found in ("not_shown", "unknown"):
            return "not_decided" if found == "not_shown" else "unknown"
        return "holds" if (found == "higher") == (self.finding.side == "above") else "fails"


def judge(
    finding: Finding,
    explanation: PreferenceExplanation,
    *,
    matches: Refitted | None = None,
    items: Refitted | None = None,
    n_items: int = 0,
) -> Verdict:
    """Compute the statistic of a finding on explained duels, with intervals from the refits.

    matches: explanations by models fitted to redrawn outcomes; items: by models fitted to resampled items. The second
    interval adds the variances of both. It is left out for fewer than `FEW_ITEMS` items.
    Raises ValueError for a player that is not explained, or an explanation of no duels. Example: see `Finding`.
    """
    if not len(explanation.values):
        raise ValueError(f"finding {finding.name}: there are no explained duels")
    value = quotient_of(finding, explanation, None)
    over_matches = over_items = None
    if matches is not None:
        spread = _spread(finding, matches)
        over_matches = _bounds(finding, value, spread, matches.number, OTHER_MATCHES)
        if items is not None and n_items >= FEW_ITEMS:
            spread = spread + _spread(finding, items)
            over_items = _bounds(finding, value, spread, min(matches.number, items.number), OTHER_ITEMS)
    return Verdict(
        finding=finding,
        value=float(value[0] / value[1]),
        duels=len(explanation.values),
        refits=0 if matches is None else matches.number,
        n_items=n_items,
        matches=over_matches,
        items=over_items,
    )


def fieller(quotient: FloatArray, covariance: FloatArray, reach: float) -> tuple[float, float]:
    """Fieller's interval of a quotient of two means (2,) with a covariance (2, 2); reach: standard errors to each side.

    Infinite on both sides if the denominator may be zero.

    >>> low, high = fieller(np.array([4.0, 2.0]), np.diag([0.04, 0.0]), 1.96)
    >>> round(low, 3), round(high, 3)
    (1.804, 2.196)
    >>> fieller(np.array([4.0, 2.0]), np.diag([0.04, 9.0]), 1.96)
    (-inf, inf)
    """
    (a, b), V = quotient, reach**2 * covariance
    square, half, rest = b * b - V[1, 1], a * b - V[0, 1], a * a - V[0, 0]
    inside = half * half - square * rest
    if square <= 0 or inside < 0:
        return -np.inf, np.inf
    return float((half - np.sqrt(inside)) / square), float((half + np.sqrt(inside)) / square)


def _bounds(finding: Finding, value: FloatArray, covariance: FloatArray, n: int, over: str) -> Bounds:
    """The interval within the statistic's range, from a covariance that n refits estimate."""
    found = fieller(value, covariance, float(students_t.ppf((1 + LEVEL) / 2, n - 1)))
    lowest, highest = RANGES.get(finding.statistic, (-np.inf, np.inf))
    lower, upper = max(found[0], lowest), min(found[1], highest)
    return Bounds(lower=lower if np.isfinite(lower) else None, upper=upper if np.isfinite(upper) else None, over=over)


def _spread(finding: Finding, refitted: Refitted) -> FloatArray:
    """The covariance (2, 2) of numerator and denominator over refits."""
    found = [
        quotient_of(finding, explanation, weights)
        for explanation, weights in zip(refitted.explanations, refitted.weights, strict=True)
    ]
    return np.cov(np.array(found).T)


def _positions(finding: Finding, names: tuple[str, ...], players: tuple[str, ...]) -> list[int]:
    if unknown := [name for name in names if name not in players]:
        raise ValueError(f"finding {finding.name}: no player {', '.join(unknown)} among {', '.join(players)}")
    return [players.index(name) for name in names]


def quotient_of(finding: Finding, explanation: PreferenceExplanation, weights: FloatArray | None) -> FloatArray:
    """Numerator and denominator (2,) of the statistic over explained duels with weights (n,); equal ones if None."""
    players = _positions(finding, finding.players, explanation.players)
    others = [at for at in range(len(explanation.players)) if at not in players]
    rivals = _positions(finding, finding.rivals, explanation.players) or others
    values = explanation.values
    importance = np.average(np.abs(values), axis=0, weights=weights)
    towards_larger = np.average(values * np.sign(np.nan_to_num(explanation.data)), axis=0, weights=weights)
    tiny = float(np.finfo(np.float64).tiny)
    if finding.statistic == "importance_ratio":
        found = importance[players].min(), importance[rivals].max()
    elif finding.statistic == "evenness":
        found = importance[players].min(), importance[players].max()
    elif finding.statistic == "importance_share":
        found = importance[players].sum(), importance.sum()
    elif finding.statistic == "larger_favoured":
        favour = towards_larger[players] / np.maximum(importance[players], tiny)
        at = players[int(favour.argmin() if finding.side == "above" else favour.argmax())]
        found = towards_larger[at], importance[at]
    else:
        found = np.average(values, axis=0, weights=weights)[players].sum(), 1.0
    return np.array([found[0], max(found[1], tiny)])
