"""The page of the benchmark study: the answer first, whole reports of every part, and of runs that lack some."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.records.studies.benchmark_results import FIGURES
from reports.page.blocks import Figure, Page, Table
from reports.page.finished_run import NotARunError, open_run
from reports.page.html import to_html
from reports.page.render import render
from reports.studies.benchmark import page

WriteRun = Callable[..., Path]
FEW: dict[str, Any] = {"functions": ["rosenbrock", "de_jong_5"], "ratios": [0.0625, 1.0], "depths": [2, 4, 6],
       "noise_ratios": [0.0, 1.0, 2.0], "dimensions": [2, 10]}  # fmt: skip


def page_of(folder: Path) -> Page:
    return page(open_run(folder))


def tables(found: Page) -> list[Table]:
    return [block for section in found.sections for block in section.blocks if isinstance(block, Table)]


def test_the_answer_says_first_where_the_tree_keeps_up_and_by_how_much(write_run: WriteRun) -> None:
    answer = page_of(write_run(**FEW, parts=["convergence"], models=["tree", "gp"], runs=20)).answer
    first = answer.sentences[0]
    assert first.startswith("The tree has a lower final regret than the Gaussian process on De Jong N.5 (")
    assert ", and a higher one on Rosenbrock (" in first
    assert answer.sentences[1].startswith("In brackets: the size of the difference")
    assert "times as fast as the Gaussian process" in answer.sentences[2]
    assert answer.numbers[0].value == "1 : 1"


@pytest.mark.parametrize(("models", "told"), [(["tree", "forest"], True), (["tree"], False)])
def test_what_is_recommended_and_banded_is_told_of_the_models_there_are(
    write_run: WriteRun, models: list[str], told: bool
) -> None:
    text = to_html(page_of(write_run(**{**FEW, "functions": ["levy"]}, parts=["convergence"], models=models)))
    assert ("(for the forest, among points that were never beaten)" in text) == told
    assert "of the Gaussian process (grey)" not in text


def test_a_report_of_everything_has_a_section_for_each_figure(write_run: WriteRun) -> None:
    run = write_run(**FEW, everything=True)
    found = page_of(run)
    text = to_html(found)
    for figures in FIGURES.values():
        assert f"as dt-pbo, {figures.partition(' and 12')[0].replace('Figures 2', 'Figure 2')}" in text
    assert "Not run" not in [section.heading for section in found.sections]
    assert "Functions, no data" in text
    names = [picture.name for picture in found.pictures]
    assert len(names) == len(set(names))
    assert all(len(row.cells) == len(table.columns) for table in tables(found) for row in table.rows)
    assert all(len(block.pictures) <= 2 for s in found.sections for block in s.blocks if isinstance(block, Figure))


@pytest.mark.parametrize("models", [["tree"], ["forest", "skew_gp"]])
def test_a_report_with_a_model_missing_is_whole(write_run: WriteRun, models: list[str]) -> None:
    few = {**FEW, "functions": ["levy"], "parts": ["convergence", "kernels", "noise"]}
    rendered = render(write_run(**few, models=models))
    assert rendered.html.is_file()
    assert rendered.pdf.stat().st_size > 10_000


def test_a_run_of_one_part_has_a_report_of_it_alone(write_run: WriteRun) -> None:
    found = page_of(write_run(**FEW, parts=["surfaces"]))
    headings = [section.heading for section in found.sections]
    assert found.answer.sentences == ["This run compares no two models on the functions themselves; its parts follow."]
    assert headings == ["What is learned from random pairs", "Not run", "The functions", "What the numbers rest on"]


def test_published_numbers_stand_apart_from_those_found(write_run: WriteRun) -> None:
    text = to_html(page_of(write_run(**FEW, parts=["convergence"])))
    assert "1,162" in text  # Table 3: De Jong
    assert "2,461" in text  # Table 5: Rosenbrock with SkewGP


def test_the_same_run_gives_the_same_page(write_run: WriteRun) -> None:
    run = write_run(**{**FEW, "functions": ["levy"]}, parts=["convergence", "depth"])
    assert to_html(page_of(run)) == to_html(page_of(run))


def test_a_missing_result_is_named(write_run: WriteRun) -> None:
    run = write_run(**{**FEW, "functions": ["levy"]}, parts=["convergence"])
    (run / "results" / "regret_courses.parquet").unlink()
    with pytest.raises(NotARunError, match=r"regret_courses\.parquet is missing"):
        page_of(run)


def test_a_run_without_times_says_so(write_run: WriteRun) -> None:
    run = write_run(**{**FEW, "functions": ["levy"]}, parts=["convergence"])
    record = json.loads((run / "run.json").read_text("utf-8"))
    (run / "run.json").write_text(json.dumps({**record, "courses": []}), "utf-8")
    assert "This run timed no model." in to_html(page_of(run))
