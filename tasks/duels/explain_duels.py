"""Explanations of held-out duels: the choice of the duels, of the players, and of the models."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from models.kernels.gpm import CGPM
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.duel_results import KernelModel
from models.records.errors import UsageError
from models.records.features import Column
from models.scores.duel_splits import Duels
from models.shap.context_shap import ContextShap
from models.shap.explanation import REST, PreferenceExplanation, ShapSettings
from models.shap.pref_shap import PrefShap
from models.shap.refits import Refitted
from tasks.duels.explanation_results import Explained
from tasks.duels.explanation_settings import DuelKind
from tasks.duels.refits import Model, Refits


def explain_duels(
    kinds: Sequence[DuelKind],
    models: Mapping[KernelModel, Model],
    duels: Duels,
    held_out: IntArray,
    *,
    most: int,
    settings: ShapSettings,
    items_named: Mapping[str, int] | None = None,
    refits: Refits | None = None,
) -> list[Explained]:
    """Explain each kind of duels by each fitted model; only a model with contexts is explained by contexts.

    held_out: rows of the duels that the models were not fitted to. most: largest number of duels of a kind; more are
    sampled. items_named: rows of items by name, for `lost_by`. refits: the same models fitted to resampled data, which
    explain the same duels. Raises UsageError for a kind without duels.
    """
    explained = []
    for kind in kinds:
        rows = _rows(kind, duels, held_out, items_named or {})
        if len(rows) > most:
            rows = np.sort(np.random.default_rng(settings.seed).choice(rows, size=most, replace=False))
        for name, model in models.items():
            again = {which: of[name] for which, of in refits.models.items()} if refits is not None else {}
            every = [model, *itertools.chain.from_iterable(again.values())]
            if not kind.by_contexts:
                first, *others = _by_items(kind, every, duels, rows, settings)
            elif isinstance(model, CGPM):
                first, *others = _by_contexts(every, duels, rows, settings)
            else:
                continue
            one = Explained(kind.name, kind.title, name, first, of="contexts" if kind.by_contexts else "items")
            explained.append(one if refits is None else _with_refits(one, kind, others, refits, rows))
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
        replace(
            folds[0],
            explanation=_joined([fold.explanation for fold in folds]),
            matches=_refitted([fold.matches for fold in folds]),
            items=_refitted([fold.items for fold in folds]),
        )
        for folds in zip(*parts, strict=True)
    ]


def _with_refits(
    one: Explained, kind: DuelKind, others: Sequence[PreferenceExplanation], refits: Refits, rows: IntArray
) -> Explained:
    """The same with its refits, first those to redrawn outcomes. A duel whose outcome is turned has another winner.

    The duels that an item lost stay the ones it lost.
    """
    n = len(refits.turned)
    turned = refits.turned[:, rows] & (kind.lost_by is None)
    again = [_turned(each, now, data=not kind.by_contexts) for each, now in zip(others[:n], turned, strict=True)]
    weights = {which: of[:, rows] for which, of in refits.weights.items()}
    matches = Refitted(tuple(again), weights["matches"])
    items = Refitted(tuple(others[n:]), weights["items"])
    return replace(one, matches=matches, items=items)


def _turned(explained: PreferenceExplanation, turned: BoolArray, *, data: bool) -> PreferenceExplanation:
    """The explanations from the other side of some duels (m,); data: whether the data are differences of the two."""
    sign = np.where(turned, -1.0, 1.0)
    parts = {name: getattr(explained, name) * sign for name in ("empty", "full", "score")}
    values = explained.values * sign[:, None]
    return replace(explained, values=values, data=explained.data * sign[:, None] if data else explained.data, **parts)


def _refitted(folds: Sequence[Refitted | None]) -> Refitted | None:
    """The refits of several folds together, number by number; None if there are none."""
    known = [fold for fold in folds if fold is not None]
    if not known:
        return None
    explanations = zip(*(fold.explanations for fold in known), strict=True)
    return Refitted(
        tuple(_joined(numbered) for numbered in explanations),
        np.concatenate([fold.weights for fold in known], axis=1),
    )


def _by_contexts(
    models: Sequence[Model], duels: Duels, rows: IntArray, settings: ShapSettings
) -> list[PreferenceExplanation]:
    """Explain duels by the features of their contexts, by each of some models of one kernel."""
    every = [model for model in models if isinstance(model, CGPM)]
    explainer = ContextShap(every[0], settings=settings)
    return explainer.duels_of(every, duels.items, duels.comparisons[rows], duels.contexts, duels.context_of[rows])


def _by_items(
    kind: DuelKind, models: Sequence[Model], duels: Duels, rows: IntArray, settings: ShapSettings
) -> list[PreferenceExplanation]:
    """Explain duels by the features of the two items, by each of some models of one kernel.

    All items are the reference, contexts are weighted by duels.
    """
    explainer = PrefShap(models[0], duels.items, players=_players(kind, duels.columns), settings=settings)
    return explainer.duels_of(models, duels.items, duels.comparisons[rows])


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
