"""Duels explained by the features of the items, of both kinds of model, and by those of their contexts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models.context_shap import ContextShap
from models.gpm import CGPM, GPM, UPM
from models.pref_shap import PrefShap
from models.preference_explanation import Players, ShapSettings
from models.records import FloatArray, IntArray
from tasks.explanations import Explained, KernelModel


def draw_duels(n: int, most: int, *, seed: int) -> IntArray:
    """All of n duels, or so many of them drawn at random, ascending."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size=most, replace=False))


def explain_by_items(
    name: str,
    title: str,
    models: Mapping[KernelModel, GPM | CGPM | UPM],
    items: FloatArray,
    duels: IntArray,
    *,
    settings: ShapSettings,
    players: Players | None = None,
) -> list[Explained]:
    """Which features of the two decide duels (t, 2), rows of items (n, d), winner first: for each model.

    All items are the reference. A model that knows contexts is explained as its mean over them (pref-shap, Table 1).
    """
    return [
        Explained(name, title, kind, PrefShap(model, items, players=players, settings=settings).duels(items, duels))
        for kind, model in models.items()
    ]


def explain_by_contexts(
    name: str,
    title: str,
    model: CGPM,
    items: FloatArray,
    duels: IntArray,
    contexts: FloatArray,
    context_of: IntArray,
    *,
    settings: ShapSettings,
) -> Explained:
    """Which features of their contexts decide duels (t, 2), winner first; context_of: (t,) rows of contexts (q, e)."""
    explanation = ContextShap(model, settings=settings).duels(items, duels, contexts, context_of)
    return Explained(name, title, "c_gpm", explanation, of="contexts")
