"""Explanations of held-out duels: the choice of the duels, of the players, and of the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from models.kernels.gpm import CGPM, GPM, UPM
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.duel_results import KernelModel
from models.records.errors import UsageError
from models.records.features import Column
from models.scores.duel_splits import Duels
from models.shap.context_shap import ContextShap
from models.shap.explanation import REST, PreferenceExplanation, ShapSettings
from models.shap.pref_shap import PrefShap
from tasks.duels.explanation_results import Explained
from tasks.duels.explanation_settings import DuelKind


def explain_duels(
    kinds: Sequence[DuelKind],
    models: Mapping[KernelModel, GPM | CGPM | UPM],
    duels: Duels,
    held_out: IntArray,
    *,
    most: int,
    settings: ShapSettings,
    items_named: Mapping[str, int] | None = None,
) -> list[Explained]:
    """Explain each kind of duels by each fitted model; only a model with contexts is explained by contexts.

    held_out: rows of the duels that the models were not fitted to. most: largest number of duels of a kind; more are
    sampled. items_named: rows of items by name, for `lost_by`. Raises UsageError for a kind without duels.
    """
    explained = []
    for kind in kinds:
        rows = _rows(kind, duels, held_out, items_named or {})
        if len(rows) > most:
            rows = np.sort(np.random.default_rng(settings.seed).choice(rows, size=most, replace=False))
        for name, model in models.items():
            if not kind.by_contexts:
                explained.append(Explained(kind.name, kind.title, name, _by_items(kind, model, duels, rows, settings)))
            elif isinstance(model, CGPM):
                explanation = _by_contexts(model, duels, rows, settings)
                explained.append(Explained(kind.name, kind.title, name, explanation, of="contexts"))
    return explained


def check_duels(
    kinds: Sequence[DuelKind], duels: Duels, held_out: IntArray, *, items_named: Mapping[str, int] | None = None
) -> None:
    """Raise UsageError if there are no duels of some kind; to be called before anything is fitted."""
    for kind in kinds:
        _rows(kind, duels, held_out, items_named or {})
        _players(kind, duels.columns)


def pooled(parts: Sequence[Sequence[Explained]]) -> list[Explained]:
    """Join the explanations of several folds, kind by kind; each fold is explained by its own models."""
    return [
        replace(folds[0], explanation=_joined([fold.explanation for fold in folds]))
        for folds in zip(*parts, strict=True)
    ]


def _by_contexts(model: CGPM, duels: Duels, rows: IntArray, settings: ShapSettings) -> PreferenceExplanation:
    """Explain duels by the features of their contexts."""
    explainer = ContextShap(model, settings=settings)
    return explainer.duels(duels.items, duels.comparisons[rows], duels.contexts, duels.context_of[rows])


def _by_items(
    kind: DuelKind, model: GPM | CGPM | UPM, duels: Duels, rows: IntArray, settings: ShapSettings
) -> PreferenceExplanation:
    """Explain duels by the features of the two items; all items are the reference, contexts are weighted by duels."""
    players = _players(kind, duels.columns)
    return PrefShap(model, duels.items, players=players, settings=settings).duels(duels.items, duels.comparisons[rows])


def _players(kind: DuelKind, columns: Sequence[Column]) -> dict[str, tuple[int, ...]]:
    """The columns of each player."""
    players: dict[str, tuple[int, ...]] = {}
    if kind.apart:
        players = {name: (_column(columns, name),) for name in kind.apart}
        taken = {at for group in players.values() for at in group}
        return players | {REST: tuple(at for at in range(len(columns)) if at not in taken)}
    name, together = kind.together or ("", ())
    for at, column in enumerate(columns):
        player = name if column.feature in together else column.feature
        players[player] = (*players.get(player, ()), at)
    return players


def _rows(kind: DuelKind, duels: Duels, held_out: IntArray, items_named: Mapping[str, int]) -> IntArray:
    """The duels of a kind. Raises UsageError if there are none."""
    met = np.zeros(len(duels.comparisons), dtype=np.bool_)
    met[held_out] = True
    if kind.lost_by is not None:
        if kind.lost_by not in items_named:
            raise UsageError(
                f"explaining.kinds, {kind.name}: there is no item named {kind.lost_by!r}, or more than one."
            )
        met = duels.comparisons[:, 1] == items_named[kind.lost_by]
    if kind.between is not None:
        met &= _between(duels, *kind.between)
    if kind.within is not None:
        met &= _within(duels, *kind.within)
    if kind.where is not None:
        met &= _in_level(duels.contexts, duels.context_columns, *kind.where)[duels.context_of]
    if not met.any():
        raise UsageError(
            f"explaining.kinds, {kind.name}: none of the {len(held_out):,} held-out duels is of this kind. Hold out "
            "more, simulate more items, or leave this kind out."
        )
    return np.flatnonzero(met)


def _between(duels: Duels, feature: str, one: str, other: str) -> BoolArray:
    first, second = (_in_level(duels.items, duels.columns, feature, level)[duels.comparisons] for level in (one, other))
    return np.asarray((first[:, 0] & second[:, 1]) | (second[:, 0] & first[:, 1]))


def _within(duels: Duels, feature: str, levels: Sequence[str]) -> BoolArray:
    wanted = {f"{feature}={level}" for level in levels}
    others = [at for at, column in enumerate(duels.columns) if column.feature == feature and column.name not in wanted]
    has_another = (duels.items[:, others] == 1.0).any(axis=1)
    return np.asarray(~has_another[duels.comparisons].any(axis=1))


def _in_level(rows: FloatArray, columns: Sequence[Column], feature: str, level: str) -> BoolArray:
    at = _column(columns, feature)
    levels = columns[at].levels or ()
    if level not in levels:
        raise UsageError(f"explaining.kinds: {feature} has no level {level!r}. Its levels: {', '.join(levels)}")
    return np.asarray(rows[:, at] == levels.index(level))


def _column(columns: Sequence[Column], name: str) -> int:
    names = [column.name for column in columns]
    if name not in names:
        raise UsageError(f"explaining.kinds: there is no column {name!r}. Columns: {', '.join(names)}")
    return names.index(name)


def _joined(parts: Sequence[PreferenceExplanation]) -> PreferenceExplanation:
    errors = [part.standard_error for part in parts if part.standard_error is not None]
    return PreferenceExplanation(
        players=parts[0].players,
        values=np.concatenate([part.values for part in parts]),
        standard_error=np.concatenate(errors) if len(errors) == len(parts) else None,
        empty=np.concatenate([part.empty for part in parts]),
        full=np.concatenate([part.full for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        data=np.concatenate([part.data for part in parts]),
        coalitions=max(part.coalitions for part in parts),
    )
