"""A loop of 20 + 200 questions on Branin and Hartmann-6: trees, forests and Gaussian processes against BoTorch's.

Run with `make bench`. BoTorch is measured in the same process where it is installed (`pip install -e '.[peers]'`), its
hyperparameters refitted at each question, as in the paper. Everything on one thread.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings
from importlib.util import find_spec
from typing import get_args

import numpy as np

from models.asking.box.forest import ForestInBox
from models.asking.box.gp import Curvature, GaussianProcessInBox
from models.asking.box.loop import BoxModel, ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.asking.box.tree import TreeInBox
from models.benchmarks.functions import BenchmarkFunction, benchmark_function
from models.numerics.hashing import mix
from models.trees.growth.splits import TieBreak

INITIAL, QUESTIONS, RUNS = 20, int(os.environ.get("PREFSTUDY_BENCH_QUESTIONS", "200")), 20


BENCHMARKS = (benchmark_function("branin"), benchmark_function("hartmann"))


def with_trees(task: BenchmarkFunction, runs: int, tie_break: TieBreak) -> str:
    """Advance so many runs together; processor time of one, and regrets by what is recommended among the tied."""
    start = time.process_time()
    course = ask_in_box(
        TreeInBox(tie_break=tie_break), UtilityOracle(task), task.n_dimensions, mix(0, np.arange(runs)),
        n_initial=INITIAL, n_questions=QUESTIONS,
    )  # fmt: skip
    taken = (time.process_time() - start) / runs
    told = task(course.points.reshape(-1, task.n_dimensions)).reshape(course.points.shape[:2])
    first = told[np.arange(runs), course.recommended[-1]]
    best = np.where(course.tied[-1], told, -np.inf).max(axis=1)
    return (
        f"{task.title:10} tree, {tie_break:10} {runs:2} runs together {taken:8.3f} s a loop   regret "
        f"{task.maximum - first.mean():5.2f} (first of the tied)  {task.maximum - best.mean():5.2f} (best of the tied)"
    )


def with_model(task: BenchmarkFunction, runs: int, model: BoxModel, name: str) -> str:
    """Advance so many runs of a model together; processor time of one, and the regret of what is recommended."""
    start = time.process_time()
    course = ask_in_box(
        model, UtilityOracle(task), task.n_dimensions, mix(0, np.arange(runs)), n_initial=INITIAL,
        n_questions=QUESTIONS,
    )  # fmt: skip
    taken = (time.process_time() - start) / runs
    regret = task.maximum - task(course.points[np.arange(runs), course.recommended[-1]])
    return (
        f"{task.title:10} {name:16} {runs:2} runs together {taken:8.3f} s a loop   regret {regret.mean():5.3f} "
        f"(sd {regret.std():.3f}, median {np.median(regret):.4f})"
    )


def with_botorch(task: BenchmarkFunction, questions: int, seed: int = 0) -> str:
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
    bounds = torch.stack([torch.zeros(task.n_dimensions), torch.ones(task.n_dimensions)]).double()
    start = time.process_time()
    points = LatinHypercube(task.n_dimensions, rng=seed).random(2 * INITIAL)
    for question in range(questions + 1):
        told = task(points).reshape(-1, 2)
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
    regret = task.maximum - task(points)[mean.argmax()]
    return f"{task.title:10} BoTorch PairwiseGP + EUBO, {questions} questions {taken:8.1f} s   regret {regret:5.2f}"


def main() -> None:
    """Print all measurements."""
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, one thread, {INITIAL} + {QUESTIONS} questions\n")
    for task in BENCHMARKS:
        for tie_break in get_args(TieBreak):
            for runs in (1, RUNS):
                print(with_trees(task, runs, tie_break), flush=True)
        print(with_model(task, RUNS, ForestInBox(), "forest"), flush=True)
        for curvature in get_args(Curvature):
            print(with_model(task, RUNS, GaussianProcessInBox(curvature=curvature), f"gp, {curvature}"), flush=True)
        if find_spec("botorch") is None:
            print(f"{task.title:10} BoTorch is not installed: pip install -e '.[peers]'")
        else:
            print(with_botorch(task, QUESTIONS), flush=True)
        print()


if __name__ == "__main__":
    main()
