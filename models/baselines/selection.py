"""Plain models of duels, and the choice of their settings on duels that neither train nor test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from models.baselines.boosting import AntisymmetricBoosting
from models.baselines.by_name import ByName
from models.baselines.coin import Coin
from models.baselines.difference_logit import DifferenceLogit
from models.records.arrays import FloatArray, IntArray
from models.records.base import Record
from models.records.duel_results import BaselineModel
from models.scores.discrimination import log_loss
from models.scores.duel_splits import Duels

Baseline = Coin | DifferenceLogit | ByName | AntisymmetricBoosting

STRENGTHS = (0.1, 1.0, 10.0)
"""The values of `strength` to try."""
LEARNING_RATES = (0.03, 0.1, 0.3)
"""The values of `learning_rate` to try: with few duels a slow one, which fits less."""


class ChosenBaseline(Record):
    """The settings chosen for a plain model, and its loss per validation duel in nats; None if there are none."""

    model: BaselineModel
    strength: float | None = None
    learning_rate: float | None = None
    validation_loss: float | None = None


class DuelBaseline:
    """A plain model of the duels of a table, with its settings; it is given names, features or contexts as it needs.

    >>> from models.scores.duel_splits import Duels
    >>> duels = Duels(
    ...     items=np.zeros((3, 0)), columns=(), comparisons=np.array([[1, 0], [2, 1]]),
    ...     left_wins=np.ones(2, dtype=bool), keys=np.arange(2, dtype=np.uint64), contexts=np.zeros((1, 0)),
    ...     context_columns=(), context_of=np.zeros(2, dtype=np.int64),
    ... )
    >>> model = DuelBaseline(ChosenBaseline(model="by_name", strength=1.0), duels).fit(np.array([0, 1]))
    >>> model.preference(np.array([0, 1])).round(2)
    array([0.4, 0.4])
    """

    def __init__(self, chosen: ChosenBaseline, duels: Duels) -> None:
        self.duels = duels
        self.model: Baseline = _unfitted(chosen, duels)
        self._items: ArrayLike = duels.names if isinstance(self.model, ByName) else duels.items
        self._knows_contexts = bool(duels.context_columns) and chosen.model not in {"coin", "by_name"}

    def fit(self, rows: IntArray) -> DuelBaseline:
        """Fit to the duels in rows (k,)."""
        self.model.fit(self._items, self.duels.comparisons[rows], *self._contexts(rows))
        return self

    def preference(self, rows: IntArray) -> FloatArray:
        """The preference for the winner over the loser of the duels in rows (k,), (k,)."""
        return self.model.decision_function(self._items, self.duels.comparisons[rows], *self._contexts(rows))

    def probability(self, rows: IntArray) -> FloatArray:
        """The probability that the winner wins, of the duels in rows (k,), (k,)."""
        return self.model.predict_proba(self._items, self.duels.comparisons[rows], *self._contexts(rows))

    def _contexts(self, rows: IntArray) -> tuple[ArrayLike, ...]:
        return (self.duels.contexts, self.duels.context_of[rows]) if self._knows_contexts else ()


def choose_baseline(kind: BaselineModel, duels: Duels, parts: Sequence[tuple[IntArray, IntArray]]) -> ChosenBaseline:
    """Choose the settings of a plain model by the log loss on tried duels, pooled over parts.

    parts: rows to fit and rows to try. Raises ValueError if there are none.
    """
    found = []
    for candidate in _candidates(kind):
        chances = [DuelBaseline(candidate, duels).fit(fitted).probability(tried) for fitted, tried in parts]
        found.append(candidate.model_copy(update={"validation_loss": log_loss(np.concatenate(chances))}))
    return min(found, key=lambda each: each.validation_loss or 0.0)


def _candidates(kind: BaselineModel) -> list[ChosenBaseline]:
    if kind == "coin":
        return [ChosenBaseline(model=kind)]
    if kind == "boosting":
        return [ChosenBaseline(model=kind, learning_rate=rate) for rate in LEARNING_RATES]
    return [ChosenBaseline(model=kind, strength=strength) for strength in STRENGTHS]


def _unfitted(chosen: ChosenBaseline, duels: Duels) -> Baseline:
    settings = chosen.model_dump(include={"strength", "learning_rate"}, exclude_none=True)
    if chosen.model == "difference_logit":
        return DifferenceLogit(duels.columns, duels.context_columns, **settings)
    if chosen.model == "boosting":
        return AntisymmetricBoosting(duels.columns, duels.context_columns, **settings)
    if chosen.model == "coin":
        return Coin()
    return ByName(duels.context_columns, **settings)
