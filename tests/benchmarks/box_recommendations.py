"""Which of the points tied in the best leaf a tree recommends, and what that does to its regret (dt-pbo Figure 2).

Run with `python tests/benchmarks/box_recommendations.py [FUNCTION ...]`. The paper recommends the point of the highest
predicted mean utility; many compared points share it. For each function and tie rule of the splits, one table row has
the mean regret (sd) of 20 runs after 20 + 200 questions by each rule:

first, latest, random, most wins   the rules of `TreeInBox.recommend`
mean of the tied                   the mean regret over all tied points: the leaf's mean utility
best of the tied                   what no rule can know: the best of them
best seen                          the best of all compared points
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Mapping
from typing import get_args

import numpy as np

from models.asking.box.loop import BoxCourse, ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.asking.box.tree import TreeInBox
from models.benchmarks.functions import FUNCTIONS, BenchmarkFunction, benchmark_function
from models.numerics.hashing import mix
from models.records.arrays import FloatArray
from models.trees.growth.splits import TieBreak

QUESTIONS, RUNS = int(os.environ.get("PREFSTUDY_BENCH_QUESTIONS", "200")), 20


def final_regrets(task: BenchmarkFunction, course: BoxCourse) -> Mapping[str, FloatArray]:
    """The final regret of each run, (t,), by each rule."""
    regret = task.maximum - task(course.points)
    tied = course.tied[-1]
    n = tied.shape[1]
    order = np.arange(n)
    lots = np.random.default_rng(0).random(tied.shape)

    def of(value: FloatArray) -> FloatArray:
        chosen = np.where(tied, value, -np.inf).argmax(axis=1)
        return np.asarray(regret[np.arange(len(regret)), chosen])

    return {
        "first": of(-order),
        "latest": of(order // 2 * 2 - order % 2),
        "random": of(lots),
        "most wins": of(-order - n * (order % 2)),
        "mean of the tied": (regret * tied).sum(axis=1) / tied.sum(axis=1),
        "best of the tied": np.where(tied, regret, np.inf).min(axis=1),
        "best seen": regret.min(axis=1),
    }


def row(task: BenchmarkFunction, model: TreeInBox) -> str:
    """One line of the table."""
    start = time.process_time()
    course = ask_in_box(model, UtilityOracle(task), task.n_dimensions, mix(0, np.arange(RUNS)), n_questions=QUESTIONS)
    seconds = (time.process_time() - start) / RUNS
    cells = [f"{found.mean():.3g} ({found.std(ddof=1):.3g})" for found in final_regrets(task, course).values()]
    depth = "" if model.max_depth is None else f", depth {model.max_depth}"
    tied = course.tied[-1].sum(axis=1).mean()
    return f"| {task.title} | {model.tie_break}{depth} | {' | '.join(cells)} | {tied:.0f} | {seconds:.2f} |"


def main(names: list[str]) -> None:
    """Print the table of the functions named, or of all."""
    rules = ["first", "latest", "random", "most wins", "mean of the tied", "best of the tied", "best seen"]
    print(f"| function | ties of splits | {' | '.join(rules)} | tied | s a run |")
    print("|---" * (len(rules) + 4) + "|")
    for name in names or list(FUNCTIONS):
        for tie_break in get_args(TieBreak):
            print(row(benchmark_function(name), TreeInBox(tie_break=tie_break)), flush=True)
        print(row(benchmark_function(name), TreeInBox(max_depth=6)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
