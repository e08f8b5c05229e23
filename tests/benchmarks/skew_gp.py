"""A loop of 20 + 200 questions of the skew Gaussian process on Branin and Hartmann-6: seconds a run, and regrets.

Run with `make bench`. In Table 5 of dt-pbo SkewGP takes 4.8 (Branin) and 10.0 (Hartmann) times as long as GP, so that
on this machine it would take about as many times what `active_learning.py` measures of BoTorch. Everything on one
thread.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import numpy as np

from models.asking.box.loop import ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.asking.box.skew_gp import SkewGaussianProcessInBox
from models.benchmarks.functions import benchmark_function
from models.numerics.hashing import mix

FUNCTIONS = os.environ.get("PREFSTUDY_BENCH_FUNCTIONS", "branin,hartmann").split(",")
INITIAL, QUESTIONS = 20, int(os.environ.get("PREFSTUDY_BENCH_QUESTIONS", "200"))
RUNS = int(os.environ.get("PREFSTUDY_BENCH_RUNS", "20"))


def measure(name: str) -> str:
    """Advance all runs together; processor time of one, and regrets of what is recommended and of the last winner."""
    task = benchmark_function(name)
    start = time.process_time()
    course = ask_in_box(
        SkewGaussianProcessInBox(), UtilityOracle(task), task.n_dimensions, mix(0, np.arange(RUNS)), n_initial=INITIAL,
        n_questions=QUESTIONS,
    )  # fmt: skip
    taken = (time.process_time() - start) / RUNS
    run = np.arange(RUNS)
    regret = task.maximum - task(course.points[run, course.recommended[-1]])
    winner = task.maximum - task(course.points[:, -2])
    return (
        f"{task.title:16} {RUNS} runs together {taken:6.2f} s a loop   regret {regret.mean():8.4g} (sd "
        f"{regret.std():.3g}, median {np.median(regret):.3g})   last winner {winner.mean():8.4g}"
    )


def main() -> None:
    """Print all measurements."""
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, one thread, {INITIAL} + {QUESTIONS} questions\n")
    for name in FUNCTIONS:
        print(measure(name), flush=True)


if __name__ == "__main__":
    main()
