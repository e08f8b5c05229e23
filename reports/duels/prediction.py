"""How well models predict duels: the first figure and tables, plain models beside ours, and items never seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from models.records.duel_results import ACCURACY, AUC, LOG_LOSS, SPLIT_FIRST, UNSEEN_ITEMS
from reports.duels.scores import MODELS, SHORT, Duel, Scores
from reports.figures.comparison import Estimate, draw_comparison
from reports.page import style
from reports.page.blocks import Block, Column, Definitions, Figure, Picture, Prose, Row, Table
from reports.page.wording import share

METRICS: Mapping[str, str] = {AUC: "AUC", ACCURACY: "accuracy", LOG_LOSS: "log loss"}
COIN = "coin"
_WIDTH = style.HALF_WIDTH


class Tested(NamedTuple):
    """How often each split was drawn, in words: `5 splits`, or `5 runs of 10 folds` whose tested duels are pooled."""

    held_out: Callable[[int], str]
    unseen: Callable[[int], str]


def tested_in(config: Mapping[str, Any]) -> Tested:
    """What one of the n values behind a mean and its standard deviation is, by the config of the run.

    >>> tested_in({"folds": None}).held_out(5), tested_in({"folds": 10, "item_groups": 3}).unseen(1)
    ('5 splits', '1 run of 3 groups of items')
    """
    if config.get("folds") is None:
        return Tested(lambda n: _counted(n, "split"), lambda n: _counted(n, "split"))
    folds, groups = config["folds"], config.get("item_groups")
    return Tested(
        lambda n: f"{_counted(n, 'run')} of {folds} folds",
        lambda n: f"{_counted(n, 'run')} of {groups} groups of items",
    )


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def prediction_blocks(scores: Scores, duel: Duel, tested: Tested) -> list[Block]:
    """The figure, the tables and the definitions of the metrics."""
    unseen = f"{duel.many.capitalize()} between items never seen"
    titles = {SPLIT_FIRST: f"AUC on held-out {duel.many}"}
    if scores.unseen:
        titles[UNSEEN_ITEMS] = "AUC on items never seen"
    by_variant = {variant: _estimates(scores, variant) for variant in titles}
    lowest = min(estimate.lowest for estimates in by_variant.values() for estimate in estimates)
    names = {SPLIT_FIRST: "auc", UNSEEN_ITEMS: "auc_unseen"}
    pictures = [
        Picture(
            names[variant],
            style.to_svg(draw_comparison(title, by_variant[variant], lowest=lowest, width=_WIDTH, coin=0.5)),
            _WIDTH,
            f"{title}: {_values(by_variant[variant])}.",
        )
        for variant, title in titles.items()
    ]
    seen = splits = tested.held_out(scores(scores.models[0], AUC).n)
    unseen_in = tested.unseen(scores(scores.unseen[0], AUC, UNSEEN_ITEMS).n) if scores.unseen else ""
    if scores.unseen:
        splits = f"{seen} (left) and {unseen_in} (right)"
    figure = Figure(
        pictures,
        f"AUC on {duel.many} that no model has seen"
        + (f", and on {duel.many} between items that no model has seen." if scores.unseen else "."),
        f"Dots: models of this study; grey squares: plain models, on the same splits; dashed line: a coin. Each is a "
        f"mean over {splits}. Bars: one standard deviation over these to either side, which is no interval.",
    )
    blocks: list[Block] = [
        figure,
        _table(scores, SPLIT_FIRST, f"Held-out {duel.many}: mean and standard deviation (sd) over {seen}."),
    ]
    if scores.unseen:
        caption = f"{unseen}: mean and standard deviation (sd) over {unseen_in}."
        blocks += [_table(scores, UNSEEN_ITEMS, caption), Prose([_about_unseen(duel)])]
    else:
        none = f"No split by items was scored: it was left out, or no {duel.one} was between two items held out."
        blocks.append(Prose([none]))
    return [*blocks, _definitions(duel)]


def _estimates(scores: Scores, variant: str) -> list[Estimate]:
    """A line for each model but the coin, in the same order for both variants."""
    lines = []
    for model in (*scores.models, *scores.baselines):
        scored = variant == SPLIT_FIRST or model in scores.unseen
        found = scores(model, AUC, variant) if scored else None
        value = None if found is None else found.value
        bar = None if found is None or found.sd is None else (found.value - found.sd, found.value + found.sd)
        lines.append(Estimate(SHORT[model], value, bar, None, model in scores.baselines))
    return [line for line in lines if line.label != SHORT[COIN]]


def _values(estimates: Sequence[Estimate]) -> str:
    return "; ".join(f"{each.label} {'not scored' if each.value is None else share(each.value)}" for each in estimates)


def _table(scores: Scores, variant: str, caption: str) -> Table:
    rows = []
    for group, models in (("", scores.models), ("plain models", scores.baselines)):
        scored = [model for model in models if variant == SPLIT_FIRST or model in scores.unseen]
        for number, model in enumerate(scored):
            cells = [MODELS[model]]
            for metric in METRICS:
                found = scores(model, metric, variant)
                cells += [share(found.value), share(None if model == COIN else found.sd)]
            rows.append(Row(cells, group if number == 0 else ""))
    return Table(
        caption,
        [Column("", "left"), *(Column(header, group=name) for name in METRICS.values() for header in ("mean", "sd"))],
        rows,
    )


def _about_unseen(duel: Duel) -> str:
    return (
        f"The first split holds out {duel.many}: a model that only learns who tends to win can do well there. The "
        f"second holds out items: models are fitted to {duel.many} between the other items and tested on {duel.many} "
        "between two that were held out, and their settings are chosen in the same way. It shows what the features "
        "say by themselves. A model by name has nothing to say of an item it has never seen, and is not scored. No "
        "interval over other items like these is calibrated for the second split, so its numbers get no verdict."
    )


def _definitions(duel: Duel) -> Definitions:
    return Definitions(
        [
            ("AUC", f"how often the winner of a {duel.one} is preferred more to its loser than the loser of a "
             f"{duel.one} is to its winner, ties counting one half. Each {duel.one} is scored from both sides; folds "
             "are pooled."),
            ("Accuracy", f"share of {duel.many} whose winner is preferred, a tie counting one half."),
            ("Log loss", "mean of −log of the probability given to what happened, in nats; lower is better."),
            ("Plain models", "logistic regression on the difference of the two items’ features, where a missing value "
             "is a feature of its own, and contexts have coefficients of their own; a strength for each name "
             "(Bradley-Terry), and for each name in each context; gradient boosting of both items, their difference "
             "and the context, made antisymmetric."),
        ],
        boxed=True,
    )  # fmt: skip
