"""How fast preference models fit: synthetic matches, Pokemon, tennis with contexts, and with the number of matches.

Run with `make bench`. Real data where PREFSTUDY_RAW is set, else simulated. Processor time on one thread.
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

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.selection import fit, preference
from models.scores.discrimination import auc
from models.scores.duel_splits import Duels, hold_out
from tasks.duels.read_duels import read_duels

POKEMON = {
    "hp": 5.9, "attack": 1.8, "defense": 5.7, "special_attack": 7.5, "special_defense": 6.9, "speed": 0.5,
    "legendary": 3.1, "types": 1.4,
}  # fmt: skip
TENNIS = {
    "birth_year": 0.39, "turned_pro": 0.05, "weight": 0.06, "height": 0.2, "handedness": 0.07, "backhand": 0.08,
}  # fmt: skip


def table_of(name: str, folder: Path) -> tuple[Duels, str]:
    """The duels of a data set, and whether they are real."""
    source, raw = adapter(name), os.environ.get("PREFSTUDY_RAW")
    real = raw is not None and name != "synthetic"
    if not real:
        simulate(source, folder / "raw" / name, seed=0)
    place = Path(raw or "") if real else folder / "raw" / name
    [table] = [each for each in build(source, locate(source, place, allow_unpinned=False)) if each.name == name]
    write_table(table, folder)
    leave_out = ("generation",) if name == "pokemon" else ()
    return read_duels(folder / name, leave_out=leave_out), "real" if real else "simulated"


def line(what: str, model: GPM | CGPM | UPM, duels: Duels) -> str:
    """Fit to four fifths of the duels and score on a tenth."""
    split = hold_out(duels, "split_first", validation_share=0.1, test_share=0.1, seed=0)
    start = time.process_time()
    fit(model, duels, split.train)
    taken = time.process_time() - start
    found = auc(preference(model, duels, split.test))
    return (
        f"{what:42} {len(split.train):>6,} matches {len(duels.items):>5,} items  {taken:6.2f} s   "
        f"gradient {model.gradient_:.0e} of that at zero, {model.n_products_:>3} products   test AUC {found:.4f}"
    )


def growth_with_matches() -> str:
    """Seconds of one fit over 800 items for more and more matches: what they cost beyond being counted."""
    rng = np.random.default_rng(0)
    items, lines = rng.normal(size=(800, 4)), []
    for n in (1_000, 10_000, 100_000, 1_000_000):
        left = rng.integers(800, size=n)
        right = (left + rng.integers(1, 800, size=n)) % 800
        ahead = items[left, 0] * items[right, 1] > items[right, 0] * items[left, 1]
        pairs = np.where(ahead[:, None], np.stack([left, right], 1), np.stack([right, left], 1))
        taken, model = seconds(lambda pairs=pairs: GPM(penalty=1e-4, rank=300).fit(items, pairs))
        lines.append(f"{n:>9,} matches over 800 items {taken:6.2f} s   {model.n_products_:>3} products")
    return "\n".join(lines)


def seconds(run: Callable[[], GPM]) -> tuple[float, GPM]:
    """Processor time of one run, and what it gave."""
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def main() -> None:
    """Print all measurements."""
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, one thread\n")
    with tempfile.TemporaryDirectory() as folder:
        duels, kind = table_of("synthetic", Path(folder))
        scales = {"within": 4.0, "between_ab": 4.0, "between_ac": 4.0, "between_bc": 4.0, "cluster": 0.3}
        for rank in (None, 400):
            model = GPM(duels.columns, lengthscales=scales, penalty=1e-5, rank=rank)
            print(line(f"synthetic, GPM, {'exact' if rank is None else f'{rank} landmarks'}", model, duels))
        duels, kind = table_of("pokemon", Path(folder))
        for rank in (None, 300):
            model = GPM(duels.columns, lengthscales=POKEMON, penalty=1e-5, rank=rank)
            print(line(f"{kind} pokemon, GPM, {'exact' if rank is None else f'{rank} landmarks'}", model, duels))
        duels, kind = table_of("tennis", Path(folder))
        print(
            line(
                f"{kind} tennis, UPM, 400 landmarks",
                UPM(duels.columns, lengthscales=TENNIS, penalty=1e-5, rank=400),
                duels,
            )
        )
        for utility in (0.0, 10.0):
            model = CGPM(
                duels.columns, duels.context_columns, lengthscales=TENNIS, context_lengthscales=1.5, penalty=1e-4,
                utility=utility, rank=400,
            )  # fmt: skip
            print(line(f"{kind} tennis, C-GPM{'+U' if utility else ''}, 400 landmarks", model, duels))
    print()
    print(growth_with_matches())


if __name__ == "__main__":
    main()
