"""How fast preferences are explained: against the size of the public code's example, Pokemon's, and many matches.

Run with `make bench`. One process, one thread but where told: seconds are the processor's. The published
code, measured on two busy cores, took 26 s and 2.8 GB for the first line.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import resource
import time
from collections.abc import Callable

import numpy as np

from models.kernels.gpm import GPM
from models.shap.explanation import PreferenceExplanation, ShapSettings
from models.shap.pref_shap import PrefShap


def seconds(run: Callable[[], object]) -> float:
    """Processor time of one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def cyclic_matches(n: int, n_items: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """n matches of items of standard normal features that no utility explains."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(n_items, n_features))
    left = rng.integers(n_items, size=n)
    right = (left + rng.integers(1, n_items, size=n)) % n_items
    gain = items[left] - items[right]
    left_wins = np.where(np.abs(gain[:, 1]) > 1, -gain[:, 1], gain[:, 0]) > 0
    return items, np.where(left_wins[:, None], np.stack([left, right], 1), np.stack([right, left], 1))


def explain(n_matches: int, n_items: int, n_features: int, n_pairs: int) -> str:
    """Fit a GPM, not counted, and explain the first so many matches by all coalitions."""
    items, pairs = cyclic_matches(n_matches, n_items, n_features)
    model = GPM(penalty=1e-3, tolerance=1e-2).fit(items, pairs)
    found: list[PreferenceExplanation] = []
    explainer = PrefShap(model, items, settings=ShapSettings(jobs=1))
    taken = seconds(lambda: found.append(explainer.duels(items, pairs[:n_pairs])))
    [explained] = found
    gap = np.abs(explained.gap).mean() / np.abs(explained.score).mean()
    return (
        f"{n_items:>5,} items x {n_features}  {n_matches:>9,} matches  {n_pairs:>5,} duels  "
        f"{explained.coalitions:>3} coalitions  {taken:6.2f} s  "
        f"{1e3 * taken / explained.coalitions:5.1f} ms a coalition  gap to g {gap:.1%}"
    )


def on_all_cores() -> str:
    """Seconds on the clock for the thousand duels above, one thread a core, where the cores have nothing else to do."""
    items, pairs = cyclic_matches(40_000, 800, 8)
    model = GPM(penalty=1e-3, tolerance=1e-2).fit(items, pairs)
    start = time.perf_counter()
    PrefShap(model, items).duels(items, pairs[:1_000])
    return f"  800 items x 8, 1,000 duels, {os.cpu_count()} threads: {time.perf_counter() - start:.2f} s on the clock"


def main() -> None:
    """Print all measurements."""
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, one thread\n")
    print(explain(4_000, 1_000, 7, 100))
    print(explain(40_000, 800, 8, 1_000))
    print(on_all_cores())
    print("\nThe same 800 items, ever more matches:")
    for n_matches in (1_000, 10_000, 100_000, 1_000_000):
        print(explain(n_matches, 800, 6, 100))
    print(f"\nPeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main()
