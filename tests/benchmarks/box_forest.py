"""The choices of the forest in a box: the final regret of each on the benchmark functions, and its time a run.

Run with `python tests/benchmarks/box_forest.py [CHOICE ...] [--functions branin,levy] [--runs 20]`. Without a choice,
the default settings on all eight functions; `all` tries every choice. One thread; 20 + 200 questions.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Mapping

import numpy as np

from models.asking.box.forest import ForestInBox
from models.asking.box.forest_candidates import CandidatePoints
from models.asking.box.loop import BoxModel, ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.asking.box.random_pairs import RandomPairsInBox
from models.benchmarks.functions import FUNCTIONS, benchmark_function
from models.numerics.hashing import mix

QUESTIONS = int(os.environ.get("PREFSTUDY_BENCH_QUESTIONS", "200"))
CHOICES: Mapping[str, BoxModel] = {
    "default": ForestInBox(),
    "against any": ForestInBox(against="any"),
    "recommend mean": ForestInBox(recommend="mean"),
    "any, mean, no challenge, none redrawn": ForestInBox(
        against="any", recommend="mean", challenge_every=None, redraw_every=None
    ),
    "no challenge": ForestInBox(challenge_every=None),
    "none redrawn": ForestInBox(redraw_every=None),
    "redrawn every 2": ForestInBox(challenge_every=None, redraw_every=2),
    "8 trees": ForestInBox(n_trees=8),
    "32 trees": ForestInBox(n_trees=32),
    "leaves of bootstrap": ForestInBox(leaves_from="bootstrap"),
    "grown after each": ForestInBox(regrow_every=1),
    "grown after 8": ForestInBox(regrow_every=8),
    "depth 6": ForestInBox(max_depth=6),
    "ratio 0.05": ForestInBox(ratio=0.05),
    "uniform and near alone": ForestInBox(candidates=CandidatePoints(uniform=60, redrawn=0, crossed=0, along=0)),
    "no redrawn": ForestInBox(candidates=CandidatePoints(redrawn=0)),
    "no along": ForestInBox(candidates=CandidatePoints(along=0)),
    "all 162 kept": ForestInBox(candidates=CandidatePoints(kept=162)),
    "random pairs": RandomPairsInBox(),
}


def row(choice: str, name: str, runs: int) -> str:
    """One line of the table."""
    task = benchmark_function(name)
    start = time.process_time()
    course = ask_in_box(
        CHOICES[choice], UtilityOracle(task), task.n_dimensions, mix(0, np.arange(runs)), n_questions=QUESTIONS
    )
    seconds = (time.process_time() - start) / runs
    regret = task.maximum - task(course.points[np.arange(runs), course.recommended[-1]])
    return (
        f"| {task.title} | {choice} | {regret.mean():.4g} | {regret.std(ddof=1):.3g} | {np.median(regret):.3g} | "
        f"{regret.max():.3g} | {runs} | {seconds:.2f} |"
    )


def main() -> None:
    """Print the table of the choices and functions asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("choices", nargs="*", default=["default"])
    parser.add_argument("--functions", default=",".join(FUNCTIONS))
    parser.add_argument("--runs", type=int, default=20)
    asked = parser.parse_args()
    print("| function | choice | mean regret | sd | median | largest | runs | s a run |")
    print("|---" * 8 + "|")
    for choice in CHOICES if asked.choices == ["all"] else asked.choices:
        for name in asked.functions.split(","):
            print(row(choice, name, asked.runs), flush=True)


if __name__ == "__main__":
    main()
