"""Plain models of the messages beside the tree: the first figure of the page, a table, and a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from models.records.studies.message_results import (
    BOTH_ORDERS,
    CHOSEN_SINGLE,
    COIN,
    PLAIN_VARIANTS,
    READABLE,
    SINGLE_FEATURE,
    START_FEATURES,
    TEXT_LOGIT,
    WHOLE,
    ChosenSingle,
)
from models.records.studies.respondent_results import ACCURACIES, ACCURACY, SPLITS, TEST
from reports.figures.comparison import Estimate, draw_comparison
from reports.page import style
from reports.page.beside_plain import plain_leads, plain_sentence, read_beside
from reports.page.blocks import Block, Column, Figure, Picture, Row, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import between, share, spaced
from reports.respondents.tree_accuracy import MEASURES

NAMES: Mapping[str, str] = {
    WHOLE: "the tree over all its features",
    COIN: "a coin",
    START_FEATURES: "a tree over the features given at the start",
    SINGLE_FEATURE: "a tree over a single feature",
    TEXT_LOGIT: "logistic regression on words",
}
"""The models as in a sentence."""
SHORT: Mapping[str, str] = {
    WHOLE: "tree",
    READABLE: "tree, cut short",
    BOTH_ORDERS: "asked directly",
    START_FEATURES: "start features",
    SINGLE_FEATURE: "best feature",
    TEXT_LOGIT: "words, logit",
}
PANELS: Mapping[str, str] = {"test": "INBOX_B, never seen", "train": "INBOX_A, fitted to"}


def plain_sentence_of(run: FinishedRun) -> tuple[str, bool]:
    """What the best plain model is beside the tree, and whether it has the higher accuracy: then it comes first."""
    [beside] = read_beside(run).values()
    return plain_sentence(beside, NAMES, measure="accuracy on INBOX_B"), plain_leads(beside)


def plain_blocks(run: FinishedRun) -> list[Block]:
    """The figure of all models, and the table of the plain ones."""
    scored = {row.variant for row in run.metrics if row.metric == ACCURACY}
    pictures = []
    for split, title in PANELS.items():
        estimates = [
            Estimate(label, found.value, found.interval, None, variant in PLAIN_VARIANTS)
            for variant, label in SHORT.items()
            if variant in scored and (found := run.metric(ACCURACY, variant=variant, split=split))
        ]
        values = "; ".join(f"{each.label} {share(each.value)}" for each in estimates)
        lowest = min(each.lowest for each in estimates)
        drawing = draw_comparison(title, estimates, lowest=lowest, width=style.HALF_WIDTH, coin=0.5)
        alt = f"{title}, accuracy: {values}."
        pictures.append(Picture(f"accuracy-{split}", style.to_svg(drawing), style.HALF_WIDTH, alt))
    caption = (
        "Dots: the tree, and the model asked directly; grey squares: plain models; dashed line: a coin. Bars: 95% "
        "interval over other patients, where one is known."
    )
    figure = Figure(pictures, "How often the more urgent of two messages is put first.", caption)
    return [figure, _table(run, scored)]


def _table(run: FinishedRun, scored: set[str]) -> Table:
    rows = []
    for variant in PLAIN_VARIANTS:
        if variant in scored:
            cells = [NAMES[variant]]
            for split in SPLITS:
                found = [run.metric(metric, variant=variant, split=split) for metric in ACCURACIES]
                cells += [share(each.value) for each in found]
            own = run.metric(ACCURACY, variant=variant, split=TEST)
            rows.append(Row([*cells, between(own.lower, own.upper, 2)]))
    single = ""
    if SINGLE_FEATURE in scored:
        chosen: ChosenSingle = run.document(CHOSEN_SINGLE, ChosenSingle)
        single = f" The single feature, {spaced(chosen.feature)}, is the one whose tree is right most often on INBOX_A."
    groups = {"train": "INBOX_A (training)", "test": "INBOX_B (test)"}
    return Table(
        "Plain models on the same pairs.",
        [
            Column("", "left"),
            *(Column(MEASURES[metric], group=groups[split]) for split in SPLITS for metric in ACCURACIES),
            Column("95% interval of accuracy", group=groups[TEST]),
        ],
        rows,
        note="Logistic regression on words: on the difference of the two records’ words, weighted by TF-IDF, fitted in "
        f"memory.{single} The interval is over other patients; a coin has none.",
    )
