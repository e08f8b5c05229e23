"""Sentences about features follow from intervals, and what no tree could ask about has no number."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from reports.page.blocks import Block, Figure, Prose, Table
from reports.page.finished_run import open_run
from reports.respondents.example_tree import FittedTree, read_example
from reports.respondents.leaving_out import leaving_out_section
from reports.respondents.many_trees import asked_blocks
from tests.reports.conftest import WriteRun


def _prose(blocks: list[Block]) -> str:
    return " ".join(text for block in blocks if isinstance(block, Prose) for text in block.paragraphs)


def _edit(folder: Path, name: str, feature: str, key: str, **values: float | None) -> None:
    file = folder / "results" / f"{name}.parquet"
    frame = pd.read_parquet(file)
    frame.loc[frame[key] == feature, list(values)] = list(values.values())
    frame.to_parquet(file)


def test_a_change_is_told_where_its_interval_excludes_zero_and_no_other_is_called_none(write_run: WriteRun) -> None:
    prose = _prose(list(leaving_out_section(open_run(write_run())).blocks))
    assert "Without oiliness (−3.4 points) the trees have a lower held-out accuracy." in prose
    assert "Without price (+1.6 points) the trees have a higher held-out accuracy." in prose
    assert "these data show no change: their intervals contain zero, which does not show that they carry" in prose
    assert "missed" not in prose


def test_what_no_tree_could_ask_about_has_no_number(write_run: WriteRun) -> None:
    folder = write_run()
    _edit(folder, "leaving_out", "price", "removed", possible=0.0, test_delta=None, train_delta=None)
    _edit(folder, "leaving_out_intervals", "price", "removed", estimate=None, lower=None, upper=None)
    _edit(folder, "asked_features", "price", "feature", possible=0.0, asked=0.0)
    section = leaving_out_section(open_run(folder))
    assert "No tree could ask about price" in _prose(list(section.blocks))
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    [row] = [row for row in table.rows if row.cells[0] == "price"]
    assert row.cells[1:] == ["0.000", "–", "–", "–", "–", "–"]
    [figure] = [block for block in asked_blocks(open_run(folder)) if isinstance(block, Figure)]
    assert "No tree could ask about price" in figure.caption
    assert "price" not in figure.pictures[0].alt


def test_the_support_of_first_questions_is_shown(write_run: WriteRun) -> None:
    [table] = [block for block in asked_blocks(open_run(write_run())) if isinstance(block, Table)]
    assert [row.cells[-1] for row in table.rows if row.cells[0] == "oiliness"] == ["0.800"]


def _with_means(tree: FittedTree, means: tuple[float, ...]) -> FittedTree:
    return tree.model_copy(update={"leaf_mean": means})


def test_leaves_that_share_a_rank_are_named_together(write_run: WriteRun) -> None:
    tree = read_example(open_run(write_run()), ("straddlers_discarded",)).trees["straddlers_discarded"]
    means = [0.0] * len(tree.leaf_mean)
    means[0] = means[1] = -1.0
    means[-1] = 2.0
    said = _with_means(tree, tuple(means)).extremes_in_words()
    best, least = said.split("Liked least: ")
    assert ";" in least.split("utility")[1], "two leaves are liked least"
    assert best.count("utility") == 1
    level = _with_means(tree, (0.0,) * len(means))
    assert level.extremes_in_words() == "The tree does not tell the items apart."
