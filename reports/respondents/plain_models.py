"""Plain models of respondents' choices: their table, and the sentence on whether they predict better."""

from __future__ import annotations

from collections.abc import Mapping

from models.records.studies.respondent_results import (
    ACCURACIES,
    ACCURACY,
    COIN,
    COVARIATE_LOGIT,
    DIFFERENCE_LOGIT,
    DISCARDED,
    GP,
    KEPT,
    MAJORITY,
    PLAIN_MODELS,
    POOLED,
    TEST,
    TUNED,
    UNSEEN_USERS,
)
from reports.page.beside_plain import plain_leads, plain_sentence, read_beside
from reports.page.blocks import Column, Row, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import MISSING, share
from reports.respondents.tree_accuracy import MEASURES, PLAIN_SHORT

NAMES: Mapping[str, str] = {
    DISCARDED: "a tree with straddlers discarded",
    KEPT: "a tree with straddlers kept",
    TUNED: "a tree with tuned limits",
    GP: "a Gaussian process",
    POOLED: "one tree for all",
    COIN: "a coin",
    MAJORITY: "the majority’s choice",
    DIFFERENCE_LOGIT: "logistic regression on attribute differences",
    COVARIATE_LOGIT: "logistic regression with covariates",
}
"""The models as in a sentence."""


def plain_sentences(run: FinishedRun, *, who: str = "user") -> tuple[str, bool]:
    """What the plain models are beside ours, and whether one of them has the higher accuracy: then it comes first."""
    measures = {TEST: "accuracy on held-out choices", UNSEEN_USERS: f"accuracy on {who}s never seen"}
    found = read_beside(run)
    sentences = []
    for split, each in found.items():
        difference = each.difference.model_copy(update={"over": f"other {who}s"})
        told = each.model_copy(update={"difference": difference})
        sentences.append(plain_sentence(told, NAMES, measure=measures[split]))
    return " ".join(sentences), any(plain_leads(each) for each in found.values())


def plain_table(run: FinishedRun, *, who: str = "user") -> Table:
    """The accuracies of plain models, and of one tree for all on respondents never seen."""
    splits = {TEST: "Held-out choices", UNSEEN_USERS: f"{who.capitalize()}s never seen"}
    scored = {(row.variant, row.split) for row in run.metrics if row.metric == ACCURACY}
    rows = []
    for model in (*PLAIN_MODELS, POOLED):
        if (model, UNSEEN_USERS) not in scored:
            continue
        cells = [PLAIN_SHORT.get(model, "one tree for all")]
        for split in splits:
            for metric in ACCURACIES:
                found = run.metric(metric, variant=model, split=split) if (model, split) in scored else None
                cells.append(MISSING if found is None else share(found.value))
        rows.append(Row(cells))
    covariates = ""
    if (COVARIATE_LOGIT, TEST) in scored:
        covariates = f" Covariates: what is known of the {who}; each has a coefficient for every attribute."
    return Table(
        f"Plain models, fitted to the choices of all {who}s: means over {who}s.",
        [
            Column("", "left"),
            *(Column(MEASURES[each], group=group) for group in splits.values() for each in ACCURACIES),
        ],
        rows,
        note=f"{who.capitalize()}s never seen: all choices of a third of the {who}s, predicted from the choices of the "
        f"others; each {who} is tested once. A model of one {who} has nothing to say there. The majority’s choice is "
        f"what most {who}s chose from the same two; it is left out where no two were compared twice. Logit: "
        f"logistic regression on differences of attributes.{covariates}",
    )
