"""The section on what decides preferences, and on whether the published findings hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from models.records.arrays import FloatArray
from models.records.duel_results import (
    EXPLAINED,
    EXPLAINED_DUELS,
    EXPLANATION_COLUMNS,
    EXPLANATIONS,
    FINDINGS,
    ExplainedSummary,
    ExplanationSummary,
    PlayerSummary,
)
from models.shap.findings import STATISTICS, Finding, Verdict
from reports.figures.beeswarm import PlayerValues, draw_explanation
from reports.page import style
from reports.page.blocks import Block, Column, Definitions, Figure, Picture, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import fixed, listed, spaced

MODELS: Mapping[str, str] = {
    "gpm": "PREF-SHAP, preference model",
    "c_gpm": "PREF-SHAP, preference model with context",
    "upm": "SHAP, utility model",
}
_KEYS = {"items": ("winner has less", "more"), "contexts": ("less", "more")}
_LABELS = 23.0  # mm left of the bars


def has_explanations(run: FinishedRun) -> bool:
    """Whether the run explained anything. One file of several is enough: the section then reports the missing ones."""
    files = (f"{EXPLANATIONS}.parquet", f"{EXPLAINED_DUELS}.parquet", f"{EXPLAINED}.json", f"{FINDINGS}.json")
    return any((run.path / "results" / file).is_file() for file in files)


def explanation_section(run: FinishedRun, *, comparable: bool) -> Section:
    """What decides preferences; comparable: whether the data are like those of the published findings.

    Raises NotARunError if a result it needs is missing or malformed.
    """
    values = run.table(EXPLANATIONS, EXPLANATION_COLUMNS)
    summary = run.document(EXPLAINED, ExplainedSummary)
    verdicts = read_verdicts(run)
    blocks: list[Block] = [Prose(["Each feature contributes its Shapley value to a preference."])]
    if verdicts:
        blocks.append(_verdict_table(verdicts, comparable=comparable))
    kinds = dict.fromkeys(each.kind for each in summary.explanations)
    for kind in kinds:
        of_kind = [each for each in summary.explanations if each.kind == kind]
        blocks.append(_figure(of_kind, values[values["kind"] == kind]))
    blocks.append(_how(summary, verdicts))
    return Section("What decides it", blocks)


def read_verdicts(run: FinishedRun) -> tuple[Verdict, ...]:
    """The findings as `results/findings.json` judges them. Raises NotARunError if it is missing or malformed."""
    return run.document(FINDINGS, tuple[Verdict, ...])


def verdict_sentence(run: FinishedRun, *, comparable: bool) -> str:
    """The number of published findings that hold; empty if none was published."""
    verdicts = read_verdicts(run)
    if not verdicts:
        return ""
    held = sum(verdict.holds for verdict in verdicts)
    open_ = sum(verdict.undecided for verdict in verdicts)
    where = "here" if comparable else "in these simulated data"
    parts = [f"{held} hold {where}" if held != 1 else f"1 holds {where}"]
    if failed := len(verdicts) - held - open_:
        parts.append(f"{failed} {'do' if failed > 1 else 'does'} not")
    if open_:
        parts.append(f"{open_} {'are' if open_ > 1 else 'is'} not decided")
    return f"Of the {len(verdicts)} published findings about what decides it, {listed(parts)}."


def _verdict_table(verdicts: tuple[Verdict, ...], *, comparable: bool) -> Table:
    simulated = "" if comparable else " The data are simulated, and the findings were published for other data."
    source = [verdict.finding.source for verdict in verdicts]
    return Table(
        caption="Do the published findings hold? The test of each was declared before the run.",
        columns=[
            Column("Finding", "left"),
            Column("Must be", "left"),
            Column("Found"),
            Column("95% interval"),
            Column("Holds", "left"),
        ],
        rows=[
            Row(
                [
                    f"{verdict.finding.claim} {_by(verdict)}",
                    _must_be(verdict.finding),
                    fixed(verdict.value, 2),
                    f"{fixed(verdict.lower, 2)} to {fixed(verdict.upper, 2)}",
                    "yes" if verdict.holds else "not decided" if verdict.undecided else "no",
                ],
                group=verdict.finding.source if at == 0 or source[at - 1] != source[at] else "",
            )
            for at, verdict in enumerate(verdicts)
        ],
        note="A finding holds if the whole bootstrap interval over the explained duels lies on the declared side of "
        f"the threshold; it is not decided if the interval contains the threshold.{simulated}",
    )


def _must_be(finding: Finding) -> str:
    return f"{'>' if finding.side == 'above' else '<'}\N{NO-BREAK SPACE}{finding.threshold:g}".replace("-", "−")


def _by(verdict: Verdict) -> str:
    finding = verdict.finding
    rivals = f", against {listed([spaced(name) for name in finding.rivals])}" if finding.rivals else ""
    players = listed([spaced(name) for name in finding.players])
    return f"({MODELS[finding.model]}: {spaced(finding.statistic)} of {players}{rivals})"


def _figure(summaries: Sequence[ExplanationSummary], values: pd.DataFrame) -> Figure:
    """The explanations of one kind of duels: one picture for each model, with the players in the order of the first."""
    first = summaries[0]
    order = [each.player for each in first.players]
    pictures = []
    for summary in summaries:
        of_model = values[values["model"] == summary.model]
        by_player = {each.player: each for each in summary.players}
        players = [_drawn(by_player[name], of_model[of_model["player"] == name]) for name in order]
        pictures.append(explanation_picture(summary.kind, summary.model, players, of=summary.of))
    what = "feature of the two" if first.of == "items" else "feature of the context"
    more = "of it the winner has than the loser" if first.of == "items" else "there is of it"
    return Figure(
        pictures=pictures,
        title=f"{first.title}: largest contribution from {spaced(first.leading)}.",
        caption=f"Bars: mean absolute contribution of each {what} over {first.duels:,} duels. Dots: single duels, to "
        f"the right where the feature spoke for the winner; the darker, the more {more}. Hollow dots: the value is a "
        "label, or missing.",
    )


def explanation_picture(kind: str, model: str, players: Sequence[PlayerValues], *, of: str) -> Picture:
    """The drawing of one explanation, its players in the order given; of: `items` or `contexts`."""
    drawn = draw_explanation(MODELS[model], players, key=_KEYS[of], labels=_LABELS, width=style.HALF_WIDTH)
    sizes = listed([f"{player.name} {fixed(player.importance, 2)}" for player in players])
    return Picture(
        name=f"explanation_{kind}_{model}",
        svg=style.to_svg(drawn),
        width=style.HALF_WIDTH,
        alt=f"{MODELS[model]}: mean absolute contributions of {sizes}.",
    )


def player_values(summary: PlayerSummary, values: FloatArray, differences: FloatArray) -> PlayerValues:
    """A player as it is drawn: its contributions to the explained duels (n,), and the differences between the two."""
    return PlayerValues(spaced(summary.player), summary.importance, values, differences)


def _drawn(summary: PlayerSummary, values: pd.DataFrame) -> PlayerValues:
    found, differences = (values[column].to_numpy(dtype=np.float64) for column in ("value", "difference"))
    return player_values(summary, found, differences)


def _how(summary: ExplainedSummary, verdicts: tuple[Verdict, ...]) -> Block:
    """Definitions of the words and numbers of the section."""
    used = dict.fromkeys(verdict.finding.statistic for verdict in verdicts)
    entries = [(spaced(name), f"{STATISTICS[name]}.") for name in used]
    feature = "one column, or several taken together; its importance is the mean size of its contributions."
    return Definitions(
        [("feature", feature), *entries, ("contributions", _exactness(summary)), ("gap", _gap(summary))], boxed=True
    )


def _exactness(summary: ExplainedSummary) -> str:
    """Whether all coalitions were evaluated, and the standard error if not."""
    if summary.standard_error is None:
        return (
            f"Shapley values over all coalitions of features, up to {summary.coalitions:,}; in log-odds of the winner."
        )
    return (
        "Shapley values in log-odds of the winner. Where there are too many coalitions of features they are sampled; "
        f"the standard error that this leaves is {fixed(summary.standard_error, 3)} on average."
    )


def _gap(summary: ExplainedSummary) -> str:
    """The distance of what is explained from the model's own preference."""
    parts = [
        f"{fixed(each.gap, 3)} (mean size {fixed(each.preference, 2)}) for the {MODELS[each.model].split(', ')[1]}"
        for each in summary.gaps
    ]
    return (
        "contributions sum to the model’s preference in a slightly smoothed form. The mean absolute difference to the "
        f"preference itself is {listed(parts)}."
    )
