"""Simulated contests for any description: items drawn feature by feature, matches decided by a linear utility."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from data_adapters.contests.tables import ContestTables
from data_adapters.source.description import Dataset
from data_adapters.source.planted import Preference
from models.records.arrays import FloatArray, IntArray
from models.records.features import Feature, FeatureKind

ITEMS, MATCHES_PER_ITEM = 60, 12
NOISE = 0.05
Drawn = dict[str, tuple[list[str], FloatArray]]
"""By feature: its texts as in the file, (n,), and its values, (n,), the position of its level where it has levels."""


def simulate_contests(
    dataset: Dataset, tables: ContestTables, folder: Path, *, seed: int, users: int | None
) -> Preference:
    """Write the files into `folder`; `users`: number of items.

    The utility is a weighted sum of the standardised features. Weights are 1, 1/2, 1/4 and so on, in an order and with
    signs that the seed decides. In a share of the matches the lower utility wins. Contexts do not matter.
    """
    rng = np.random.default_rng(seed)
    n_items = max(users or ITEMS, 2)
    ids = [f"item-{number}" for number in range(1, n_items + 1)]
    drawn: Drawn = {feature.name: _draw(rng, feature, n_items) for feature in dataset.items}
    weights = rng.permutation(0.5 ** np.arange(len(drawn))) * rng.choice([-1, 1], size=len(drawn))
    utility = sum(
        (weight * _standardised(values) for weight, (_, values) in zip(weights, drawn.values(), strict=True)),
        np.zeros(n_items),
    )
    one, other = _pairs(rng, n_items, n_items * MATCHES_PER_ITEM)
    one_wins = (utility[one] > utility[other]) ^ (rng.random(len(one)) < NOISE)
    winner, loser = np.where(one_wins, one, other), np.where(one_wins, other, one)
    outcome = (winner, loser) if tables.loser is not None else (one, other, winner)
    matches = [[ids[row] for row in column] for column in outcome]
    features = [texts for texts, _ in drawn.values()]
    if tables.items is None:
        matches += [[texts[row] for row in rows] for rows in outcome for texts in features]
    else:
        _write(folder / tables.items, tables, tables.item_columns(dataset), [ids, *features])
    matches += [_draw(rng, feature, len(one))[0] for feature in dataset.contexts or ()]
    _write(folder / tables.matches, tables, tables.match_columns(dataset), matches)
    return Preference(words=_words(drawn, weights), types={}, type_of={}, noise=NOISE)


def _draw(rng: np.random.Generator, feature: Feature, n: int) -> tuple[list[str], FloatArray]:
    """Texts and values of one feature: numbers within its limits, all levels equally likely."""
    if feature.kind is not FeatureKind.NUMERIC:
        levels = feature.levels or ()
        codes = rng.integers(len(levels), size=n)
        return [levels[code] for code in codes], codes.astype(np.float64)
    low, high = feature.minimum, feature.maximum
    if low is not None and high is not None:
        values = rng.uniform(low, high, size=n)
    elif low is not None:
        values = low + rng.exponential(size=n)
    elif high is not None:
        values = high - rng.exponential(size=n)
    else:
        values = rng.normal(size=n)
    values = np.clip(values.round(4), low, high) if low is not None or high is not None else values.round(4)
    return [repr(float(value)) for value in values], values


def _standardised(values: FloatArray) -> FloatArray:
    """Values scaled to mean 0 and standard deviation 1; zeros if all are the same."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _pairs(rng: np.random.Generator, n_items: int, n: int) -> tuple[IntArray, IntArray]:
    """Two different items each, (n,) and (n,)."""
    one = rng.integers(n_items, size=n)
    return one, (one + rng.integers(1, n_items, size=n)) % n_items


def _write(path: Path, tables: ContestTables, header: Sequence[str], columns: Iterable[Sequence[str]]) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=tables.separator, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(zip(*columns, strict=True))


def _words(drawn: Drawn, weights: FloatArray) -> str:
    terms = " ".join(f"{weight:+.3g} {name}" for name, weight in zip(drawn, weights.tolist(), strict=True))
    return (
        f"The item with the higher utility wins: {terms}, each feature standardised over the items, a label by its "
        f"position among the levels. In {NOISE:.0%} of the matches it is the other way round. Nothing else matters."
    )
