"""How a tree's growth scales from ten thousand to twenty million comparisons, read from Parquet a million at a time.

100,000 items of seven features. Run with `make bench`; takes about ten minutes and half a gigabyte of disk.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from models.trees.preference_tree import PreferenceTree
from tasks.tables.batches import BATCH, ParquetBatches

ITEMS, FEATURES = 100_000, 7
SIZES = (10_000, 100_000, 1_000_000, 5_000_000, 20_000_000)
WIDTH = 60


def write(folder: Path, n: int) -> np.ndarray:
    """Write n comparisons by a noisy utility, in parts; returns the items' features (codes of 0..999)."""
    rng = np.random.default_rng(n)
    items = rng.integers(0, 1000, (ITEMS, FEATURES)).astype(np.float64)
    utility = items @ rng.normal(size=FEATURES) / 500
    ids = pa.array([str(number) for number in range(ITEMS)])
    pq.write_table(pa.table({"item_id": ids}), folder / "items.parquet")
    schema = pa.schema(
        [
            ("left_id", pa.dictionary(pa.int32(), pa.string())),
            ("right_id", pa.dictionary(pa.int32(), pa.string())),
            ("left_wins", pa.bool_()),
        ]
    )
    with pq.ParquetWriter(folder / "comparisons.parquet", schema) as writer:
        for start in range(0, n, BATCH):
            size = min(BATCH, n - start)
            left = rng.integers(0, ITEMS, size)
            right = (left + rng.integers(1, ITEMS, size)) % ITEMS
            left_wins = utility[left] + rng.normal(size=size) > utility[right] + rng.normal(size=size)
            columns = [pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), ids) for rows in (left, right)]
            writer.write_table(pa.table([*columns, pa.array(left_wins)], schema=schema), row_group_size=BATCH)
    return items


def peak_gib() -> float:
    """The most memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Print seconds and memory by size, and draw them on logarithmic axes."""
    measured = []
    for n in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            items = write(Path(folder), n)
            start = time.process_time()
            tree = PreferenceTree().fit_batches(items, ParquetBatches.of_table(Path(folder)))
            taken = time.process_time() - start
        measured.append((n, taken))
        print(
            f"{n:>11,} comparisons {taken:8.2f} s   {tree.n_leaves_:>6,} leaves, depth {tree.depth_:>2}   "
            f"peak memory {peak_gib():.2f} GiB",
            flush=True,
        )
    print("\nseconds, logarithmic, and n log n from the first size (|)")
    low, high = np.log(measured[0][1]), np.log(max(measured[-1][1], 1e-9))
    first, seconds = measured[0]
    for n, taken in measured:
        expected = seconds * n * np.log(n) / (first * np.log(first))
        at = [round(WIDTH * np.clip((np.log(value) - low) / (high - low), 0, 1)) for value in (taken, expected)]
        line = ["█"] * at[0] + [" "] * (WIDTH + 1 - at[0])
        line[at[1]] = "|"
        print(f"{n:>11,} {''.join(line)} {taken:.2f} s")


if __name__ == "__main__":
    main()
