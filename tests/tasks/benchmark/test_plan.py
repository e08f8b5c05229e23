"""The plan of a run: which cells each part has, what is shared, and what is refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from models.benchmarks.functions import FUNCTIONS
from models.records.settings_errors import explain
from models.records.studies.benchmark_results import FIGURES
from tasks.benchmark.cells import CourseCell, SurfaceCell
from tasks.benchmark.models import KINDS, ModelSettings, make_model
from tasks.benchmark.plan import KERNEL_NAMES, BenchmarkConfig, distinct, duration_in_words, plan

EVERYTHING = BenchmarkConfig(everything=True)


def test_the_default_run_is_that_of_figures_2_8_11_12_and_15() -> None:
    assert BenchmarkConfig().parts_run == ("convergence", "surfaces", "ratio", "depth")
    assert EVERYTHING.parts_run == tuple(FIGURES)


def test_each_part_has_the_cells_of_its_figure() -> None:
    count = Counter(part for part, _, _ in plan(EVERYTHING))
    functions, models = len(FUNCTIONS), 4
    assert count == {
        "convergence": functions * models,
        "surfaces": functions * models,
        "kernels": functions * (1 + 2 * len(KERNEL_NAMES)),
        "ratio": functions * 6,
        "dimensions": 4 * 7 * models,
        "noise": functions * 5 * models,
        "depth": functions * 13,
    }


def test_a_setting_that_is_the_usual_one_is_computed_once_for_all_parts() -> None:
    planned = plan(BenchmarkConfig(functions=("branin",), models=("tree",), parts=("convergence", "ratio", "depth")))
    [usual] = [cell for part, _, cell in planned if part == "convergence"]
    same = [(part, setting) for part, setting, cell in planned if cell == usual]
    assert same == [("convergence", ""), ("ratio", "0.25"), ("depth", "none")]
    assert len(distinct(planned)) == len(planned) - 2


def test_the_settings_of_the_models_reach_their_cells() -> None:
    config = BenchmarkConfig.model_validate({"tree": {"ratio": 2.0}, "forest": {"n_trees": 5}, "functions": ["levy"]})
    cells = {cell.model: cell for _, _, cell in plan(config) if isinstance(cell, CourseCell)}
    assert cells["forest"].settings["n_trees"] == 5
    assert {setting for part, setting, _ in plan(config) if part == "ratio"} >= {"2", "0.25"}
    for model in KINDS:
        assert make_model(model, config.of(model)) == getattr(config, model)


def test_every_model_of_the_registry_has_a_section_of_settings() -> None:
    assert [name for name in KINDS if not isinstance(getattr(ModelSettings(), name), KINDS[name])] == []


def test_surfaces_are_learned_in_the_dimensions_of_figure_8() -> None:
    cells = {cell.function: cell.n_dimensions for _, _, cell in plan(EVERYTHING) if isinstance(cell, SurfaceCell)}
    assert cells == {name: 3 if name == "hartmann" else 2 for name in FUNCTIONS}


@pytest.mark.parametrize(
    "wrong",
    [
        {"functions": ["ackley"]}, {"models": ["oak"]}, {"parts": ["figure_2"]}, {"tree": {"rato": 1}},
        {"tree": {"ratio": -1}}, {"runs": 1}, {"simulated": True}, {"raw": "there"}, {"functions": []},
        {"noise_ratios": [-1.0]}, {"dimensions": [1]}, {"depths": [0]}, {"ratios": [0.0]},
    ],
)  # fmt: skip
def test_a_setting_that_nothing_can_run_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        BenchmarkConfig.model_validate(wrong)


def test_the_time_of_everything_is_told_in_hours() -> None:
    assert "hour" in duration_in_words(distinct(plan(EVERYTHING)), cores=2)
    assert duration_in_words([], cores=1) == "about 1 minute on 1 core"


def test_an_unknown_setting_of_a_model_is_told_with_those_there_are() -> None:
    with pytest.raises(ValidationError) as raised:
        BenchmarkConfig.model_validate({"tree": {"rato": 1}, "forest": {"candidates": {"unifrm": 3}}})
    lines = "\n".join(explain(BenchmarkConfig, raised.value.errors()))
    assert "tree.rato: there is no such setting. Did you mean ratio?" in lines
    assert "There are: tie_break, max_depth, ratio" in lines
    assert "forest.candidates.unifrm: there is no such setting. Did you mean uniform?" in lines
