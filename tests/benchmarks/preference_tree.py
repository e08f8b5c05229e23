"""How fast trees grow: against scikit-learn's regression tree, for 5,000 users at once, and with the number of pairs.

Run with `make bench`. Everything is measured in one process on one thread, so that the ratios hold on a busy machine.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.trees.preference_tree import PreferenceTree
from tasks.respondents.protocols import Protocol, read_respondents, score_protocol

FEATURES = 7


def seconds(run: Callable[[], object], repeats: int = 3) -> float:
    """Processor time of the best of a few runs: on one thread, and whatever else the machine is doing."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def noisy_comparisons(n: int, n_items: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n comparisons among n_items of 7 numeric features, by a smooth utility and Gaussian noise."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n_items, FEATURES))
    utility = items @ rng.normal(size=FEATURES) + np.sin(3 * items[:, 0])
    left = np.arange(n) * 2 % n_items if n_items == 2 * n else rng.integers(0, n_items, n)
    right = left + 1 if n_items == 2 * n else (left + rng.integers(1, n_items, n)) % n_items
    left_wins = utility[left] + rng.normal(size=n) > utility[right] + rng.normal(size=n)
    return items, np.where(left_wins[:, None], np.stack([left, right], 1), np.stack([right, left], 1))


def against_scikit_learn(n: int, n_items: int, max_depth: int | None) -> str:
    """Grow and fit a preference tree, and a regression tree on the winners (1) and losers (0) stacked."""
    items, comparisons = noisy_comparisons(n, n_items)
    stacked, won = items[comparisons.T.ravel()], np.repeat([1.0, 0.0], n)
    ours = seconds(lambda: PreferenceTree(max_depth=max_depth).fit(items, comparisons))
    theirs = seconds(lambda: DecisionTreeRegressor(max_depth=max_depth, random_state=0).fit(stacked, won), repeats=2)
    depth = "no depth limit" if max_depth is None else f"depth {max_depth}"
    return (
        f"{n:,} comparisons, {n_items:,} items, {depth:15} ours {ours:6.3f} s   "
        f"scikit-learn {theirs:6.3f} s   {theirs / ours:5.1f}x"
    )


def all_users(straddlers: str) -> str:
    """Split, fit and score one tree for each of 5,000 simulated users (or real ones where PREFSTUDY_RAW is set)."""
    raw = os.environ.get("PREFSTUDY_RAW")
    with tempfile.TemporaryDirectory() as folder:
        source = adapter("sushi")
        if raw is None:
            simulate(source, Path(folder) / "raw", seed=0)
        tables = build(source, locate(source, Path(raw or f"{folder}/raw"), allow_unpinned=False))
        write_table(tables[0], Path(folder))
        respondents = read_respondents(Path(folder) / "sushi")
    taken = seconds(lambda: score_protocol(respondents, Protocol(straddlers=straddlers), seed=0))
    kind = "simulated" if raw is None else "real"
    return f"{len(respondents.user_ids):,} {kind} users, straddlers {straddlers:9} split, fit and score {taken:6.2f} s"


def growth_with_size() -> str:
    """Seconds against the number of comparisons, items in proportion, and what n log n would make of the first."""
    lines, first = [], None
    for n in (20_000, 200_000, 2_000_000):
        items, comparisons = noisy_comparisons(n, n // 10)
        taken = seconds(lambda X=items, pairs=comparisons: PreferenceTree().fit(X, pairs), repeats=2)
        first = first or (n, taken)
        expected = first[1] * (n * np.log(n)) / (first[0] * np.log(first[0]))
        lines.append(
            f"{n:>9,} comparisons, {n // 10:>7,} items {taken:7.3f} s   n log n from the first: {expected:7.3f} s"
        )
    return "\n".join(lines)


def main() -> None:
    """Print all measurements."""
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, one thread\n")
    for straddlers in ("discard", "keep"):
        print(all_users(straddlers))
    print()
    for n_items in (20_000, 400_000):
        for max_depth in (6, None):
            print(against_scikit_learn(200_000, n_items, max_depth))
    print()
    print(growth_with_size())


if __name__ == "__main__":
    main()
