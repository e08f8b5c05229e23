"""All sushi users at once: asking each of them questions, and one Gaussian process for each.

Run with `make bench`. Simulated users, or the real ones where PREFSTUDY_RAW is set; one thread, processor time.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
import time
from pathlib import Path

import numpy as np

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.gaussian.preference_gp import PreferenceGPs, unit_scaled
from tasks.asking.ways_of_asking import WAYS, ask
from tasks.respondents.protocols import Respondents, read_respondents

QUESTIONS = 9


def all_users(raw: str | None) -> Respondents:
    """The 5,000 users of sushi set A."""
    source = adapter("sushi")
    with tempfile.TemporaryDirectory() as folder:
        if raw is None:
            simulate(source, Path(folder) / "raw", seed=0)
        for table in build(source, locate(source, Path(raw or f"{folder}/raw"), allow_unpinned=False)):
            write_table(table, Path(folder))
        return read_respondents(Path(folder) / "sushi")


def asking(respondents: Respondents, name: str) -> str:
    """Ask everyone nine questions, every user's tree grown anew after each."""
    start = time.process_time()
    judged = ask(respondents, WAYS[name], n_questions=QUESTIONS, seed=0)
    taken = time.process_time() - start
    found = judged.loc[judged["question"] == QUESTIONS, "found"].mean()
    return f"{name:14} {QUESTIONS} questions each {taken:7.1f} s   favourite found {found:.3f}"


def gaussian_processes(respondents: Respondents) -> str:
    """Fit one process a user to all 45 pairs, hyperparameters by the evidence."""
    items = unit_scaled(respondents.encoded["one_hot"].items)
    n_users, n_items = len(respondents.user_ids), len(items)
    everyone = np.tile(items, (n_users, 1))
    comparisons = respondents.comparisons + n_items * respondents.users[:, None]
    start = time.process_time()
    gps = PreferenceGPs().fit(everyone, comparisons, np.repeat(np.arange(n_users), n_items))
    taken = time.process_time() - start
    return f"one Gaussian process each     {taken:7.1f} s   log evidence {gps.log_evidence_.mean():.2f} on average"


def main() -> None:
    """Print all measurements."""
    raw = os.environ.get("PREFSTUDY_RAW")
    respondents = all_users(raw)
    kind = "simulated" if raw is None else "real"
    print(f"Python {sys.version.split()[0]}, one thread, {len(respondents.user_ids):,} {kind} users\n")
    for name in ("tree_top_leaf", "tree_qeubo", "tree_random"):
        print(asking(respondents, name), flush=True)
    print(gaussian_processes(respondents))


if __name__ == "__main__":
    main()
