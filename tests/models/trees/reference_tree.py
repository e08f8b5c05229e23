"""The preference tree as the paper defines it, slow and simple: every threshold, every subset, one pair at a time."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from models.records.features import Column, FeatureKind
from models.trees.growth.grow import Growth


@dataclass(frozen=True)
class Pair:
    winner: int
    loser: int
    masked: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Split:
    column: int
    threshold: float | None
    left_levels: tuple[int, ...] | None
    missing_left: bool

    def goes_left(self, row: np.ndarray) -> bool:
        value = row[self.column]
        if math.isnan(value):
            return self.missing_left
        return value < self.threshold if self.left_levels is None else value in self.left_levels


def signed_score(split: Split, items: np.ndarray, pairs: list[Pair]) -> int:
    """Sum of Z over the pairs (Eq. 5); pairs masked on the column count zero (Eq. 12)."""
    total = 0
    for pair in pairs:
        if split.column not in pair.masked:
            total += int(split.goes_left(items[pair.loser])) - int(split.goes_left(items[pair.winner]))
    return total


def numeric_splits(k: int, items: np.ndarray, pairs: list[Pair]) -> list[Split]:
    values = sorted({items[i][k] for pair in pairs for i in (pair.winner, pair.loser)} - {math.nan}, key=float)
    values = [value for value in values if not math.isnan(value)]
    return [
        Split(k, (low + high) / 2, None, side)
        for low, high in itertools.pairwise(sorted(set(values)))
        for side in (True, False)
    ]


def categories_in(k: int, items: np.ndarray, rows: set[int]) -> set[int]:
    return {int(items[i][k]) for i in rows if not math.isnan(items[i][k])}


def all_subset_splits(k: int, items: np.ndarray, pairs: list[Pair]) -> list[Split]:
    seen = sorted(categories_in(k, items, {i for pair in pairs for i in (pair.winner, pair.loser)}))
    return [
        Split(k, None, subset, side)
        for size in range(1, len(seen))
        for subset in itertools.combinations(seen, size)
        for side in (True, False)
    ]


def gap_share(split: Split, items: np.ndarray, pairs: list[Pair]) -> float:
    """Gap between the two values next to a threshold, over the range of the column; 1 for a categorical split."""
    if split.threshold is None:
        return 1.0
    used = {items[i][split.column] for pair in pairs for i in (pair.winner, pair.loser)}
    below = max(value for value in used if value < split.threshold)
    above = min(value for value in used if value > split.threshold)
    known = items[:, split.column][~np.isnan(items[:, split.column])]
    return float((above - below) / (known.max() - known.min()))


def best_split(
    items: np.ndarray, columns: tuple[Column, ...], pairs: list[Pair], region: set[int], growth: Growth
) -> tuple[Split, int] | None:
    """The split of highest |score|; the tie rule, lowest column, lowest threshold, missing left decide among equals.

    items: all items of the tree.
    """
    best: tuple[Split, int] | None = None
    highest = (0, 0.0)
    for k, column in enumerate(columns):
        if column.kind is FeatureKind.CATEGORICAL:
            held = categories_in(k, items, {i for pair in pairs for i in (pair.winner, pair.loser)})
            if growth.categories_of == "region":
                held |= categories_in(k, items, region)
            if growth.max_categories is not None and len(held) > growth.max_categories:
                continue
            splits = all_subset_splits(k, items, pairs)
        else:
            splits = numeric_splits(k, items, pairs)
        for split in splits:
            score = signed_score(split, items, pairs)
            gap = gap_share(split, items, pairs) if growth.tie_break == "widest_gap" else 0.0
            if score and (abs(score), gap) > highest:
                best, highest = (split, score), (abs(score), gap)
    return best


def follow(split: Split, items: np.ndarray, pairs: list[Pair], growth: Growth) -> tuple[list[Pair], list[Pair]]:
    """The pairs of the left and of the right child (Eq. 8, or Eq. 11 with masks)."""
    children: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        winner_left, loser_left = split.goes_left(items[pair.winner]), split.goes_left(items[pair.loser])
        if winner_left == loser_left:
            children[not winner_left].append(pair)
        elif growth.straddlers == "keep":
            children[not winner_left].append(Pair(pair.winner, pair.loser, pair.masked | {split.column}))
    return children
