"""Explanations of the matches that one player lost, by features of the two players and of the place."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from data_adapters.table.pairwise_table import PairwiseTable
from models.kernels.gpm import CGPM
from models.records.arrays import IntArray
from models.records.duel_results import MeanGap, PlayerSummary
from models.records.errors import UsageError
from models.shap.context_shap import ContextShap
from models.shap.pref_shap import PrefShap
from models.shap.summary import mean_gap, means_by_group, summarise_players
from tasks.duels.explanation_results import Explained
from tasks.duels.explanation_settings import ExplainConfig
from tasks.tables.encode import encode, encode_contexts

BY_ITEMS, BY_CONTEXTS = "losses", "losses_contexts"
"""Names of the two explanations."""


class Place(NamedTuple):
    """One kind of place, the number of matches lost there, and the mean contribution of each feature of the place."""

    words: str
    losses: int
    means: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Losses:
    """The matches that one player lost, explained from the winners' side.

    matches: number of matches the player played. features: the players' features by importance. contexts: the context
    of each loss in words. places: each context with its number of losses and the mean contributions, in the order of
    `by_contexts`' players; the most frequent first.
    """

    player: str
    matches: int
    by_items: Explained
    by_contexts: Explained
    contexts: tuple[str, ...]
    features: tuple[PlayerSummary, ...]
    places: tuple[Place, ...]
    gap: MeanGap


SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "tennis": {
        "lengthscales": {
            "birth_year": 0.5, "turned_pro": 0.43, "weight": 2.4, "height": 1.5, "handedness": 1.5, "backhand": 1.1,
        },
        "context_lengthscales": {"conditions": 1.9, "surface": 1.9},
        "penalty": 2.8e-5,
        "rank": 300,
    },
}  # fmt: skip
"""Settings of the model of each data set, close to what `models.kernels.gpm_search` finds with a tenth held out."""


def explain_losses(
    table: PairwiseTable, player: str, *, config: ExplainConfig, seed: int, model: CGPM | None = None
) -> Losses:
    """Fit a model to all matches of a table with contexts, and explain those that a player lost.

    player: a name or an id. model: unfitted; by default one with the `SETTINGS` of the data set.
    Raises UsageError if there is no such player, or the player lost no match.
    """
    row, name = find_player(table, player)
    encoded = encode(table)
    contexts, context_columns, context_of = encode_contexts(table)
    lost = np.flatnonzero(encoded.comparisons[:, 1] == row)
    matches = int((encoded.comparisons == row).sum())
    if not len(lost):
        raise UsageError(f"{name} lost none of {matches:,} matches: there is nothing to explain.")
    model = clone(model) if model is not None else CGPM(**SETTINGS[table.name])
    model.set_params(columns=encoded.columns, context_columns=context_columns)
    model.fit(encoded.items, encoded.comparisons, contexts, context_of)
    duels, settings = encoded.comparisons[lost], config.settings(seed)
    title = f"Matches that {name} lost"
    of_items = PrefShap(model, encoded.items, settings=settings).duels(encoded.items, duels)
    of_contexts = ContextShap(model, settings=settings).duels(encoded.items, duels, contexts, context_of[lost])
    words = _words(table, context_of[lost])
    return Losses(
        player=name,
        matches=matches,
        by_items=Explained(BY_ITEMS, title, "c_gpm", of_items),
        by_contexts=Explained(BY_CONTEXTS, title, "c_gpm", of_contexts, of="contexts"),
        contexts=words,
        features=summarise_players(of_items),
        places=tuple(
            Place(place, n, tuple(means.tolist())) for place, n, means in means_by_group(of_contexts.values, words)
        ),
        gap=mean_gap("c_gpm", [of_items]),
    )


def find_player(table: PairwiseTable, player: str) -> tuple[int, str]:
    """Row among the items and name of a player, given by id or by name in upper or lower case.

    Raises UsageError if there is no such player, or more than one.
    """
    ids = [str(item) for item in table.items["item_id"].to_pylist()]
    names = table.items["label"].to_pylist() if "label" in table.items.column_names else ids
    rows = [
        row for row, (item, name) in enumerate(zip(ids, names, strict=True))
        if player == item or player.casefold() == (name or "").casefold()
    ]  # fmt: skip
    if len(rows) > 1:
        raise UsageError(
            f"{len(rows)} players are called {player!r}. Give an id: {', '.join(ids[row] for row in rows)}."
        )
    if not rows:
        known = {(name or item).casefold(): name or item for item, name in zip(ids, names, strict=True)}
        close = [known[match] for match in difflib.get_close_matches(player.casefold(), known, n=3, cutoff=0.6)]
        hint = f" Did you mean {', '.join(close)}?" if close else ""
        raise UsageError(f"There is no {player!r} among the {len(ids):,} players of {table.name}.{hint}")
    return rows[0], names[rows[0]] or ids[rows[0]]


def _words(table: PairwiseTable, context_of: IntArray) -> tuple[str, ...]:
    """The features of each context in words."""
    assert table.contexts is not None
    labels = []
    for feature in table.context_features:
        values = table.contexts[feature.name].to_pylist()
        levels = feature.levels
        labels.append([
            "unknown" if value is None else levels[value] if levels and isinstance(value, bool) else str(value)
            for value in values
        ])  # fmt: skip
    words = [", ".join(parts) for parts in zip(*labels, strict=True)]
    return tuple(words[row] for row in context_of)
