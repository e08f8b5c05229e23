"""Runs of the benchmark study made up in code: every part and every model, with plausible regrets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.benchmarks.ruggedness import ruggedness
from models.records.card import DATA_CARDS
from tasks.benchmark import summaries
from tasks.benchmark.cells import GRID, Course, CourseCell, Surface, keep
from tasks.benchmark.comparing import write_comparisons
from tasks.benchmark.plan import BenchmarkConfig, plan
from tasks.benchmark.summaries import course_times, write_courses, write_ruggedness, write_surfaces
from tests.tasks.claims.made_up import made_up_record

FINAL = {"tree": 1.0, "forest": 0.1, "gp": 0.3, "skew_gp": 0.2, "random_pairs": 5.0}
SECONDS = {"tree": 0.003, "forest": 0.012, "gp": 0.04, "skew_gp": 0.05, "random_pairs": 0.003}
ALIKE = {"tree": 0.6, "forest": 0.7, "gp": 0.8, "skew_gp": 0.85, "random_pairs": 0.6}


def found_in(cell: Any, rng: np.random.Generator) -> Course | Surface:
    """A course that falls by a power law to about the regret of its model; a surface that is noise."""
    if not isinstance(cell, CourseCell):
        return Surface(rng.random(GRID * GRID), ALIKE[cell.model] + rng.normal(0, 0.02, cell.runs))
    scale = {"rosenbrock": 1000.0, "de_jong_5": 50.0, "schwefel": 300.0}.get(cell.function, 2.0)
    last = scale * FINAL[cell.model] * (1 + cell.noise_ratio) * rng.lognormal(0, 0.6, cell.runs)
    if cell.function == "de_jong_5" and cell.model == "gp":
        last = last * 20
    falling = (np.arange(cell.n_questions + 1) + 1.0) ** -0.5
    regret = last + 5 * scale * falling[:, None] * rng.uniform(0.8, 1.2, cell.runs)
    seconds = rng.uniform(0.8, 1.2) * SECONDS[cell.model] * cell.runs * (1 + np.arange(cell.n_questions + 1) / 100)
    return Course(regret, np.ones((cell.n_questions + 1, cell.runs), dtype=np.int64), seconds)


WriteRun = Callable[..., Path]


@pytest.fixture
def write_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteRun:
    """Write the folder of a finished run with these settings, and return its path."""
    monkeypatch.setattr(summaries, "ruggedness", partial(ruggedness, n_points=500))

    def write(**settings: Any) -> Path:
        config = BenchmarkConfig.model_validate({"runs": 4, "questions": 30, **settings})
        folder, results = tmp_path / "run", tmp_path / "run" / "results"
        results.mkdir(parents=True)
        planned, kept = plan(config), {}
        for number, (_, _, cell) in enumerate(planned):
            place = kept.setdefault(cell.model_dump_json(), tmp_path / f"{number}.npz")
            if not place.is_file():
                keep(found_in(cell, np.random.default_rng(number)), place)
        write_ruggedness(config.functions, results)
        write_comparisons(config, write_courses(planned, kept, results), results)
        write_surfaces(planned, kept, results)
        (results / f"{DATA_CARDS}.json").write_text("[]", "utf-8")
        record = made_up_record(
            "benchmark", data=(), config=config.model_dump(mode="json"), courses=tuple(course_times(planned, kept))
        )
        (folder / "run.json").write_text(record.model_dump_json(), "utf-8")
        return folder

    return write
