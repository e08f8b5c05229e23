"""A loop of 20 + 200 questions on Branin and Hartmann-6: preference trees against BoTorch's PairwiseGP with EUBO.

Run with `make bench`. BoTorch is measured in the same process where it is installed (`pip install -e '.[peers]'`), its
hyperparameters refitted at each question, as in the paper. Everything on one thread.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from models.asking.box_learning import ask_in_box
from models.numerics.hashing import mix

INITIAL, QUESTIONS, RUNS = 20, int(os.environ.get("PREFSTUDY_BENCH_QUESTIONS", "200")), 20


class Benchmark(NamedTuple):
    """A function to maximise over the unit cube, and its maximum."""

    name: str
    utility: Callable[[np.ndarray], np.ndarray]
    dimensions: int
    maximum: float


def branin(points: np.ndarray) -> np.ndarray:
    """Minus the Branin function, its domain scaled to the unit square."""
    x, y = 15 * points[:, 0] - 5, 15 * points[:, 1]
    bowl = (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2
    return -(bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)


_A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
_P = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def hartmann(points: np.ndarray) -> np.ndarray:
    """Minus the Hartmann function of six dimensions."""
    return np.exp(-(_A * (points[:, None] - _P) ** 2).sum(axis=2)) @ np.array([1.0, 1.2, 3.0, 3.2])


BENCHMARKS = (Benchmark("Branin", branin, 2, -0.397887), Benchmark("Hartmann-6", hartmann, 6, 3.32237))


def with_trees(task: Benchmark, runs: int, tie_break: str) -> str:
    """Advance so many runs together; processor time of one, and regrets by what is recommended among the tied."""
    start = time.process_time()
    course = ask_in_box(
        task.utility, task.dimensions, mix(0, np.arange(runs)), n_initial=INITIAL, n_questions=QUESTIONS,
        tie_break=tie_break,
    )  # fmt: skip
    taken = (time.process_time() - start) / runs
    told = task.utility(course.points.reshape(-1, task.dimensions)).reshape(course.points.shape[:2])
    first = told[np.arange(runs), course.recommended[-1]]
    best = np.where(course.tied[-1], told, -np.inf).max(axis=1)
    return (
        f"{task.name:10} tree, {tie_break:10} {runs:2} runs together {taken:8.3f} s a loop   regret "
        f"{task.maximum - first.mean():5.2f} (first of the tied)  {task.maximum - best.mean():5.2f} (best of the tied)"
    )


def with_botorch(task: Benchmark, questions: int, seed: int = 0) -> str:
    """One run of BoTorch's PairwiseGP and analytic EUBO; recommended is the compared point of the greatest mean."""
    import torch
    from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption
    from botorch.fit import fit_gpytorch_mll
    from botorch.models.pairwise_gp import PairwiseGP, PairwiseLaplaceMarginalLogLikelihood
    from botorch.optim import optimize_acqf
    from scipy.stats.qmc import LatinHypercube

    warnings.simplefilter("ignore")
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    bounds = torch.stack([torch.zeros(task.dimensions), torch.ones(task.dimensions)]).double()
    start = time.process_time()
    points = LatinHypercube(task.dimensions, rng=seed).random(2 * INITIAL)
    for question in range(questions + 1):
        told = task.utility(points).reshape(-1, 2)
        left = np.arange(0, len(points), 2)
        pairs = np.where((told[:, 0] > told[:, 1])[:, None], np.c_[left, left + 1], np.c_[left + 1, left])
        model = PairwiseGP(torch.tensor(points), torch.tensor(pairs))
        fit_gpytorch_mll(PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model))
        if question < questions:
            eubo = AnalyticExpectedUtilityOfBestOption(pref_model=model)
            pair, _ = optimize_acqf(eubo, bounds=bounds, q=2, num_restarts=3, raw_samples=256)
            points = np.vstack([points, pair.numpy()])
    mean = model.posterior(torch.tensor(points)).mean.detach().numpy().ravel()
    taken = time.process_time() - start
    regret = task.maximum - task.utility(points)[mean.argmax()]
    return f"{task.name:10} BoTorch PairwiseGP + EUBO, {questions} questions {taken:8.1f} s   regret {regret:5.2f}"


def main() -> None:
    """Print all measurements."""
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, one thread, {INITIAL} + {QUESTIONS} questions\n")
    for task in BENCHMARKS:
        for tie_break in ("lowest", "random", "widest_gap"):
            for runs in (1, RUNS):
                print(with_trees(task, runs, tie_break), flush=True)
        if find_spec("botorch") is None:
            print(f"{task.name:10} BoTorch is not installed: pip install -e '.[peers]'")
        else:
            print(with_botorch(task, QUESTIONS), flush=True)
        print()


if __name__ == "__main__":
    main()
