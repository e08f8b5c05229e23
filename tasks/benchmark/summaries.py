"""From cells to results: courses and final regrets, learned surfaces, ruggedness, and times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.stats import rankdata

from models.benchmarks.functions import benchmark_function
from models.benchmarks.ruggedness import ruggedness
from models.records.arrays import FloatArray
from models.records.run_record import CourseTime
from models.records.studies.benchmark_results import (
    CONVERGENCE,
    COURSES,
    ERROR,
    FINALS,
    FUNCTION,
    KERNELS,
    LOWER,
    MEAN,
    MODEL,
    N_DIMENSIONS,
    N_RUNS,
    P95,
    PART,
    PUBLISHED_MEAN,
    PUBLISHED_P95,
    QUESTION,
    REGRET,
    RUGGEDNESS,
    RUN,
    SD,
    SETTING,
    SURFACE_AGREEMENT,
    SURFACE_RANKS,
    TIED,
    TRUTH,
    UPPER,
    UTILITY,
    X,
    Y,
)
from models.scores.intervals import mean_interval
from tasks.benchmark.cells import Course, CourseCell, SurfaceCell, grid_places, read_course, read_surface
from tasks.benchmark.kept import Kept
from tasks.benchmark.plan import Planned
from tasks.claims.studies.benchmark_functions import PUBLISHED_RUGGEDNESS, PUBLISHED_SECONDS
from tasks.runs.results import write_parquet

EVERY = 10
"""Questions from one time in `run.json` to the next."""


def write_courses(planned: Sequence[Planned], kept: Kept, results: Path) -> pd.DataFrame:
    """Write `regret_courses.parquet` and `final_regrets.parquet`; returns the latter, a row for each run of a cell."""
    courses, finals = [], []
    for part, setting, cell in planned:
        if not isinstance(cell, CourseCell):
            continue
        course = read_course(kept[cell.model_dump_json()])
        keys = {
            PART: part,
            FUNCTION: cell.function,
            N_DIMENSIONS: cell.n_dimensions,
            MODEL: cell.model,
            SETTING: setting,
        }
        if part in {CONVERGENCE, KERNELS}:
            about = {QUESTION: np.arange(len(course.regret)), **over_runs(course.regret)}
            courses.append(pd.DataFrame({**keys, **about}))
        finals.append(
            pd.DataFrame(
                {**keys, RUN: np.arange(cell.runs), REGRET: course.regret[-1], TIED: course.tied[-1]}
            )
        )  # fmt: skip
    if courses:
        _write(results, COURSES, pd.concat(courses, ignore_index=True))
    every = pd.concat(finals, ignore_index=True) if finals else pd.DataFrame()
    if finals:
        _write(results, FINALS, every)
    return every


def over_runs(values: FloatArray) -> dict[str, Any]:
    """Mean, standard deviation and interval over runs of values (n, t), as columns (n,).

    >>> {name: float(value[0].round(2)) for name, value in over_runs(np.array([[1.0, 2.0, 3.0]])).items()}
    {'mean': 2.0, 'sd': 1.0, 'lower': -0.48, 'upper': 4.48, 'runs': 3.0}
    """
    n = np.full(len(values), values.shape[1])
    mean, sd = values.mean(axis=1), values.std(axis=1, ddof=1)
    interval = mean_interval(mean, sd, n)
    return {MEAN: mean, SD: sd, LOWER: interval.lower, UPPER: interval.upper, N_RUNS: n}


def write_surfaces(planned: Sequence[Planned], kept: Kept, results: Path) -> None:
    """Write what the models learned of each function, beside the truth; nothing if the run learned no surfaces."""
    ranks: dict[tuple[str, str], pd.DataFrame] = {}
    agreement = []
    for _, _, cell in planned:
        if not isinstance(cell, SurfaceCell):
            continue
        surface = read_surface(kept[cell.model_dump_json()])
        places = grid_places(cell.n_dimensions)
        truth = benchmark_function(cell.function, cell.n_dimensions)(places)
        for model, utility in ((TRUTH, truth), (cell.model, surface.utility)):
            rank = (rankdata(utility) - 0.5) / len(utility)
            keys = {FUNCTION: cell.function, N_DIMENSIONS: cell.n_dimensions, MODEL: model}
            ranks[cell.function, model] = pd.DataFrame({**keys, X: places[:, 0], Y: places[:, 1], UTILITY: rank})
        about = {name: value[0] for name, value in over_runs(surface.agreement[None]).items()}
        about |= {bound: np.clip(about[bound], -1.0, 1.0) for bound in (LOWER, UPPER)}  # as Kendall's tau is
        agreement.append({FUNCTION: cell.function, N_DIMENSIONS: cell.n_dimensions, MODEL: cell.model, **about})
    if ranks:
        _write(results, SURFACE_RANKS, pd.concat(ranks.values(), ignore_index=True))
        _write(results, SURFACE_AGREEMENT, pd.DataFrame(agreement))


def write_ruggedness(functions: Sequence[str], results: Path) -> None:
    """Write the ruggedness of the functions beside the published one (dt-pbo, Table 3)."""
    rows = []
    for name in functions:
        found, (mean, p95) = ruggedness(benchmark_function(name)), PUBLISHED_RUGGEDNESS[name]
        rows.append(
            {
                FUNCTION: name, MEAN: found.mean, P95: found.p95, ERROR: found.error, PUBLISHED_MEAN: mean,
                PUBLISHED_P95: p95,
            }
        )  # fmt: skip
    _write(results, RUGGEDNESS, pd.DataFrame(rows))


def course_times(planned: Sequence[Planned], kept: Kept) -> list[CourseTime]:
    """The times of the models on each function, up to each tenth question and up to a regret that all of them reach.

    That regret is the largest of the models' mean regrets after the last question.
    """
    by_function: dict[str, list[tuple[CourseCell, Course]]] = {}
    for part, _, cell in planned:
        if part == CONVERGENCE and isinstance(cell, CourseCell):
            by_function.setdefault(cell.function, []).append((cell, read_course(kept[cell.model_dump_json()])))
    times = []
    for function, courses in by_function.items():
        target = max(float(course.regret[-1].mean()) for _, course in courses)
        for cell, course in courses:
            seconds = course.seconds.cumsum() / cell.runs
            at = np.unique([*range(0, len(seconds), EVERY), len(seconds) - 1])
            reached = int((course.regret.mean(axis=1) <= target).argmax())
            times.append(
                CourseTime(
                    function=function, model=cell.model, runs=cell.runs, questions=tuple(at.tolist()),
                    seconds=tuple(seconds[at].round(4).tolist()), target=target, target_questions=reached,
                    target_seconds=round(float(seconds[reached]), 4),
                    published_seconds=PUBLISHED_SECONDS[function].get(cell.model),
                )
            )  # fmt: skip
    return times


def _write(results: Path, name: str, frame: pd.DataFrame) -> None:
    write_parquet(results / f"{name}.parquet", pa.Table.from_pandas(frame, preserve_index=False))
