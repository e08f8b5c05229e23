"""The section on what decides preferences, and on whether the published findings hold."""

from __future__ import annotations

from collections import Counter
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
from models.shap.findings import FEW_ITEMS, STATISTICS, Bounds, Finding, Outcome, Verdict
from reports.duels.scores import Duel
from reports.figures.beeswarm import PlayerValues, draw_explanation
from reports.page import style
from reports.page.blocks import Block, Column, Definitions, Figure, Picture, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import MISSING, fixed, listed, spaced

MODELS: Mapping[str, str] = {
    "gpm": "PREF-SHAP, preference model",
    "c_gpm": "PREF-SHAP, preference model with context",
    "upm": "SHAP, utility model",
}
_KEYS = {"items": ("winner has less", "more"), "contexts": ("less", "more")}
_OUTCOMES: Mapping[Outcome, str] = {
    "holds": "yes",
    "fails": "no",
    "not_decided": "not decided",
    "unknown": "cannot be told",
}
_LABELS = 23.0  # mm left of the bars


def has_explanations(run: FinishedRun) -> bool:
    """Whether the run explained anything. One file of several is enough: the section then reports the missing ones."""
    files = (f"{EXPLANATIONS}.parquet", f"{EXPLAINED_DUELS}.parquet", f"{EXPLAINED}.json", f"{FINDINGS}.json")
    return any((run.path / "results" / file).is_file() for file in files)


def explanation_section(run: FinishedRun, duel: Duel, *, comparable: bool) -> Section:
    """What decides preferences; comparable: whether the data are like those of the published findings.

    Raises NotARunError if a result it needs is missing or malformed.
    """
    values = run.table(EXPLANATIONS, EXPLANATION_COLUMNS)
    summary = run.document(EXPLAINED, ExplainedSummary)
    verdicts = read_verdicts(run)
    blocks: list[Block] = [Prose(["Each feature contributes its Shapley value to the preference for the winner."])]
    if verdicts:
        blocks.append(_verdict_table(verdicts, comparable=comparable))
    kinds = dict.fromkeys(each.kind for each in summary.explanations)
    for kind in kinds:
        of_kind = [each for each in summary.explanations if each.kind == kind]
        blocks.append(_figure(of_kind, values[values["kind"] == kind], duel))
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
    counts = Counter(verdict.outcome for verdict in verdicts)
    where = "among these items" if comparable else "in these data, which are not those of the publication"
    parts = [f"{counts['holds'] or 'none'} {'hold' if counts['holds'] > 1 else 'holds'} {where}"]
    if failed := counts["fails"]:
        parts.append(f"{failed} {'do' if failed > 1 else 'does'} not")
    if open_ := counts["not_decided"]:
        parts.append(f"{open_} {'are' if open_ > 1 else 'is'} not decided")
    if untold := counts["unknown"]:
        parts.append(f"of {untold} it cannot be told")
    told = f"Of the {len(verdicts)} published findings about what decides it, {listed(parts)}."
    others = Counter(verdict.outcome_for_others for verdict in verdicts)
    if others["unknown"] == len(verdicts):
        return f"{told} For other items like these nothing can be told."
    holding = others["holds"]
    return f"{told} For other items like these, {holding or 'none'} {'are' if holding > 1 else 'is'} shown to hold."


def _verdict_table(verdicts: tuple[Verdict, ...], *, comparable: bool) -> Table:
    other_data = "" if comparable else " The findings were published for other data than these."
    source = [verdict.finding.source for verdict in verdicts]
    return Table(
        caption="Do the published findings hold? The test of each was declared before the run.",
        columns=[
            Column("Finding", "left"),
            Column("Must be", "left"),
            Column("Found"),
            Column("95% interval", group="other matches, same items"),
            Column("Holds", "left", group="other matches, same items"),
            Column("95% interval", group="other items like these"),
            Column("Holds", "left", group="other items like these"),
        ],
        rows=[
            Row(
                [
                    f"{verdict.finding.claim} {_by(verdict)}",
                    _must_be(verdict.finding),
                    fixed(verdict.value, 2),
                    _between(verdict.matches),
                    _OUTCOMES[verdict.outcome],
                    _between(verdict.items),
                    _OUTCOMES[verdict.outcome_for_others],
                ],
                group=verdict.finding.source if at == 0 or source[at - 1] != source[at] else "",
            )
            for at, verdict in enumerate(verdicts)
        ],
        note="A finding holds if the whole interval lies on the declared side of the threshold; it is not decided if "
        f"the interval contains the threshold.{_few_items(verdicts)}{_withheld(verdicts)}{other_data} "
        f"{_calibrated(verdicts)}",
    )


def _between(bounds: Bounds | None) -> str:
    if bounds is None:
        return MISSING
    lower, upper = bounds.lower, bounds.upper
    if lower is not None and upper is not None:
        return f"{fixed(lower, 2)} to {fixed(upper, 2)}"
    if lower is not None:
        return f"{fixed(lower, 2)} or more"
    return "any" if upper is None else f"{fixed(upper, 2)} or less"


def _few_items(verdicts: tuple[Verdict, ...]) -> str:
    n_items = verdicts[0].n_items
    if n_items >= FEW_ITEMS:
        return ""
    return f" {n_items:,} items are too few to say anything about others: that takes {FEW_ITEMS}."


def _withheld(verdicts: tuple[Verdict, ...]) -> str:
    if all(verdict.calibrated for verdict in verdicts):
        return ""
    return (
        " Findings about importance ratios and favoured sides in a utility model get no verdict: their intervals "
        "contained the truth too rarely on simulated data that no utility explains."
    )


def _calibrated(verdicts: tuple[Verdict, ...]) -> str:
    """What the intervals are over, and how they were calibrated."""
    return (
        f"The intervals are over other matches among the same items (every outcome drawn again from the fitted "
        f"probabilities) and over other items like these (items resampled as well), from {verdicts[0].refits} fits "
        "each at the settings chosen. How often they contain the truth on simulated data is in docs/calibration.md."
    )


def _must_be(finding: Finding) -> str:
    return f"{'>' if finding.side == 'above' else '<'}\N{NO-BREAK SPACE}{finding.threshold:g}".replace("-", "−")


def _by(verdict: Verdict) -> str:
    finding = verdict.finding
    rivals = f", against {listed([spaced(name) for name in finding.rivals])}" if finding.rivals else ""
    players = listed([spaced(name) for name in finding.players])
    return f"({MODELS[finding.model]}: {spaced(finding.statistic)} of {players}{rivals})"


def _figure(summaries: Sequence[ExplanationSummary], values: pd.DataFrame, duel: Duel) -> Figure:
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
        title=f"{first.title}: {_leading(first)}.",
        caption=f"Bars: mean absolute contribution of each {what} over {first.duels:,} {duel.many}. Dots: single "
        f"{duel.many}, to the right where the feature spoke for the winner; the darker, the more {more}. Hollow dots: "
        "the value is a label, or missing.",
    )


def _leading(summary: ExplanationSummary) -> str:
    """The most important player, as far as its lead is shown."""
    name = spaced(summary.leading)
    if summary.leads is None:
        return f"what each feature contributes, beginning with {name}"
    if summary.leads:
        return f"largest contribution from {name}"
    return f"most from {name}, though these data do not show that it exceeds all others"


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
