"""The section that explains preferences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from models.records.duel_results import (
    EXPLANATION_COLUMNS,
    ExplainedSummary,
    ExplanationSummary,
    MeanGap,
    PlayerSummary,
)
from models.shap.findings import FEW_ITEMS, Bounds, Finding, Verdict
from reports.duels.explanation import explanation_section, has_explanations, verdict_sentence
from reports.duels.scores import DUEL
from reports.figures.beeswarm import PlayerValues, draw_explanation
from reports.page import style
from reports.page.blocks import Answer, Figure, Page, Table
from reports.page.finished_run import FinishedRun, NotARunError, open_run
from reports.page.html import to_html
from reports.page.pdf import write_pdf

PLAYERS = ("special_attack", "speed", "types")
GAPS = (MeanGap(model="gpm", gap=0.1, preference=2.25), MeanGap(model="upm", gap=0.2, preference=1.5))


def write_explained(folder: Path) -> Path:
    """Add explanations of two models and two verdicts to a run."""
    rng = np.random.default_rng(0)
    rows, summaries = [], []
    for model, sizes in (("gpm", (0.5, 2.0, 1.0)), ("upm", (2.0, 0.5, 1.0))):
        values = rng.normal(size=(400, 3)) * sizes
        for duel, of_duel in enumerate(values):
            for player, value in zip(PLAYERS, of_duel, strict=True):
                difference = None if player == "types" else float(np.tanh(value))
                rows.append(("battles", "All battles", model, "items", duel, player, value, None, difference))
        summaries.append(summary(model, sizes))
    results = folder / "results"
    pd.DataFrame(rows, columns=list(EXPLANATION_COLUMNS)).to_parquet(results / "explanations.parquet")
    write_summary(folder, ExplainedSummary(explanations=summaries, coalitions=8, standard_error=None, gaps=GAPS))
    said = {"source": "pref-shap, Figure 4", "explained": "battles", "statistic": "importance_share"}
    verdicts = [
        verdict(Finding(name="speed", claim="Speed matters.", players=("speed",), threshold=0.125, **said), 0.5),
        verdict(Finding(name="types", claim="Types matter.", players=("types",), threshold=0.3, **said), 0.29),
    ]
    (results / "findings.json").write_text(json.dumps(verdicts), "utf-8")
    return folder


def summary(model: str, sizes: tuple[float, ...]) -> ExplanationSummary:
    order = sorted(zip(PLAYERS, sizes, strict=True), key=lambda each: -each[1])
    players = [PlayerSummary(player=name, importance=size, mean=0.0, favours=None) for name, size in order]
    return ExplanationSummary(
        kind="battles", title="All battles", model=model, of="items", duels=400, players=players, leading=order[0][0]
    )


def write_summary(folder: Path, found: ExplainedSummary) -> None:
    (folder / "results" / "explained.json").write_text(found.model_dump_json(), "utf-8")


def verdict(finding: Finding, value: float, n_items: int = 40) -> dict[str, object]:
    found = Verdict(
        finding=finding, value=value, duels=400, refits=20, n_items=n_items,
        matches=Bounds(lower=value - 0.02, upper=value + 0.02, over="other matches among the same items"),
        items=Bounds(lower=None, upper=value + 0.4, over="other items like these") if n_items >= FEW_ITEMS else None,
    )  # fmt: skip
    return found.model_dump(mode="json")


@pytest.fixture
def run(write_run) -> FinishedRun:
    return open_run(write_explained(write_run()))


def test_the_table_says_of_each_finding_what_decides_it_and_whether_it_holds(run):
    [table] = [block for block in explanation_section(run, DUEL, comparable=True).blocks if isinstance(block, Table)]
    assert [row.cells[1:] for row in table.rows] == [
        [">\N{NO-BREAK SPACE}0.125", "0.50", "0.48 to 0.52", "yes", "0.90 or less", "not decided"],
        [">\N{NO-BREAK SPACE}0.3", "0.29", "0.27 to 0.31", "not decided", "0.69 or less", "not decided"],
    ]
    assert "Speed matters." in table.rows[0].cells[0]
    assert [row.group for row in table.rows] == ["pref-shap, Figure 4", ""]
    assert verdict_sentence(run, comparable=True) == (
        "Of the 2 published findings about what decides it, 1 holds among these items and 1 is not decided. "
        "For other items like these, none is shown to hold."
    )


def test_a_study_without_published_findings_says_nothing_of_them(run):
    (run.path / "results" / "findings.json").write_text("[]", "utf-8")
    assert verdict_sentence(run, comparable=True) == ""


def test_both_models_are_drawn_in_the_order_of_the_first(run):
    [figure] = [block for block in explanation_section(run, DUEL, comparable=True).blocks if isinstance(block, Figure)]
    assert figure.title == "All battles: what each feature contributes, beginning with speed."
    gpm, upm = figure.pictures
    assert "speed 2.00, types 1.00 and special attack 0.50" in gpm.alt
    assert gpm.alt.index("speed") < gpm.alt.index("types") < gpm.alt.index("special attack")
    assert upm.alt.index("speed") < upm.alt.index("types") < upm.alt.index("special attack")
    assert [picture.name for picture in figure.pictures] == ["explanation_battles_gpm", "explanation_battles_upm"]


@pytest.mark.parametrize(
    ("leads", "title"),
    [
        (True, "All battles: largest contribution from speed."),
        (False, "All battles: most from speed, though these data do not show that it exceeds all others."),
    ],
)
def test_that_a_feature_contributes_most_is_said_where_its_interval_shows_it(run, leads, title):
    path = run.path / "results" / "explained.json"
    found = ExplainedSummary.model_validate_json(path.read_bytes())
    told = tuple(each.model_copy(update={"leads": leads}) for each in found.explanations)
    write_summary(run.path, found.model_copy(update={"explanations": told}))
    [figure] = [block for block in explanation_section(run, DUEL, comparable=True).blocks if isinstance(block, Figure)]
    assert figure.title == title


def test_a_run_may_explain_nothing(write_run):
    assert not has_explanations(open_run(write_run()))
    assert has_explanations(open_run(write_explained(write_run())))


def test_explanations_that_were_deleted_are_missed_and_not_left_out(run):
    (run.path / "results" / "explanations.parquet").unlink()
    assert has_explanations(run)
    with pytest.raises(NotARunError, match=r"explanations\.parquet is missing"):
        explanation_section(run, DUEL, comparable=True)


def test_the_gap_to_the_models_own_preference_is_told(run):
    html = to_html(
        Page(study="x", title="x", answer=Answer([]), sections=[explanation_section(run, DUEL, comparable=True)])
    )
    assert "0.100 (mean size 2.25) for the preference model and 0.200 (mean size 1.50) for the utility model" in html


def test_contributions_are_exact_or_tell_their_standard_error(run):
    page = Page(study="x", title="x", answer=Answer([]), sections=[explanation_section(run, DUEL, comparable=True)])
    assert "over all coalitions of features, up to 8;" in to_html(page)
    path = run.path / "results" / "explained.json"
    found = ExplainedSummary.model_validate_json(path.read_bytes())
    write_summary(run.path, found.model_copy(update={"standard_error": 0.25}))
    page = Page(study="x", title="x", answer=Answer([]), sections=[explanation_section(run, DUEL, comparable=True)])
    assert "the standard error that this leaves is 0.250 on average" in to_html(page)


def test_simulated_data_says_that_the_findings_are_of_other_data(write_run):
    run = open_run(write_explained(write_run(simulated=True)))
    [table] = [block for block in explanation_section(run, DUEL, comparable=False).blocks if isinstance(block, Table)]
    assert "published for other data" in table.note
    assert "in these data, which are not those of the publication" in verdict_sentence(run, comparable=False)


def test_a_few_items_say_nothing_of_others(run):
    said = {"source": "pref-shap, Figure 4", "explained": "battles", "statistic": "importance_share"}
    finding = Finding(name="speed", claim="Speed matters.", players=("speed",), threshold=0.125, **said)
    (run.path / "results" / "findings.json").write_text(json.dumps([verdict(finding, 0.5, n_items=12)]), "utf-8")
    [table] = [block for block in explanation_section(run, DUEL, comparable=True).blocks if isinstance(block, Table)]
    assert table.rows[0].cells[-1] == "cannot be told"
    assert "12 items are too few to say anything about others" in table.note
    assert verdict_sentence(run, comparable=True).endswith("For other items like these nothing can be told.")


def test_broken_findings_are_refused_by_name(run):
    (run.path / "results" / "findings.json").write_text('[{"value": 1}]', "utf-8")
    with pytest.raises(NotARunError, match=r"findings.json, 0.finding"):
        explanation_section(run, DUEL, comparable=True)


def swarm(n: int, seed: int = 0) -> list[PlayerValues]:
    rng = np.random.default_rng(seed)
    return [
        PlayerValues("special defence", 0.8, rng.normal(size=n), rng.normal(size=n)),
        PlayerValues("types", 0.7, rng.normal(size=n), np.full(n, np.nan)),
        PlayerValues("nothing", 0.0, np.zeros(n), np.zeros(n)),
    ]


def test_sizes_come_from_the_results_and_are_not_computed_again(run):
    found = ExplainedSummary.model_validate_json((run.path / "results" / "explained.json").read_bytes())
    first = found.explanations[0]
    players = tuple(each.model_copy(update={"importance": 7.0}) for each in first.players)
    altered = first.model_copy(update={"players": players, "leading": "types", "duels": 123})
    write_summary(run.path, found.model_copy(update={"explanations": (altered, *found.explanations[1:])}))
    [figure] = [block for block in explanation_section(run, DUEL, comparable=True).blocks if isinstance(block, Figure)]
    assert figure.title == "All battles: what each feature contributes, beginning with types."
    assert "over 123 duels" in figure.caption
    assert "speed 7.00, types 7.00 and special attack 7.00" in figure.pictures[0].alt


def test_a_broken_summary_is_refused_by_name(run):
    (run.path / "results" / "explained.json").write_text('{"coalitions": 1}', "utf-8")
    with pytest.raises(NotARunError, match=r"explained\.json, explanations"):
        explanation_section(run, DUEL, comparable=True)


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
        study="Battles",
        title="Battles",
        answer=Answer(["Yes."]),
        sections=[explanation_section(run, DUEL, comparable=True)],
    )
    html = to_html(page)
    write_pdf(html, tmp_path / "page.pdf", title=page.title, created=run.record.started)
    assert (tmp_path / "page.pdf").stat().st_size > 5_000
    assert len(html) < 1_000_000
