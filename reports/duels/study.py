"""The page of a study of duels: how well models predict, the published figures, and whether there is a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from models.records.duel_results import (
    ACCURACY,
    AUC,
    CHOSEN_MEDIANS,
    CYCLIC_SHARE,
    RANKABILITY,
    SPEC_R,
    SPLIT_FIRST,
    UNSEEN_ITEMS,
    ChosenMedians,
    SpecRInterval,
    Step,
)
from models.records.results import MetricRow
from reports.duels.explanation import explanation_section, has_explanations, verdict_sentence
from reports.duels.prediction import prediction_blocks, tested_in
from reports.duels.published_protocol import protocol_blocks
from reports.duels.scores import DUEL, MODELS, NAMED, SHORT, Duel, Scores
from reports.page.beside_plain import plain_leads, plain_sentence, read_beside
from reports.page.blocks import (
    Answer,
    Block,
    Column,
    Definitions,
    KeyNumber,
    Page,
    Prose,
    Row,
    Section,
    Table,
)
from reports.page.conclusions import compared, leading
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.provenance import facts, provenance, warnings
from reports.page.wording import MISSING, fixed, listed, share, small, spaced

STEPS: Mapping[Step, str] = {
    "general_preference": "Allowing for preferences that no single utility explains",
    "context": "Knowing the context",
    "utility": "Adding a utility to the general preference",
}


def duel_page(
    run: FinishedRun,
    *,
    study: str | None = None,
    title: str | None = None,
    duel: Duel = DUEL,
    comparable: bool = True,
) -> Page:
    """The report of a run of a study of duels.

    study, title: the study's own name and the title of its data if None. comparable: whether the data are like those
    of the published figures, if there are any.
    Raises NotARunError if a result it needs is missing or malformed.
    """
    scores = Scores(run)
    published = scores.mirrored or any(row.published is not None for row in run.metrics)
    return Page(
        study=study or spaced(run.record.study).capitalize(),
        title=title or run.record.data[0].title,
        facts=facts(run.record),
        warnings=warnings(run.record),
        cover="auc",
        comparable=comparable,
        answer=_answer(run, scores, duel, comparable=comparable),
        sections=[
            Section("How well each model predicts", prediction_blocks(scores, duel, tested_in(run.record.config))),
            *(
                [Section("Published beside found", protocol_blocks(scores, duel, comparable=comparable))]
                if published
                else []
            ),
            *([explanation_section(run, duel, comparable=comparable)] if has_explanations(run) else []),
            Section("Can it be ranked?", _rankability(run, duel, comparable=comparable)),
            Section("How the models were tuned", _chosen(run, scores.models)),
            provenance(run.record, run.cards()),
        ],
    )


# ------------------------------------------------------------------------------------------- the answer


def _answer(run: FinishedRun, scores: Scores, duel: Duel, *, comparable: bool) -> Answer:
    first = scores.comparisons.first_place
    highest = first[0]
    others = [model for model in scores.models if model != highest]
    beside = listed([f"{share(scores(model, AUC).value)} (the {MODELS[model]})" for model in others])
    leads = leading(
        [f"the {MODELS[model]}" for model in first],
        measure=f"AUC on held-out {duel.many}",
        among="the models of this study",
    )
    found = (
        f"{leads} The {MODELS[highest]} has an AUC of {share(scores(highest, AUC).value)} and an accuracy of "
        f"{share(scores(highest, ACCURACY).value)}" + (f"; the others have an AUC of {beside}." if others else ".")
    )
    against = read_beside(run)
    plain = [plain_sentence(each, NAMED, measure=_measure(each.variant, duel)) for each in against.values()]
    behind = any(plain_leads(each) for each in against.values())
    shown = [highest, *others, *([against[SPLIT_FIRST].plain] if SPLIT_FIRST in against else [])]
    numbers = [KeyNumber(share(scores(model, AUC).value), f"AUC, {SHORT[model]}") for model in shown]
    sentences = [
        *([" ".join(plain)] if behind else []),
        found,
        *([] if behind else [" ".join(plain)]),
        *_gains(scores),
        *_published(run, scores, duel, comparable=comparable),
        *_findings(run, comparable=comparable),
    ]
    return Answer(sentences, numbers)


def _measure(variant: str, duel: Duel) -> str:
    return f"AUC on {duel.many} between items never seen" if variant == UNSEEN_ITEMS else f"AUC on held-out {duel.many}"


def _gains(scores: Scores) -> list[str]:
    """The gain from a more general model, from a context, and from a utility."""
    sentences = [
        f"{STEPS[gain.step]}: "
        + small(compared(f"the {SHORT[gain.model]}", f"the {SHORT[gain.other]}", gain.difference, measure="AUC"))
        for gain in scores.comparisons.gains
    ]
    return [" ".join(sentences)] if sentences else []


def _published(run: FinishedRun, scores: Scores, duel: Duel, *, comparable: bool) -> list[str]:
    """The published figures, beside those found under the published protocol."""
    distances = scores.comparisons.published
    if not distances:
        return []
    if run.record.simulated and not comparable:
        return ["These data are simulated: what was published about the real ones is not comparable with them."]
    published = listed([f"{fixed(each.published, 2)} ({SHORT[each.model]})" for each in distances])
    found = listed([share(each.found) for each in distances])
    return [
        f"The published test AUC of {published} is the accuracy of thresholded scores on {duel.many} whose mirror "
        f"images were in training; scored that way, the models here have {found}."
    ]


def _findings(run: FinishedRun, *, comparable: bool) -> list[str]:
    sentence = verdict_sentence(run, comparable=comparable) if has_explanations(run) else ""
    return [sentence] if sentence else []


# ------------------------------------------------------------------------------------------- ranking


def _rankability(run: FinishedRun, duel: Duel, *, comparable: bool) -> list[Block]:
    spec_r, cyclic = (_metric_of_data(run, metric) for metric in (SPEC_R, CYCLIC_SHARE))
    interval = run.document(RANKABILITY, SpecRInterval)
    published = ""
    if spec_r.published is not None:
        published = f"; published {spec_r.published:.2f}" + ("" if comparable else ", of other data")
    some = f"{share(cyclic.value)} of {cyclic.n or 0:,} triads are"
    are_cyclic = f"None of {cyclic.n or 0:,} triads is" if cyclic.value == 0 else some
    circles = (
        f"{are_cyclic} cyclic: each of the three beats one and loses to one. The share is 0 for a ranking and 0.250 if "
        "coins decide. A triad is three items that all met, with one ahead in each pair."
    )
    if cyclic.value is None:
        circles = "There are no triads: no three items all met with one ahead in each pair."
    entries = [
        ("SpecR", f"{share(interval.spec_r)}, with a {fixed(100 * interval.level, 0)}% interval of "
         f"{share(interval.lower)} to {share(interval.upper)}{published}. It is 1 for a complete ranking, in which "
         f"everybody met everybody and the better always won. It falls with {duel.many} that contradict a ranking, and "
         "with pairs that never met."),
        ("Circles", circles),
    ]  # fmt: skip
    note = Prose(
        [
            f"The interval is over {interval.over}: SpecR ± 1.96 standard errors, from its spread over samples. "
            "How often it contains the truth on simulated data is in docs/calibration.md."
        ]
    )
    return [Definitions(entries), note]


def _metric_of_data(run: FinishedRun, metric: str) -> MetricRow:
    found = next((row for row in run.metrics if row.metric == metric), None)
    if found is None:
        raise NotARunError(f"{run.path / 'results' / 'metrics.json'} has no {metric}. Run the study again.")
    return found


# ------------------------------------------------------------------------------------------- what was chosen


def _chosen(run: FinishedRun, models: Sequence[str]) -> list[Block]:
    """The chosen settings as medians over splits."""
    medians = run.document(CHOSEN_MEDIANS, ChosenMedians)
    by_model = {str(each.model): each for each in medians.models}
    if missing := [model for model in models if model not in by_model]:
        path = run.path / "results" / f"{CHOSEN_MEDIANS}.json"
        raise NotARunError(f"{path} lacks {listed(missing)}. Run the study again.")
    kernels = [by_model[model] for model in models if model != "preference_tree"]
    scales = [{**_keyed(each.lengthscales, 0), **_keyed(each.context_lengthscales, 1)} for each in kernels]
    rows = [
        Row((spaced(feature), *(fixed(of_model.get((feature, part)), 2) for of_model in scales)))
        for feature, part in dict.fromkeys(key for of_model in scales for key in of_model)
    ]
    rows.append(Row(("penalty", *(_small(each.penalty) for each in kernels))))
    if any(each.utility is not None for each in kernels):
        rows.append(Row(("weight of the utility", *(_small(each.utility) for each in kernels))))
    tree = by_model.get("preference_tree")
    depth = "" if tree is None else f" The preference tree has {_depth(tree.max_depth)}."
    return [
        Table(
            f"Settings chosen in each split without its test part: lengthscale of every feature and penalty, medians "
            f"over {medians.splits} splits.{depth}",
            [Column("", "left"), *(Column(SHORT[each.model]) for each in kernels)],
            rows,
            note="Lengthscales of numbers are in standard deviations: a feature with a long one hardly matters to the "
            "model. Those of labels have no unit: the kernel of two different labels is exp(−1 / 2l²).",
        )
    ]


def _keyed(scales: Mapping[str, float], part: int) -> dict[tuple[str, int], float]:
    """Lengthscales by feature and part: a feature of items and one of contexts may share a name."""
    return {(feature, part): scale for feature, scale in scales.items()}


def _depth(limit: int | None) -> str:
    return "no depth limit" if limit is None else f"depth {limit} at most"


def _small(value: float | None) -> str:
    """A number of any size to two digits, written out: 0.000045, 0.01, 9.8, 0; a dash if there is none."""
    return MISSING if value is None else np.format_float_positional(value, precision=2, fractional=False, trim="-")
