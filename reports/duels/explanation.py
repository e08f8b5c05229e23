"""The part of a page that explains preferences: what decides them, and whether the published findings hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from pydantic import TypeAdapter, ValidationError

from models.records.settings_errors import dotted
from models.shap.explanation import REST
from models.shap.findings import STATISTICS, Finding, Verdict
from reports.figures.beeswarm import PlayerValues, draw_explanation
from reports.page import style
from reports.page.blocks import Block, Column, Definitions, Figure, Picture, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.wording import fixed, listed, spaced

MODELS: Mapping[str, str] = {
    "gpm": "PREF-SHAP, preference model",
    "c_gpm": "PREF-SHAP, preference model with context",
    "upm": "SHAP, utility model",
}
_KEYS = {"items": ("winner has less", "more"), "contexts": ("less", "more")}
_VALUES = ("kind", "title", "model", "of", "duel", "player", "value", "standard_error", "difference")
_DUELS = ("kind", "model", "preference", "gap", "coalitions")
_LABELS = 23.0  # mm left of the bars


def has_explanations(run: FinishedRun) -> bool:
    """Whether the run explained anything: any file of it says so, and the report misses the others."""
    files = ("explanations.parquet", "explained_duels.parquet", "findings.json")
    return any((run.path / "results" / file).is_file() for file in files)


def explanation_section(run: FinishedRun, *, comparable: bool) -> Section:
    """What decides preferences; comparable: whether the data are like those of the published findings.

    Raises NotARunError if a result it needs is missing or malformed.
    """
    values, duels = run.table("explanations", _VALUES), run.table("explained_duels", _DUELS)
    verdicts = read_verdicts(run)
    told = "A preference is shared out among the features: each contributes its Shapley value to it."
    blocks: list[Block] = [Prose([told])]
    if verdicts:
        blocks.append(_verdict_table(verdicts, comparable=comparable))
    blocks += [_figure(kind, values[values["kind"] == kind]) for kind in values["kind"].unique()]
    blocks.append(_how(values, duels, verdicts))
    return Section("What decides it", blocks)


def read_verdicts(run: FinishedRun) -> tuple[Verdict, ...]:
    """The findings as `results/findings.json` judges them. Raises NotARunError if it is missing or malformed."""
    try:
        return TypeAdapter(tuple[Verdict, ...]).validate_python(run.json("findings"))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = dotted(first["loc"])
        path = run.path / "results" / "findings.json"
        raise NotARunError(f"{path}, {where}: {first['msg']}. Run the study again.") from problem


def verdict_sentence(run: FinishedRun, *, comparable: bool) -> str:
    """How many of the published findings hold."""
    verdicts = read_verdicts(run)
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
    simulated = "" if comparable else " The data are simulated, and the findings were published of other data."
    source = [verdict.finding.source for verdict in verdicts]
    return Table(
        caption="Do the published findings hold? What decides each was declared before the run.",
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
        note="A finding holds if the whole bootstrap interval over the explained duels lies on the side that it must; "
        f"it is not decided if the threshold is within.{simulated}",
    )


def _must_be(finding: Finding) -> str:
    return f"{'>' if finding.side == 'above' else '<'}\N{NO-BREAK SPACE}{finding.threshold:g}".replace("-", "−")


def _by(verdict: Verdict) -> str:
    finding = verdict.finding
    rivals = f", against {listed([spaced(name) for name in finding.rivals])}" if finding.rivals else ""
    players = listed([spaced(name) for name in finding.players])
    return f"({MODELS[finding.model]}: {spaced(finding.statistic)} of {players}{rivals})"


def _figure(kind: str, values: pd.DataFrame) -> Figure:
    """The explanations of one kind, a picture a model, with the same order of players in each."""
    by_model = {model: values[values["model"] == model] for model in values["model"].unique()}
    first = next(iter(by_model.values()))
    sizes = first.assign(size=first["value"].abs()).groupby("player", sort=False)["size"].mean()
    order = list(sizes.sort_values(ascending=False, kind="stable").index)
    of = values["of"].iloc[0]
    pictures = [
        explanation_picture(kind, model, [_player(name, found[found["player"] == name]) for name in order], of=of)
        for model, found in by_model.items()
    ]
    duels = first["duel"].nunique()
    what = "feature of the two" if of == "items" else "feature of the context"
    more = "of it the winner has than the loser" if of == "items" else "there is of it"
    return Figure(
        pictures=pictures,
        title=f"{values['title'].iloc[0]}: {spaced(next(name for name in order if name != REST))} moves most.",
        caption=f"Bars: how large the contribution of each {what} is on average over {duels:,} duels. Dots: single "
        f"duels, to the right where the feature spoke for the winner; the darker, the more {more}. Hollow dots: the "
        "value is a label, or missing.",
    )


def explanation_picture(kind: str, model: str, players: Sequence[PlayerValues], *, of: str) -> Picture:
    """The drawing of one explanation, its players in the order given; of: `items` or `contexts`."""
    drawn = draw_explanation(MODELS[model], players, key=_KEYS[of], labels=_LABELS, width=style.HALF_WIDTH)
    told = listed([f"{player.name} {fixed(player.importance, 2)}" for player in players])
    return Picture(
        name=f"explanation_{kind}_{model}",
        svg=style.to_svg(drawn),
        width=style.HALF_WIDTH,
        alt=f"{MODELS[model]}: mean absolute contributions of {told}.",
    )


def _player(name: str, values: pd.DataFrame) -> PlayerValues:
    differences = values["difference"].to_numpy(dtype=np.float64)
    return PlayerValues(spaced(name), values["value"].to_numpy(dtype=np.float64), differences)


def _how(values: pd.DataFrame, duels: pd.DataFrame, verdicts: tuple[Verdict, ...]) -> Block:
    """What the words and numbers of the section mean."""
    used = dict.fromkeys(verdict.finding.statistic for verdict in verdicts)
    entries = [(spaced(name), f"{STATISTICS[name]}.") for name in used]
    feature = "one column, or several taken together; its importance is the mean size of its contributions."
    return Definitions(
        [("feature", feature), *entries, ("contributions", _exactness(values, duels)), ("gap", _gap(duels))], boxed=True
    )


def _exactness(values: pd.DataFrame, duels: pd.DataFrame) -> str:
    """Whether all coalitions were asked."""
    sampled = values["standard_error"].dropna()
    most = int(duels["coalitions"].max())
    if sampled.empty:
        return f"Shapley values over all coalitions of features, up to {most:,}; in log-odds of the winner."
    return (
        f"Shapley values in log-odds of the winner, where there are too many coalitions of features from sampled ones; "
        f"the standard error that this leaves is {fixed(float(sampled.mean()), 3)} on average."
    )


def _gap(duels: pd.DataFrame) -> str:
    """How far what is explained is from the model's own preference."""
    parts = []
    for model in duels["model"].unique():
        found = duels[duels["model"] == model]
        gap, size = (
            fixed(float(found[column].abs().mean()), decimals) for column, decimals in (("gap", 3), ("preference", 2))
        )
        parts.append(f"{gap} (mean size {size}) for the {MODELS[model].split(', ')[1]}")
    return (
        "contributions sum to the model’s preference in a slightly smoothed form. The mean absolute difference to the "
        f"preference itself is {listed(parts)}."
    )
