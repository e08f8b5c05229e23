"""Comparisons that a tree gets wrong or leaves open, and which of them a model reasons about (dt-pbo G.2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np

from models.records.arrays import FloatArray, IntArray
from models.records.studies.message_results import HardKind
from models.scores.accuracy import TIE_TOLERANCE
from models.trees.preference_tree import PreferenceTree

FAILURES: dict[HardKind, str] = {
    "same_leaf": "cannot tell them apart",
    "same_value": "finds differences, but values both alike",
    "reversed": "puts the second before the first",
}
"""The three kinds of hard comparison, in the words of the question to the model."""


class Hard(NamedTuple):
    """A hard comparison: its row, and how the tree fails on it."""

    row: int
    kind: HardKind


def hard_comparisons(tree: PreferenceTree, items: FloatArray, comparisons: IntArray, rows: IntArray) -> list[Hard]:
    """The comparisons among `rows` that a tree gets wrong or leaves open (dt-pbo G.2, i to iii)."""
    leaf = tree.apply(items)[comparisons[rows]]
    value = tree.predict(items)[comparisons[rows]]
    difference = value[:, 0] - value[:, 1]
    same_leaf, same_value = leaf[:, 0] == leaf[:, 1], np.abs(difference) <= TIE_TOLERANCE
    kinds = np.select([same_leaf, same_value, difference < 0], ["same_leaf", "same_value", "reversed"], default="")
    return [Hard(row, kind) for row, kind in zip(rows.tolist(), kinds.tolist(), strict=True) if kind]


def choose_in_turn(hard: Sequence[Hard], lots: IntArray, most: int) -> list[Hard]:
    """At most `most` hard comparisons: the kinds take turns, and within a kind the lowest lot comes first.

    lots: (n,) a number for each comparison.

    >>> hard = [Hard(0, "reversed"), Hard(1, "reversed"), Hard(2, "same_leaf")]
    >>> [each.row for each in choose_in_turn(hard, np.array([9, 4, 7]), 2)]
    [2, 1]
    """
    drawn = sorted(hard, key=lambda each: int(lots[each.row]))
    of_kind = [[each for each in drawn if each.kind == kind] for kind in FAILURES]
    return [each for each in chain.from_iterable(zip_longest(*of_kind)) if each is not None][:most]
