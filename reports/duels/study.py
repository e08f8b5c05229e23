"""The page of a study of duels: which model predicts them, what the published figures are, and what can be ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np
from scipy.stats import norm

from models.records.results import MetricRow
from reports.duels.explanation import explanation_section, has_explanations, verdict_sentence
from reports.duels.published_protocol import protocol_blocks
from reports.duels.scores import DUEL, LEAKING, MODELS, SHORT, SPLIT_FIRST, Duel, Scores
from reports.figures.comparison import Estimate, draw_comparison
from reports.page import style
from reports.page.blocks import (
    Answer,
    Block,
    Column,
    Definitions,
    Figure,
    KeyNumber,
    Page,
    Picture,
    Prose,
    Row,
    Section,
    Table,
)
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.provenance import facts, provenance, warnings
from reports.page.wording import MISSING, fixed, listed, share, spaced

GAINS = (
    ("Allowing for preferences that no single utility explains", (("gpm_u", "upm"), ("gpm", "upm"))),
    ("Knowing the context", (("c_gpm_u", "gpm_u"), ("c_gpm", "gpm"))),
    ("Adding a utility to the general preference", (("c_gpm_u", "c_gpm"), ("gpm_u", "gpm"))),
)
"""What a step from a model to another is, and the first such pair that was scored is compared."""
METRICS: Mapping[str, str] = {"auc": "AUC", "accuracy": "accuracy", "log_loss": "log loss"}
_WIDTH = style.HALF_WIDTH


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
            Section("How well each model predicts", _prediction(scores, duel)),
            *(
                [Section("Published beside found", protocol_blocks(scores, duel, comparable=comparable))]
                if published
                else []
            ),
            *([explanation_section(run, comparable=comparable)] if has_explanations(run) else []),
            Section("Can it be ranked?", _rankability(run, duel, comparable=comparable)),
            Section("How the models were tuned", _chosen(run, scores.models)),
            provenance(run.record, run.cards()),
        ],
    )


# ------------------------------------------------------------------------------------------- the answer


def _answer(run: FinishedRun, scores: Scores, duel: Duel, *, comparable: bool) -> Answer:
    best = scores.best()
    others = [model for model in scores.models if model != best]
    beside = listed([f"the {MODELS[model]} {share(scores(model, 'auc').value)}" for model in others])
    top = max(scores.models, key=lambda model: scores(model, "auc").value)
    which = "predicts best" if best == top else f"predicts as well as any, and is simpler than the {MODELS[top]}"
    found = (
        f"Of the models tried the {MODELS[best]} {which}: its AUC on held-out {duel.many} is "
        f"{share(scores(best, 'auc').value)}, and it predicts {share(scores(best, 'accuracy').value)} of them. "
        f"{beside[0].upper()}{beside[1:]}."
    )
    numbers = [KeyNumber(share(scores(model, "auc").value), f"AUC, {SHORT[model]}") for model in scores.models]
    told = [
        found,
        *_gains(scores),
        *_verdict(run, scores, comparable=comparable),
        *_findings(run, comparable=comparable),
    ]
    return Answer(told, numbers)


def _gains(scores: Scores) -> list[str]:
    """What a more general model, a context, and a utility are worth."""
    told = []
    for words, pairs in GAINS:
        pair = next((pair for pair in pairs if set(pair) <= set(scores.models)), None)
        if pair is None:
            continue
        gain, error = scores.advantage(*pair)
        spread = "" if error is None else f", standard error over splits {fixed(100 * error, 1)}"
        size = fixed(100 * abs(gain), 1)
        moves = "changes nothing" if size == "0.0" else f"{'adds' if gain > 0 else 'costs'} {size} points of AUC"
        names = f"{SHORT[pair[0]]} against {SHORT[pair[1]]}"
        told.append(f"{words} {moves} ({names}{spread}).")
    return [" ".join(told)] if told else []


def _verdict(run: FinishedRun, scores: Scores, *, comparable: bool) -> list[str]:
    published = [model for model in scores.mirrored if scores(model, LEAKING, scores.last).published is not None]
    if not published:
        return []
    if run.record.simulated and not comparable:
        return ["These data are simulated: what was published about the real ones is not comparable with them."]
    scored = {model: scores(model, LEAKING, scores.last) for model in published}
    told = listed([f"{fixed(score.published, 2)} ({SHORT[model]})" for model, score in scored.items()])
    found = listed([share(score.value) for score in scored.values()])
    return [
        f"The published test AUC of {told} is the accuracy of thresholded scores on duels whose mirror images were in "
        f"training; scored that way, the models here have {found}."
    ]


def _findings(run: FinishedRun, *, comparable: bool) -> list[str]:
    return [verdict_sentence(run, comparable=comparable)] if has_explanations(run) else []


# ------------------------------------------------------------------------------------------- prediction


def _prediction(scores: Scores, duel: Duel) -> list[Block]:
    estimates = [
        Estimate(SHORT[model], scores(model, "auc").value, scores(model, "auc").sd, None) for model in scores.models
    ]
    lowest = min(estimate.lowest for estimate in estimates)
    drawing = draw_comparison(f"AUC on held-out {duel.many}", estimates, lowest=lowest, width=_WIDTH)
    told = "; ".join(f"{estimate.label} {share(estimate.value)}" for estimate in estimates)
    n = scores(scores.models[0], "auc").n
    figure = Figure(
        [Picture("auc", style.to_svg(drawing), _WIDTH, f"AUC on held-out {duel.many}: {told}.")],
        f"AUC on {duel.many} that no model has seen.",
        f"Dots: mean over {n} splits. Bars: one standard deviation over splits to either side.",
    )
    rows = []
    for model in scores.models:
        cells = [MODELS[model]]
        for metric in METRICS:
            found = scores(model, metric)
            cells += [share(found.value), share(found.sd)]
        rows.append(Row(cells))
    table = Table(
        f"Held-out {duel.many}: mean and standard deviation (sd) over {n} splits made before anything else.",
        [Column("", "left"), *(Column(header, group=name) for name in METRICS.values() for header in ("mean", "sd"))],
        rows,
        note=f"A coin has AUC and accuracy 0.500 and log loss {share(float(np.log(2)))}.",
    )
    definitions = Definitions(
        [
            ("AUC", f"how often a {duel.one}’s winner is preferred more to its loser than some loser to its winner, "
             f"ties counting one half: each {duel.one} is scored from both sides, and all folds are pooled."),
            ("Accuracy", f"share of {duel.many} whose winner is preferred, a tie counting one half."),
            ("Log loss", "mean of −log of the probability given to what happened, in nats; lower is better."),
        ],
        boxed=True,
    )  # fmt: skip
    return [figure, table, definitions]


# ------------------------------------------------------------------------------------------- ranking


def _rankability(run: FinishedRun, duel: Duel, *, comparable: bool) -> list[Block]:
    spec_r, cyclic = (_of_data(run, metric) for metric in ("spec_r", "cyclic_share"))
    if spec_r.value is None:
        raise NotARunError(f"{run.path / 'results' / 'metrics.json'}: spec_r has no value. Run the study again.")
    reach = float(norm.ppf(0.975)) * (spec_r.sd or 0.0)
    published = ""
    if spec_r.published is not None:
        published = f"; published {spec_r.published:.2f}" + ("" if comparable else ", of other data")
    entries = [
        ("SpecR", f"{share(spec_r.value)}, with a 95% interval of {share(spec_r.value - reach)} to "
         f"{share(spec_r.value + reach)}{published}. It is 1 for a complete ranking, in which everybody met everybody "
         f"and the better always won; it falls with {duel.many} that contradict a ranking, and with those never held."),
        ("Circles", f"{share(cyclic.value)} of {cyclic.n or 0:,} triads go round in a circle, in which each beats one "
         "and loses to one. It is 0 for a ranking and 0.250 where coins decide. A triad is three who all met, and of "
         "each two one did better."),
    ]  # fmt: skip
    note = Prose(
        [
            "The interval is SpecR ± 1.96 standard deviations of its bootstrap. A resample misses a third of what was "
            "played, which lowers its SpecR; only how far resamples scatter is used."
        ]
    )
    return [Definitions(entries), note]


def _of_data(run: FinishedRun, metric: str) -> MetricRow:
    found = next((row for row in run.metrics if row.metric == metric), None)
    if found is None:
        raise NotARunError(f"{run.path / 'results' / 'metrics.json'} has no {metric}. Run the study again.")
    return found


# ------------------------------------------------------------------------------------------- what was chosen


def _chosen(run: FinishedRun, models: Sequence[str]) -> list[Block]:
    """The settings that the validation duels chose, the median over splits."""
    chosen = [each for each in run.json("chosen_models") if each["variant"] == SPLIT_FIRST]
    kernels = [model for model in models if model != "preference_tree"]
    by_model = {model: [each for each in chosen if each["model"] == model] for model in models}
    if not all(by_model.values()):
        raise NotARunError(f"{run.path / 'results' / 'chosen_models.json'} lacks a model. Run the study again.")
    rows = [
        Row((spaced(feature), *(_median([scales.get(feature) for scales in by_name[model]]) for model in kernels)))
        for by_name in [{model: [_scales(each) for each in by_model[model]] for model in kernels}]
        for feature in dict.fromkeys(name for model in kernels for scales in by_name[model] for name in scales)
    ]
    rows.append(Row(("penalty", *(_small(median(each["penalty"] for each in by_model[model])) for model in kernels))))
    if adding := [model for model in kernels if model.endswith("_u")]:
        weights = {model: _small(median(each["utility"] for each in by_model[model])) for model in adding}
        rows.append(Row(("weight of the utility", *(weights.get(model, MISSING) for model in kernels))))
    depths = sorted(each["max_depth"] for each in by_model.get("preference_tree", []))
    depth = f" The preference tree has depth {depths[len(depths) // 2]} at most." if depths else ""
    return [
        Table(
            f"What the validation part of each split chose: lengthscale of every feature and penalty, medians over "
            f"{len(by_model[models[0]])} splits.{depth}",
            [Column("", "left"), *(Column(SHORT[model]) for model in kernels)],
            rows,
            note="Lengthscales of numbers are in standard deviations: where one is long, the feature hardly matters to "
            "the model. Those of labels have no unit: two labels are as like as exp(−1 / 2l²).",
        )
    ]


def _scales(chosen: Mapping[str, object]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in ("lengthscales", "context_lengthscales"):
        scales = chosen.get(name)
        if isinstance(scales, Mapping):
            found |= {str(feature): float(scale) for feature, scale in scales.items()}
        elif isinstance(scales, int | float):
            found["all features"] = float(scales)
    return found


def _small(value: float) -> str:
    """A number of any size to two digits, written out: 0.000045, 0.01, 9.8, 0."""
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def _median(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return fixed(median(known), 2) if known else MISSING
