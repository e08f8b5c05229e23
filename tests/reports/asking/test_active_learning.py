"""The section about asking: it agrees with the results, compares only real data, and its drawings stay in bounds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from reports.asking.active_learning import CHOICES, WAYS, Courses, asking_section, asking_sentence, read_courses
from reports.figures.courses import Curve, Mark, draw_courses
from reports.page import style
from reports.page.blocks import Figure, Prose, Table
from reports.page.finished_run import FinishedRun, NotARunError, open_run
from tasks.asking.comparing_courses import compare_courses
from tests.reports.conftest import WriteRun

QUESTIONS = 12
FOUND = {"tree_top_leaf": 0.68, "gp_qeubo": 0.85}


def _courses() -> pd.DataFrame:
    """Curves that fall from 4 to a floor; the share found after nine questions is exactly FOUND where it is named."""
    ways = [*WAYS, *CHOICES]
    question = np.arange(QUESTIONS + 1)
    frames = []
    for number, way in enumerate(ways):
        fall = np.exp(-question / (3 + number))
        share = np.where(question == 9, FOUND.get(way, 0.5), 0.1 + 0.6 * (1 - fall))
        regret = 4 * fall + (0.5 if way == "tree_top_leaf" else 0.0)
        frames.append(
            pd.DataFrame(
                {
                    "way": way,
                    "question": question,
                    "users": 40,
                    "rho_regret": regret,
                    "rho_regret_sd": 0.8,
                    "top1_error": 9 * fall,
                    "top1_error_sd": 1.5,
                    "found_share": share,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def _judged() -> dict[str, pd.DataFrame]:
    """Forty users a way around the means of `_courses`, whose differences from one way to another are all equal."""
    means = _courses().set_index(["way", "question"])
    spread = np.linspace(-1e-6, 1e-6, 40)
    judged = {}
    for number, way in enumerate([*WAYS, *CHOICES]):
        rows = [
            {
                "user_id": f"u{user}",
                "question": question,
                "rho_regret": means.loc[(way, question), "rho_regret"] + number * spread[user],
                "top1_error": means.loc[(way, question), "top1_error"],
                "found": float(means.loc[(way, question), "found_share"]) + number * spread[user],
            }
            for question in (9, QUESTIONS)
            for user in range(40)
        ]
        judged[way] = pd.DataFrame(rows)
    return judged


def _asked(folder: Path) -> FinishedRun:
    """The run in `folder`, of users who were asked questions."""
    record = json.loads((folder / "run.json").read_text("utf-8"))
    record["config"]["active_learning"] = True
    (folder / "run.json").write_text(json.dumps(record), "utf-8")
    _courses().to_parquet(folder / "results" / "active_learning.parquet")
    compare_courses(folder / "results", _judged())
    rows = json.loads((folder / "results" / "metrics.json").read_text("utf-8"))
    found = {**rows[0], "metric": "found_share", "variant": "tree_top_leaf", "split": "asked", "at": 9, "value": 0.68}
    rows.append({**found, "published": 0.7, "published_source": "the paper"})
    (folder / "results" / "metrics.json").write_text(json.dumps(rows), "utf-8")
    return open_run(folder)


def _read(run: FinishedRun) -> Courses:
    courses = read_courses(run)
    assert courses is not None
    return courses


def test_a_run_in_which_nobody_was_asked_has_no_such_section(write_run: WriteRun) -> None:
    assert read_courses(open_run(write_run())) is None


def test_a_run_that_says_it_asked_and_lacks_the_results_is_refused(write_run: WriteRun) -> None:
    run = _asked(write_run())
    (run.path / "results" / "active_learning.parquet").unlink()
    with pytest.raises(NotARunError, match=r"active_learning\.parquet is missing"):
        read_courses(run)


def test_a_run_of_a_version_that_asked_in_fewer_ways_is_refused(write_run: WriteRun) -> None:
    run = _asked(write_run())
    path = run.path / "results" / "active_learning.parquet"
    courses = pd.read_parquet(path)
    courses[~courses["way"].str.startswith("forest")].to_parquet(path)
    with pytest.raises(NotARunError, match="no way of asking forest_qeubo and forest_ask_again: an earlier version"):
        read_courses(run)


def test_the_answer_says_what_nine_questions_find(write_run: WriteRun) -> None:
    sentence = asking_sentence(_read(_asked(write_run())))
    assert "68% of 40 users are recommended the item they like best" in sentence
    assert "those of a Gaussian process, 85% of 40" in sentence
    assert "The tree with the top-leaf rule has a lower share of favourites found than the Gaussian process" in sentence


def test_the_section_tells_what_the_differences_show_and_every_choice_tried(write_run: WriteRun) -> None:
    run = _asked(write_run())
    section = asking_section(run, _read(run))
    prose = " ".join(text for block in section.blocks if isinstance(block, Prose) for text in block.paragraphs)
    assert "asked: the tree with the top-leaf rule has a higher ρ-regret than the Gaussian process, by 0.28" in prose
    assert "may ask a pair again" in prose
    assert "The paper reads its Figure 3" in prose
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    assert len(table.rows) == len(CHOICES)
    assert table.rows[0].group.startswith("Tree, top-leaf rule: ρ-regret 0.70 / ")
    assert "found 68% / " in table.rows[0].group


def test_where_intervals_contain_zero_no_way_is_called_better(write_run: WriteRun) -> None:
    run = _asked(write_run())
    file = run.path / "results" / "asking_changes.parquet"
    wide = pd.read_parquet(file).assign(lower=-5.0, upper=5.0)
    wide.to_parquet(file)
    section = asking_section(run, _read(run))
    prose = " ".join(text for block in section.blocks if isinstance(block, Prose) for text in block.paragraphs)
    assert "has a higher" not in prose
    assert "has a lower" not in prose
    assert "show no difference in ρ-regret" in prose
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    assert not any("†" in str(cell) for row in table.rows for cell in row.cells)


def test_published_values_are_marked_on_real_data_only(write_run: WriteRun) -> None:
    for simulated in (False, True):
        run = _asked(write_run(simulated=simulated))
        section = asking_section(run, _read(run))
        [picture] = [
            picture
            for block in section.blocks
            if isinstance(block, Figure)
            for picture in block.pictures
            if picture.name == "asked-found"
        ]
        assert ("published" in picture.svg) is not simulated
        prose = " ".join(text for block in section.blocks if isinstance(block, Prose) for text in block.paragraphs)
        assert ("The paper reads" in prose) is not simulated


def test_nothing_drawn_lies_outside_the_picture() -> None:
    mean = np.linspace(4, 0.5, 21)
    curves = [Curve(f"{label}, whatever that is", mean, mean / 2) for label in WAYS.values()]
    marks, reference = [Mark(9, 0.7, "published")], Curve("bandit, keeps the winner", mean[:10])
    figure = draw_courses("favourite recommended", curves, height=56, marks=marks, reference=reference)
    with style.house_style():
        FigureCanvasAgg(figure).draw()
        canvas, axes = figure.bbox, figure.axes[0]
        [legend] = figure.legends
        low, high = axes.get_ylim()
        ticks = [text for at, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True) if low <= at <= high]
        boxes = [text.get_window_extent() for text in (*ticks, axes.xaxis.label, axes.yaxis.label)]
        highest = max(box.y1 for box in boxes)
        assert all(canvas.x0 <= box.x0 and canvas.y0 <= box.y0 and box.y1 <= canvas.y1 for box in boxes)
        assert legend.get_window_extent().y0 >= highest
