"""The part of a page that explains preferences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from models.shap.findings import Finding, Verdict
from reports.duels.explanation import explanation_section, has_explanations, verdict_sentence
from reports.figures.beeswarm import PlayerValues, draw_explanation
from reports.page import style
from reports.page.blocks import Answer, Figure, Page, Table
from reports.page.finished_run import FinishedRun, NotARunError, open_run
from reports.page.html import to_html
from reports.page.pdf import write_pdf

PLAYERS = ("special_attack", "speed", "types")


def write_explained(folder: Path) -> Path:
    """Add explanations of two models and two verdicts to a run."""
    rng = np.random.default_rng(0)
    rows, duels = [], []
    for model, sizes in (("gpm", (0.5, 2.0, 1.0)), ("upm", (2.0, 0.5, 1.0))):
        values = rng.normal(size=(400, 3)) * sizes
        for duel, of_duel in enumerate(values):
            for player, value in zip(PLAYERS, of_duel, strict=True):
                difference = None if player == "types" else float(np.tanh(value))
                rows.append(("battles", "All battles", model, "items", duel, player, value, None, difference))
            duels.append(("battles", model, of_duel.sum() + 0.1, -0.1, 8))
    results = folder / "results"
    columns = ["kind", "title", "model", "of", "duel", "player", "value", "standard_error", "difference"]
    pd.DataFrame(rows, columns=columns).to_parquet(results / "explanations.parquet")
    columns = ["kind", "model", "preference", "gap", "coalitions"]
    pd.DataFrame(duels, columns=columns).to_parquet(results / "explained_duels.parquet")
    said = {"source": "pref-shap, Figure 4", "explained": "battles", "statistic": "importance_share"}
    verdicts = [
        verdict(Finding(name="speed", claim="Speed matters.", players=("speed",), threshold=0.125, **said), 0.5),
        verdict(Finding(name="types", claim="Types matter.", players=("types",), threshold=0.3, **said), 0.29),
    ]
    (results / "findings.json").write_text(json.dumps(verdicts), "utf-8")
    return folder


def verdict(finding: Finding, value: float) -> dict[str, object]:
    lower = value - 0.02
    found = Verdict(
        finding=finding, value=value, lower=lower, upper=value + 0.02, duels=400, holds=lower > finding.threshold
    )
    return found.model_dump(mode="json")


@pytest.fixture
def run(write_run) -> FinishedRun:
    return open_run(write_explained(write_run()))


def test_the_table_says_of_each_finding_what_decides_it_and_whether_it_holds(run):
    [table] = [block for block in explanation_section(run, comparable=True).blocks if isinstance(block, Table)]
    assert [row.cells[1:] for row in table.rows] == [
        [">\N{NO-BREAK SPACE}0.125", "0.50", "0.48 to 0.52", "yes"],
        [">\N{NO-BREAK SPACE}0.3", "0.29", "0.27 to 0.31", "not decided"],
    ]
    assert "Speed matters." in table.rows[0].cells[0]
    assert [row.group for row in table.rows] == ["pref-shap, Figure 4", ""]
    assert verdict_sentence(run, comparable=True) == (
        "Of the 2 published findings about what decides it, 1 holds here and 1 is not decided."
    )


def test_both_models_are_drawn_in_the_order_of_the_first(run):
    [figure] = [block for block in explanation_section(run, comparable=True).blocks if isinstance(block, Figure)]
    assert figure.title == "All battles: speed moves most."
    gpm, upm = figure.pictures
    assert gpm.alt.index("speed") < gpm.alt.index("types") < gpm.alt.index("special attack")
    assert upm.alt.index("speed") < upm.alt.index("types") < upm.alt.index("special attack")
    assert [picture.name for picture in figure.pictures] == ["explanation_battles_gpm", "explanation_battles_upm"]


def test_a_run_may_explain_nothing(write_run):
    assert not has_explanations(open_run(write_run()))
    assert has_explanations(open_run(write_explained(write_run())))


def test_explanations_that_were_deleted_are_missed_and_not_left_out(run):
    (run.path / "results" / "explanations.parquet").unlink()
    assert has_explanations(run)
    with pytest.raises(NotARunError, match=r"explanations\.parquet is missing"):
        explanation_section(run, comparable=True)


def test_the_gap_to_the_models_own_preference_is_told(run):
    html = to_html(Page(study="x", title="x", answer=Answer([]), sections=[explanation_section(run, comparable=True)]))
    assert "0.100 (mean size" in html


def test_contributions_are_exact_or_tell_their_standard_error(run):
    page = Page(study="x", title="x", answer=Answer([]), sections=[explanation_section(run, comparable=True)])
    assert "over all coalitions of features, up to 8;" in to_html(page)
    path = run.path / "results" / "explanations.parquet"
    pd.read_parquet(path).assign(standard_error=0.25).to_parquet(path)
    page = Page(study="x", title="x", answer=Answer([]), sections=[explanation_section(run, comparable=True)])
    assert "the standard error that this leaves is 0.250 on average" in to_html(page)


def test_simulated_data_says_that_the_findings_are_of_other_data(write_run):
    run = open_run(write_explained(write_run(simulated=True)))
    [table] = [block for block in explanation_section(run, comparable=False).blocks if isinstance(block, Table)]
    assert "published of other data" in table.note
    assert "in these simulated data" in verdict_sentence(run, comparable=False)


def test_broken_findings_are_refused_by_name(run):
    (run.path / "results" / "findings.json").write_text('[{"value": 1}]', "utf-8")
    with pytest.raises(NotARunError, match=r"findings.json, 0.finding"):
        explanation_section(run, comparable=True)


def swarm(n: int, seed: int = 0) -> list[PlayerValues]:
    rng = np.random.default_rng(seed)
    return [
        PlayerValues("special defence", rng.normal(size=n), rng.normal(size=n)),
        PlayerValues("types", rng.normal(size=n), np.full(n, np.nan)),
        PlayerValues("nothing", np.zeros(n), np.zeros(n)),
    ]


@pytest.mark.parametrize("n", [1, 3, 1000])
def test_the_figure_keeps_its_texts_apart_and_its_dots_on_their_lines(n):
    figure = draw_explanation("A title", swarm(n), key=("winner has less", "more"), labels=23, width=style.HALF_WIDTH)
    canvas = FigureCanvasAgg(figure)
    with style.house_style():
        canvas.draw()
    renderer = canvas.get_renderer()
    texts = [text for axes in figure.axes for text in axes.get_yticklabels()] + list(figure.texts)
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_text()]
    width, height = figure.get_size_inches() * figure.dpi
    assert all(box.x0 >= -1 and box.x1 <= width + 1 and box.y0 >= -1 and box.y1 <= height + 1 for box in boxes)
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at])
    heights = np.concatenate([line.get_ydata() for line in figure.axes[1].lines if line.get_marker() == "o"])
    assert np.abs(heights - np.rint(heights)).max() < 0.5
    shown = sum(len(line.get_xdata()) for line in figure.axes[1].lines if line.get_marker() == "o")
    assert shown == 3 * min(n, 250)


def test_the_same_explanation_always_gives_the_same_picture():
    one, other = (
        style.to_svg(draw_explanation("t", swarm(50), key=("less", "more"), labels=23, width=84)) for _ in range(2)
    )
    assert one == other


def test_a_page_of_explanations_prints(run, tmp_path):
    page = Page(
        study="Battles", title="Battles", answer=Answer(["Yes."]), sections=[explanation_section(run, comparable=True)]
    )
    html = to_html(page)
    write_pdf(html, tmp_path / "page.pdf", title=page.title, created=run.record.started)
    assert (tmp_path / "page.pdf").stat().st_size > 5_000
    assert len(html) < 1_000_000
