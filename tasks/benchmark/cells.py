"""A cell: all runs of one model on one function in one setting. Cells are computed and kept one by one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, TypeAdapter
from scipy.stats import kendalltau

from models.asking.box.loop import ask_in_box, check_seeds, preferred_first
from models.benchmarks.decision_maker import decision_maker, regret
from models.benchmarks.functions import benchmark_function
from models.numerics.hashing import mix
from models.records.arrays import FloatArray, IntArray
from models.records.base import Record
from models.records.whole_file import whole_file
from tasks.benchmark.models import make_model

GRID = 32
"""Points along each side of the picture of a surface."""
SLICE = 0.7
"""The third coordinate of a picture of a function of three dimensions (dt-pbo F.2)."""


class CourseCell(Record):
    """Runs that ask a function question after question."""

    kind: Literal["course"] = "course"
    function: str
    n_dimensions: int
    model: str
    settings: dict[str, Any]
    noise_ratio: float = 0.0
    runs: int
    n_initial: int
    n_questions: int
    seed: int


class SurfaceCell(Record):
    """Runs that learn a function from comparisons of random points."""

    kind: Literal["surface"] = "surface"
    function: str
    n_dimensions: int
    model: str
    settings: dict[str, Any]
    runs: int
    n_comparisons: int
    seed: int


Cell = Annotated[CourseCell | SurfaceCell, Field(discriminator="kind")]
CELL: TypeAdapter[CourseCell | SurfaceCell] = TypeAdapter(Cell)


class Course(NamedTuple):
    """What a `CourseCell` found after 0 to q questions: regret and number of tied points, (q + 1, t), and seconds.

    seconds: (q + 1,) processor seconds of each step, of all runs together.
    """

    regret: FloatArray
    tied: IntArray
    seconds: FloatArray


class Surface(NamedTuple):
    """What a `SurfaceCell` found: utilities (places,) in the first run, and Kendall's tau with the truth, (t,)."""

    utility: FloatArray
    agreement: FloatArray


def file_name(cell: CourseCell | SurfaceCell, code: str) -> str:
    """The name of a cell's file. code: digest of everything else that decides what is in it."""
    digest = hashlib.sha256(f"{code}\n{cell.model_dump_json()}".encode()).hexdigest()[:20]
    return f"{cell.function}-{cell.model}-{digest}.npz"


def compute(cell: CourseCell | SurfaceCell) -> Course | Surface:
    """What a cell finds."""
    return _course(cell) if isinstance(cell, CourseCell) else _surface(cell)


def keep(found: Course | Surface, path: Path) -> None:
    """Write what a cell found; the file appears whole or not at all."""
    with whole_file(path) as aside, aside.open("wb") as file:
        np.savez(file, **found._asdict())


def read_course(path: Path) -> Course:
    """The result of a `CourseCell`."""
    with np.load(path) as held:
        return Course(**{name: held[name] for name in Course._fields})


def read_surface(path: Path) -> Surface:
    """The result of a `SurfaceCell`."""
    with np.load(path) as held:
        return Surface(**{name: held[name] for name in Surface._fields})


def run_seeds(seed: int, runs: int) -> IntArray:
    """The seed of each run, (t,). All models and functions share them, and with them the first questions of a run."""
    return (mix(seed, np.arange(runs)) >> np.uint64(1)).astype(np.int64)


def grid_places(n_dimensions: int) -> FloatArray:
    """The places of a picture, (GRID^2, d): the first two coordinates vary, a third is `SLICE`."""
    along = (np.arange(GRID) + 0.5) / GRID
    second, first = np.meshgrid(along, along, indexing="ij")
    places = np.full((GRID * GRID, n_dimensions), SLICE)
    places[:, 0], places[:, 1] = first.ravel(), second.ravel()
    return places


def _course(cell: CourseCell) -> Course:
    function = benchmark_function(cell.function, cell.n_dimensions)
    course = ask_in_box(
        make_model(cell.model, cell.settings), decision_maker(function, noise_ratio=cell.noise_ratio),
        cell.n_dimensions, run_seeds(cell.seed, cell.runs), n_initial=cell.n_initial, n_questions=cell.n_questions,
    )  # fmt: skip
    return Course(regret(course, function), course.tied.sum(axis=2), course.seconds)


def _surface(cell: SurfaceCell) -> Surface:
    function = benchmark_function(cell.function, cell.n_dimensions)
    keys = check_seeds(run_seeds(cell.seed, cell.runs))
    pairs = np.stack(
        [np.random.default_rng(int(key)).random((cell.n_comparisons, 2, cell.n_dimensions)) for key in keys]
    )
    lots = mix(keys[:, None], np.arange(cell.n_comparisons))
    learner = make_model(cell.model, cell.settings).start(cell.n_dimensions, keys)
    learner.learn(preferred_first(decision_maker(function), pairs, lots))
    places = grid_places(cell.n_dimensions)
    truth, found = function(places), learner.predict(places)
    return Surface(found[0], np.array([kendalltau(truth, each).statistic for each in found]))
