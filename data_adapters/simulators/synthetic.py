"""Matches that no ranking explains: three clusters of items, and a deciding covariate for each pair of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from data_adapters.codebooks.synthetic import (
    CLUSTERS,
    COVARIATES,
    DECIDES,
    ITEM_COLUMNS,
    ITEM_FILE,
    MATCH_COLUMNS,
    MATCH_FILE,
)
from data_adapters.source.planted import Preference, Rule
from models.records.arrays import FloatArray

PUBLISHED_ITEMS, MATCHES_PER_ITEM = 1_000, 40

TYPES = {
    "of one cluster": (Rule(feature="within", prefers="high"),),
    "A against B": (Rule(feature="between_ab", prefers="high"),),
    "A against C": (Rule(feature="between_ac", prefers="high"),),
    "B against C": (Rule(feature="between_bc", prefers="high"),),
}
WORDS = (
    "Of two items of one cluster the one with the higher `within` wins; of two from A and B that with the higher "
    "`between_ab`, from A and C `between_ac`, from B and C `between_bc`. Nothing else matters, and there is no noise."
)


def simulate(folder: Path, *, seed: int, users: int | None) -> Preference:
    """Draw items and matches as in pref-shap, section 4, and write both files into `folder`; `users`: number of items.

    Each item has four standard normal covariates and a cluster; there are 40 matches per item, and no pair repeats.
    """
    rng = np.random.default_rng(seed)
    n_items = max(users or PUBLISHED_ITEMS, 2)
    covariates = np.round(rng.normal(size=(n_items, len(COVARIATES))), 6)
    cluster = rng.integers(len(CLUSTERS), size=n_items)
    first, second = _pairs(rng, n_items, round(n_items * MATCHES_PER_ITEM))
    deciding = np.array([[list(COVARIATES).index(name) for name in row] for row in DECIDES])
    column = deciding[cluster[first], cluster[second]]
    winner = np.where(covariates[first, column] > covariates[second, column], first, second)
    _write(folder / ITEM_FILE, ITEM_COLUMNS, _item_rows(covariates, [CLUSTERS[code] for code in cluster]))
    _write(folder / MATCH_FILE, MATCH_COLUMNS, np.column_stack([first, second, winner]) + 1)
    return Preference(words=WORDS, types=TYPES, type_of={}, noise=0.0)


def _pairs(rng: np.random.Generator, n_items: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ordered pairs of different items without repeats; fewer than n if there are not as many."""
    possible = n_items * (n_items - 1)
    first, other = np.divmod(rng.choice(possible, size=min(n, possible), replace=False), n_items - 1)
    return first, other + (other >= first)


def _item_rows(covariates: FloatArray, clusters: Sequence[str]) -> Iterable[list[object]]:
    for row, (values, cluster) in enumerate(zip(covariates, clusters, strict=True)):
        yield [row + 1, *(f"{value:.6f}" for value in values), cluster]


def _write(path: Path, header: tuple[str, ...], rows: Iterable[Iterable[object]]) -> None:
    text = "".join(",".join(map(str, row)) + "\n" for row in [header, *rows])
    path.write_text(text, encoding="utf-8", newline="")
