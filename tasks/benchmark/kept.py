"""Cells that are kept on disk, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from prefect import task, unmapped
from prefect.cache_policies import NO_CACHE
from threadpoolctl import threadpool_info

import models
from tasks.benchmark import cells as computing
from tasks.benchmark.cells import CourseCell, SurfaceCell, file_name, keep
from tasks.benchmark.plan import BenchmarkConfig, Planned, distinct, duration_in_words
from tasks.benchmark.workers import Workers, workers
from tasks.runs.progress import LOGGER, advance
from tasks.runs.run_folder import RunFolder

SEARCHING = "Search the functions"
LONG = 200
"""Cells from which a run says beforehand how long it takes."""
DECIDING = ("numpy", "scipy", "scikit-learn")

Kept = Mapping[str, Path]
"""The file of each cell, by the cell as JSON."""


def folder_of_cells(config: BenchmarkConfig) -> Path:
    """The folder that keeps finished cells."""
    return config.out / "benchmark" / "cells"


def code_digest() -> str:
    """Digest of what decides a cell's numbers beside its settings: our code, packages, and the kind of processor."""
    found = hashlib.sha256(platform.machine().encode())
    for name in DECIDING:
        found.update(f"{name} {version(name)}".encode())
    found.update(repr(sorted({str(pool.get("architecture")) for pool in threadpool_info()})).encode())
    room = Path(models.__path__[0])
    for path in (*sorted(room.rglob("*.py")), Path(computing.__file__)):
        found.update(path.read_bytes())
    return found.hexdigest()


def search_all(run: RunFolder, config: BenchmarkConfig, planned: Sequence[Planned], *, many: int | None = None) -> Kept:
    """Compute the cells of a run that are not kept from before. many: number of processes; by default the cores."""
    folder = folder_of_cells(config)
    folder.mkdir(parents=True, exist_ok=True)
    code = code_digest()
    work = distinct(planned)
    places = [folder / file_name(cell, code) for cell in work]
    missing = [cell for cell, place in zip(work, places, strict=True) if not place.is_file()]
    if len(missing) >= LONG:
        LOGGER.warning(
            "%d cells to compute, %s; %d are kept from before. Finished cells stay in %s: a run that is stopped goes "
            "on from there.", len(missing), duration_in_words(missing), len(work) - len(missing), folder,
        )  # fmt: skip
    with run.step(SEARCHING, total=len(work)), workers(many) as helpers:
        search.map(work, places, unmapped(helpers)).result()
    return {cell.model_dump_json(): place for cell, place in zip(work, places, strict=True)}


@task(name="search", cache_policy=NO_CACHE)
def search(cell: CourseCell | SurfaceCell, place: Path, helpers: Workers) -> None:
    """Compute a cell, unless it is kept, and keep it."""
    if not place.is_file():
        keep(helpers.compute(cell), place)
    advance(SEARCHING)
