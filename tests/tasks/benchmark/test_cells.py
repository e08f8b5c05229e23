"""Cells: what is in one, that they are kept whole, and that a run that was stopped goes on from them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.asking.box.loop import ask_in_box
from models.benchmarks.decision_maker import decision_maker
from models.benchmarks.functions import benchmark_function
from tasks.benchmark import kept, workers
from tasks.benchmark.cells import (
    GRID,
    SLICE,
    Course,
    CourseCell,
    Surface,
    SurfaceCell,
    compute,
    file_name,
    grid_places,
    keep,
    read_course,
    read_surface,
    run_seeds,
)
from tasks.benchmark.models import make_model
from tasks.benchmark.plan import BenchmarkConfig

COURSE = CourseCell(
    function="branin", n_dimensions=2, model="tree", settings={"max_depth": 3}, runs=2, n_initial=4, n_questions=3,
    seed=1,
)  # fmt: skip


def test_a_course_is_the_regret_of_ask_in_box_run_by_run() -> None:
    found = compute(COURSE)
    assert isinstance(found, Course)
    branin = benchmark_function("branin")
    course = ask_in_box(
        make_model("tree", {"max_depth": 3}), decision_maker(branin), 2, run_seeds(1, 2), n_initial=4, n_questions=3
    )
    last = course.points[[0, 1], course.recommended[-1]]
    assert found.regret.shape == found.tied.shape == (4, 2)
    assert found.regret[-1] == pytest.approx(branin.maximum - branin(last))
    assert len(found.seconds) == 4


def test_all_models_share_the_first_questions_of_a_run() -> None:
    """So the regret before the first question of a tree with one leaf differs between runs, not between settings."""
    one, other = (compute(COURSE.model_copy(update={"settings": {"ratio": ratio}})) for ratio in (0.25, 0.26))
    assert isinstance(one, Course)
    assert isinstance(other, Course)
    assert one.regret[0].tolist() == other.regret[0].tolist()
    assert len(set(run_seeds(0, 20).tolist())) == 20
    assert run_seeds(0, 20)[:5].tolist() == run_seeds(0, 5).tolist()


def test_a_surface_learned_from_many_comparisons_is_ordered_like_the_truth() -> None:
    cell = SurfaceCell(
        function="hartmann", n_dimensions=3, model="tree", settings={}, runs=2, n_comparisons=200, seed=0
    )
    found = compute(cell)
    assert isinstance(found, Surface)
    assert found.utility.shape == (GRID * GRID,)
    assert (found.agreement > 0.3).all()
    few = compute(cell.model_copy(update={"n_comparisons": 2}))
    assert isinstance(few, Surface)
    assert few.agreement.mean() < found.agreement.mean()


def test_the_places_of_a_picture_lie_in_the_cube_and_a_third_coordinate_is_fixed() -> None:
    places = grid_places(3)
    assert len(np.unique(places, axis=0)) == GRID * GRID
    assert set(places[:, 2]) == {SLICE}
    assert places[:GRID, 1].tolist() == [0.5 / GRID] * GRID


def test_what_is_kept_is_read_again_to_the_bit(tmp_path: Path) -> None:
    course = Course(np.random.default_rng(0).random((3, 2)), np.ones((3, 2), dtype=np.int64), np.ones(3) / 3)
    surface = Surface(np.random.default_rng(1).random(4), np.array([1 / 3]))
    keep(course, tmp_path / "a.npz")
    keep(surface, tmp_path / "b.npz")
    for found, read in ((course, read_course(tmp_path / "a.npz")), (surface, read_surface(tmp_path / "b.npz"))):
        assert all(np.array_equal(one, other) for one, other in zip(found, read, strict=True))
    assert {path.name for path in tmp_path.iterdir()} == {"a.npz", "b.npz"}


def test_the_name_of_a_cell_depends_on_every_setting_and_on_the_code() -> None:
    changed: list[dict[str, Any]] = [
        {"seed": 2}, {"settings": {"max_depth": 4}}, {"noise_ratio": 1.0}, {"runs": 3}, {"n_questions": 4}
    ]  # fmt: skip
    names = {file_name(COURSE.model_copy(update=each), "code") for each in changed}
    names |= {file_name(COURSE, "code"), file_name(COURSE, "other code")}
    assert len(names) == len(changed) + 2


def test_the_digest_of_the_code_changes_with_the_code_of_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    monkeypatch.setattr(kept.models, "__path__", [str(tmp_path)])
    before = kept.code_digest()
    assert kept.code_digest() == before
    (tmp_path / "a.py").write_text("a = 2\n")
    assert kept.code_digest() != before


class InLine:
    """In place of a pool of processes: computes at once, and counts."""

    def __init__(self) -> None:
        self.cells: list[Any] = []

    def submit(self, function: Callable[[Any], Any], cell: Any) -> Future[Any]:
        self.cells.append(cell)
        future: Future[Any] = Future()
        future.set_result(function(cell))
        return future


def test_a_kept_cell_is_not_computed_again(tmp_path: Path) -> None:
    pool = InLine()
    helpers = workers.Workers(pool)  # type: ignore[arg-type]
    place = tmp_path / "cell.npz"
    kept.search.fn(COURSE, place, helpers)
    written = place.read_bytes()
    kept.search.fn(COURSE, place, helpers)
    assert (len(pool.cells), place.read_bytes()) == (1, written)


def test_cells_are_kept_beside_the_runs_and_outlive_them(tmp_path: Path) -> None:
    assert kept.folder_of_cells(BenchmarkConfig(out=tmp_path)) == tmp_path / "benchmark" / "cells"
