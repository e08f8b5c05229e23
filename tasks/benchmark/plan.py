"""Which cells a run of the benchmark study has, and about how long they take."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator

from models.benchmarks.functions import DIMENSIONS as EXISTING
from models.benchmarks.functions import FUNCTIONS, VARIABLE_DIMENSION
from models.records.studies.benchmark_results import (
    CONVERGENCE,
    DEPTH,
    DIMENSIONS,
    FIGURES,
    FOREST,
    GP,
    KERNELS,
    NOISE,
    RANDOM_PAIRS,
    RATIO,
    SKEW_GP,
    SURFACES,
    TREE,
    UNLIMITED,
)
from tasks.benchmark.cells import CourseCell, SurfaceCell
from tasks.benchmark.models import KINDS, ModelSettings

KERNEL_MODELS = (GP, SKEW_GP)
KERNEL_NAMES = ("rbf", "matern52", "matern32", "matern12")
PICTURED: Mapping[str, int] = {"hartmann": 3, "rosenbrock": 2, "michalewicz": 2, "schwefel": 2}
"""Dimensions of the functions whose surfaces are learned, where they are not the usual ones (dt-pbo F.2)."""
SURFACES_LEARNED = 5
"""Sets of random comparisons from which each surface is learned. The paper shows one."""
SECONDS_A_RUN: Mapping[str, float] = {TREE: 0.6, FOREST: 3.0, GP: 8.0, SKEW_GP: 8.0, RANDOM_PAIRS: 3.0}
"""About how many seconds a run of 220 questions takes, on one core of a machine of 2024."""

Part = Literal["convergence", "surfaces", "kernels", "ratio", "dimensions", "noise", "depth"]


class BenchmarkConfig(ModelSettings):
    """The study's settings; the defaults are the paper's where it states them."""

    functions: tuple[str, ...] = Field(
        default=tuple(FUNCTIONS), min_length=1, description=f"functions to search: {', '.join(FUNCTIONS)}"
    )
    models: tuple[str, ...] = Field(
        default=(TREE, FOREST, GP, SKEW_GP), min_length=1, description=f"models that search: {', '.join(KINDS)}"
    )
    parts: tuple[Part, ...] = Field(
        default=("convergence", "surfaces", "ratio", "depth"),
        description="; ".join(f"{part}: {figures} of the paper" for part, figures in FIGURES.items()),
    )
    everything: bool = Field(default=False, description="run all parts; this takes hours, and a stopped run goes on")
    runs: int = Field(default=20, ge=2, description="runs of each model, each with other first questions")
    initial: int = Field(default=20, ge=1, description="first questions of a run, about points of a Latin hypercube")
    questions: int = Field(default=200, ge=1, description="questions that the model chooses after the first ones")
    comparisons: int = Field(default=256, ge=1, description="random comparisons from which surfaces are learned")
    ratios: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        default=(1 / 64, 1 / 16, 1 / 4, 1.0, 4.0, 16.0), description="ratios of noise to prior, for the part ratio"
    )
    depths: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=tuple(range(1, 13)), description="limits of depth, for the part depth"
    )
    dimensions: tuple[Annotated[int, Field(ge=2, le=15)], ...] = Field(
        default=(2, 4, 6, 8, 10, 12, 15), description="numbers of dimensions, for the part dimensions"
    )
    noise_ratios: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        default=(0.0, 0.5, 1.0, 1.5, 2.0),
        description="noise of answers, as a share of the median difference of two points, for the part noise",
    )

    @field_validator("functions", "models")
    @classmethod
    def _are_known(cls, given: tuple[str, ...], info: Any) -> tuple[str, ...]:
        known = FUNCTIONS if info.field_name == "functions" else KINDS
        if unknown := [name for name in given if name not in known]:
            raise ValueError(f"there is no {info.field_name.removesuffix('s')} {', '.join(unknown)}")
        return tuple(name for name in known if name in given)

    @property
    def parts_run(self) -> tuple[str, ...]:
        """The parts of this run, in the order of the paper."""
        return tuple(part for part in FIGURES if self.everything or part in self.parts)


class Planned(NamedTuple):
    """A cell and what it stands for: one cell may serve several parts."""

    part: str
    setting: str
    cell: CourseCell | SurfaceCell


def plan(config: BenchmarkConfig) -> list[Planned]:
    """All cells of a run, in the order of its parts. Raises ValueError for settings that a model does not take."""
    makers = {
        CONVERGENCE: _convergence, SURFACES: _surfaces, KERNELS: _kernels, RATIO: _ratio, DIMENSIONS: _dimensions,
        NOISE: _noise, DEPTH: _depth,
    }  # fmt: skip
    return [each for part in config.parts_run for each in makers[part](config)]


def distinct(planned: Sequence[Planned]) -> list[CourseCell | SurfaceCell]:
    """The cells to compute, each once, the longest first, so that no process waits long for the other at the end."""
    cells = {cell.model_dump_json(): cell for _, _, cell in planned}
    return sorted(cells.values(), key=lambda cell: (-seconds(cell), cell.model_dump_json()))


def seconds(cell: CourseCell | SurfaceCell) -> float:
    """About how many seconds a cell takes on one core."""
    asked = cell.n_questions / 200 if isinstance(cell, CourseCell) else 1 / 50
    return SECONDS_A_RUN[cell.model] * cell.runs * asked


def duration_in_words(cells: Sequence[CourseCell | SurfaceCell], cores: int | None = None) -> str:
    """About how long cells take on all cores of this machine.

    >>> cell = CourseCell(
    ...     function="levy", n_dimensions=2, model="tree", settings={}, runs=20, n_initial=20, n_questions=200, seed=0
    ... )
    >>> duration_in_words([cell] * 600, cores=2)
    'about 1 hour on 2 cores'
    """
    cores = cores or os.cpu_count() or 1
    minutes = sum(map(seconds, cells)) / 60 / cores
    number, unit = (minutes / 60, "hour") if minutes > 55 else (minutes, "minute")
    rounded = max(1, round(number))
    return f"about {rounded} {unit}{'s' * (rounded > 1)} on {cores} core{'s' * (cores > 1)}"


def _course(
    config: BenchmarkConfig, function: str, model: str, *, d: int | None = None, noise: float = 0.0, **changed: Any
) -> CourseCell:
    return CourseCell(
        function=function, n_dimensions=d or FUNCTIONS[function][0], model=model, settings=config.of(model, **changed),
        noise_ratio=noise, runs=config.runs, n_initial=config.initial, n_questions=config.questions, seed=config.seed,
    )  # fmt: skip


def _convergence(config: BenchmarkConfig) -> Iterator[Planned]:
    for function in config.functions:
        for model in config.models:
            yield Planned(CONVERGENCE, "", _course(config, function, model))


def _surfaces(config: BenchmarkConfig) -> Iterator[Planned]:
    for function in config.functions:
        for model in config.models:
            yield Planned(
                SURFACES, "",
                SurfaceCell(
                    function=function, n_dimensions=PICTURED.get(function, FUNCTIONS[function][0]), model=model,
                    settings=config.of(model), runs=min(config.runs, SURFACES_LEARNED),
                    n_comparisons=config.comparisons, seed=config.seed,
                ),
            )  # fmt: skip


def _kernels(config: BenchmarkConfig) -> Iterator[Planned]:
    for function in config.functions:
        if TREE in config.models:
            yield Planned(KERNELS, "", _course(config, function, TREE))
        for model in KERNEL_MODELS:
            for kernel in KERNEL_NAMES if model in config.models else ():
                yield Planned(KERNELS, kernel, _course(config, function, model, kernel=kernel))


def _ratio(config: BenchmarkConfig) -> Iterator[Planned]:
    for function in config.functions:
        for ratio in sorted({*config.ratios, config.tree.ratio}):
            yield Planned(RATIO, f"{ratio:g}", _course(config, function, TREE, ratio=ratio))


def _dimensions(config: BenchmarkConfig) -> Iterator[Planned]:
    for function in config.functions:
        for d in config.dimensions if function in VARIABLE_DIMENSION else ():
            for model in config.models if d in EXISTING[function] else ():
                yield Planned(DIMENSIONS, str(d), _course(config, function, model, d=d))


def _noise(config: BenchmarkConfig) -> Iterator[Planned]:
    for function in config.functions:
        for noise in config.noise_ratios:
            for model in config.models:
                yield Planned(NOISE, f"{noise:g}", _course(config, function, model, noise=noise))


def _depth(config: BenchmarkConfig) -> Iterator[Planned]:
    for function in config.functions:
        for depth in (*config.depths, None):
            setting = UNLIMITED if depth is None else str(depth)
            yield Planned(DEPTH, setting, _course(config, function, TREE, max_depth=depth))
