"""Results from cells: known values of regrets, differences, times and ruggedness."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from models.records.results import MetricRow
from models.records.studies.benchmark_results import (
    ALL_FUNCTIONS,
    GAP,
    GAP_IN_SDS,
    OTHER_FUNCTIONS,
    OTHER_STARTS,
)
from tasks.benchmark.cells import Course, CourseCell, keep
from tasks.benchmark.comparing import compare, write_comparisons
from tasks.benchmark.plan import BenchmarkConfig, Planned, plan
from tasks.benchmark.summaries import course_times, write_courses, write_ruggedness
from tasks.runs.results import METRICS

CONFIG = BenchmarkConfig(functions=("branin", "levy"), models=("tree", "forest"), parts=("convergence", "ratio"),
                         ratios=(1.0,), runs=4, questions=20)  # fmt: skip
LAST = {"tree": [4.0, 5.0, 6.0, 9.0], "forest": [1.0, 2.0, 3.0, 2.0]}
"""Final regret of each run on Branin; on Levy ten times as much."""


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, Path]:
    """Made-up courses that fall in a straight line to their final regret; a tree's question takes 2 s, a forest's 6."""
    files = {}
    for number, planned in enumerate(plan(CONFIG)):
        cell = planned.cell
        assert isinstance(cell, CourseCell)
        last = np.array(LAST[cell.model]) * (10 if cell.function == "levy" else 1)
        if cell.settings["ratio"] == 1.0:
            last = last + 1.0
        regret = last + np.linspace(10, 0, 21)[:, None]
        seconds = np.full(21, 2.0 if cell.model == "tree" else 6.0)
        files[cell.model_dump_json()] = tmp_path / f"{number}.npz"
        keep(Course(regret, np.full((21, 4), 3), seconds), tmp_path / f"{number}.npz")
    return files


def row(rows: tuple[MetricRow, ...], variant: str, metric: str, model: str = "tree") -> MetricRow:
    [found] = [each for each in rows if (each.variant, each.metric, each.model) == (variant, metric, model)]
    return found


def test_the_metrics_have_means_and_paired_differences_with_intervals(kept: dict[str, Path], tmp_path: Path) -> None:
    finals = write_courses(plan(CONFIG), kept, tmp_path)
    write_comparisons(CONFIG, finals, tmp_path)
    rows = METRICS.validate_json((tmp_path / "metrics.json").read_bytes())
    regret = row(rows, "branin", "regret")
    assert (regret.value, regret.n, regret.at, regret.over) == (6.0, 4, 20, OTHER_STARTS)
    assert regret.sd == pytest.approx(np.std(LAST["tree"], ddof=1))
    gap = row(rows, "branin_against_forest", GAP)
    assert gap.value == 4.0
    assert (gap.lower, gap.upper) == (pytest.approx(0.818, abs=1e-3), pytest.approx(7.182, abs=1e-3))
    in_sds = row(rows, "branin_against_forest", GAP_IN_SDS)
    pooled = np.sqrt((np.var(LAST["tree"], ddof=1) + np.var(LAST["forest"], ddof=1)) / 2)
    assert in_sds.value == pytest.approx(4.0 / pooled)
    ratio = row(rows, "levy_ratio_1_against_tree_ratio_0.25", GAP)
    assert (ratio.value, ratio.lower) == (1.0, None)  # every run changes by the same: nothing shows how others vary
    everywhere = row(rows, f"{ALL_FUNCTIONS}_against_forest", GAP_IN_SDS)
    assert everywhere.over == OTHER_FUNCTIONS
    assert everywhere.value == pytest.approx(4.0 / pooled)  # ten times the regret and ten times its spread


def test_the_courses_and_the_final_regrets_are_those_of_the_cells(kept: dict[str, Path], tmp_path: Path) -> None:
    write_courses(plan(CONFIG), kept, tmp_path)
    courses = pd.read_parquet(tmp_path / "regret_courses.parquet")
    assert len(courses) == 2 * 2 * 21
    assert set(courses["part"]) == {"convergence"}
    first = courses[(courses["function"] == "branin") & (courses["model"] == "tree")]
    assert first["mean"].tolist() == pytest.approx(np.linspace(16, 6, 21))
    assert (first["lower"] < first["mean"]).all()
    finals = pd.read_parquet(tmp_path / "final_regrets.parquet")
    assert len(finals) == (2 * 2 + 2 * 2) * 4
    assert set(finals["tied"]) == {3}


def test_times_are_a_runs_share_and_stop_at_a_regret_that_every_model_reaches(kept: dict[str, Path]) -> None:
    times = {(each.function, each.model): each for each in course_times(plan(CONFIG), kept)}
    tree, forest = times["branin", "tree"], times["branin", "forest"]
    assert (tree.questions, tree.seconds) == ((0, 10, 20), (0.5, 5.5, 10.5))
    assert (forest.target, forest.target_questions, forest.target_seconds) == (6.0, 12, 19.5)
    assert (tree.target_questions, tree.target_seconds) == (20, 10.5)
    assert (tree.published_seconds, forest.published_seconds) == (15.33, None)


def test_without_cells_of_courses_there_are_metrics_and_no_tables(tmp_path: Path) -> None:
    config = CONFIG.model_copy(update={"parts": ("surfaces",)})
    nothing: list[Planned] = []
    finals = write_courses(nothing, {}, tmp_path)
    write_comparisons(config, finals, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.json"]


def test_the_best_kernel_is_the_one_with_the_lowest_mean() -> None:
    regrets = {("tree", ""): [5.0, 6.0, 9.0], ("gp", "rbf"): [1.0, 2.0, 4.0], ("gp", "matern12"): [0.0, 2.0, 3.0]}
    finals = pd.DataFrame(
        [
            {"part": "kernels", "function": "levy", "n_dimensions": 2, "model": model, "setting": setting, "run": run,
             "regret": value, "tied": 1}
            for (model, setting), values in regrets.items() for run, value in enumerate(values)
        ]
    )  # fmt: skip
    [best] = [each for each in compare(CONFIG, finals) if (each.function, each.base_setting) == ("levy", "best")]
    assert best.gap.estimate == pytest.approx(5.0)
    assert best.name == "levy_against_gp_kernels_best"


def test_ruggedness_stands_beside_the_published_one(tmp_path: Path) -> None:
    write_ruggedness(("branin", "de_jong_5"), tmp_path)
    found = pd.read_parquet(tmp_path / "ruggedness.parquet").set_index("function")
    assert found["published_mean"].to_dict() == {"branin": 24.45, "de_jong_5": 1162.28}
    assert found.loc["branin", "mean"] == pytest.approx(24.45, rel=0.25)
