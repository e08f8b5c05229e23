"""Regret after each question (dt-pbo, Figure 2): who keeps up with whom, the curves, and the table."""

from __future__ import annotations

from collections.abc import Iterator

from models.records.studies.benchmark_results import (
    CONVERGENCE,
    COURSES,
    FOREST,
    FUNCTION,
    GP,
    LOWER,
    MEAN,
    MODEL,
    MODELS,
    PART,
    QUESTION,
    SETTING,
    SKEW_GP,
    TREE,
    UPPER,
)
from models.scores.comparing import Outcome
from reports.benchmark.results import LOOKS, SHORT, Results, in_pairs, in_text, number, plain_title, title
from reports.figures.regret_courses import Line, draw_regret
from reports.page import style
from reports.page.blocks import Block, Column, Figure, KeyNumber, Picture, Prose, Row, Section, Table
from reports.page.conclusions import by_case
from reports.page.wording import MISSING, fixed

RIVALS = (GP, SKEW_GP)
HEIGHT = 56.0  # mm
_COLUMNS = (PART, FUNCTION, MODEL, SETTING, QUESTION, MEAN, LOWER, UPPER)


def verdicts(results: Results, model: str, base: str) -> dict[Outcome, list[str]]:
    """The functions by what the difference in final regret of two models shows on them, with its size in brackets."""
    found: dict[Outcome, list[str]] = {}
    for function in results.functions:
        difference = results.gap(function, model, base)
        sds = results.gap(function, model, base, in_sds=True)
        if difference is not None:
            size = "" if sds is None or sds.estimate is None else f" ({fixed(abs(sds.estimate), 1)})"
            shown = size if difference.outcome in {"higher", "lower"} else ""
            found.setdefault(difference.outcome, []).append(plain_title(function) + shown)
    return found


def answer_sentences(results: Results) -> Iterator[str]:
    """What the final regrets show: the tree against the processes, then the forest against them and the tree."""
    for model, bases in ((TREE, RIVALS), (FOREST, (*RIVALS, TREE))):
        sentences = [
            by_case(MODELS[model], MODELS[base], verdicts(results, model, base), measure="final regret")
            for base in bases
            if model in results.models and base in results.models
        ]
        if any(sentences):
            yield " ".join(filter(None, sentences))


def key_numbers(results: Results) -> list[KeyNumber]:
    """How many functions each verdict holds on, for the tree against each process."""
    numbers = []
    for model, base in ((TREE, GP), (TREE, SKEW_GP), (FOREST, GP), (FOREST, SKEW_GP)):
        if model in results.models and base in results.models:
            found = {outcome: len(names) for outcome, names in verdicts(results, model, base).items()}
            counts = f"{found.get('lower', 0)} : {found.get('higher', 0)}"
            label = (
                f"functions where the {SHORT[model]} is shown to end with less : with more regret than {SHORT[base]}"
            )
            numbers.append(KeyNumber(counts, label))
    return numbers


def convergence_section(results: Results) -> Section:
    """The curves of every function, the final regrets, and their differences."""
    return Section(
        "Regret after each question", [_about(results), *_curves(results), _finals(results), *_gaps(results)]
    )


def _about(results: Results) -> Prose:
    forest = results.run.record.config["forest"]["recommend"] if FOREST in results.models else None
    unbeaten = " (for the forest, among points that were never beaten)" if forest == "unbeaten" else ""
    return Prose(
        [
            f"Each model searches the point that a decision maker likes best. It starts from the answers to "
            f"{results.run.record.config['initial']} pairs of a Latin hypercube and then chooses {results.questions} "
            f"questions. Regret is the greatest utility minus that of the recommended point, which is the compared "
            f"point of the greatest predicted mean{unbeaten}. Every model has {results.runs} runs; all models "
            "share the first questions of a run, so differences are paired over runs."
        ]
    )


def _curves(results: Results) -> list[Block]:
    table = results.run.table(COURSES, _COLUMNS)
    table = table[table[PART] == CONVERGENCE]
    pictures = []
    for function in results.functions:
        rows = table[table[FUNCTION] == function]
        lines = [
            Line(SHORT[str(model)], LOOKS[str(model)], *(own[name].to_numpy(float) for name in (MEAN, LOWER, UPPER)))
            for model, own in rows.sort_values(QUESTION, kind="stable").groupby(MODEL, sort=False)
        ]
        lines.sort(key=lambda line: line.look)
        ends = "; ".join(f"{line.label} {number(float(line.mean[-1]))}" for line in lines)
        alt = f"Mean regret on {title(function)}; after {results.questions} questions: {ends}"
        drawing = style.to_svg(draw_regret(title(function), lines, height=HEIGHT))
        pictures.append(Picture(f"regret-{function}", drawing, style.HALF_WIDTH, alt))
    grey = " (tinted) and of the Gaussian process (grey)" if GP in results.models else ""
    caption = (
        f"Means over {results.runs} runs. Bands: 95% interval of the mean over other first questions, of the "
        f"tree{grey}. Scales differ; they are logarithmic where regrets lie far apart."
    )
    return [
        Figure(pair, "Regret after each question" + (", continued." if at else " (as dt-pbo, Figure 2)."),
               "" if at else caption)
        for at, pair in enumerate(in_pairs(pictures))
    ]  # fmt: skip


def _finals(results: Results) -> Table:
    rows = []
    for function in results.functions:
        for at, model in enumerate(results.models):
            found = results.regret(function, model)
            cells = (MISSING, MISSING, MISSING) if found is None else (
                number(found.value), number(found.sd), _interval(found.lower, found.upper)
            )  # fmt: skip
            rows.append(Row((SHORT[model], *cells), group="" if at else title(function)))
    return Table(
        f"Regret after {results.questions} questions, over {results.runs} runs.",
        [Column("", "left"), Column("mean"), Column("standard deviation"), Column("95% interval of the mean")],
        rows,
        note="Intervals are Student’s, over other first questions. The paper shows these means as curves and prints no "
        "numbers.",
    )


def _interval(lower: float | None, upper: float | None) -> str:
    return MISSING if lower is None or upper is None else f"{number(max(lower, 0.0))} to {number(upper)}"


def _gaps(results: Results) -> list[Block]:
    pairs = [
        (model, base)
        for model in (TREE, FOREST)
        for base in (*RIVALS, TREE)
        if model != base and model in results.models and base in results.models
    ]
    if not pairs:
        return []
    rows = [
        Row((title(function), *(in_text(results.gap(function, *pair, in_sds=True)) for pair in pairs)))
        for function in results.functions
    ]
    return [
        Table(
            "Differences in final regret, in standard deviations over runs: below zero, the first of the two models "
            "ends with less regret.",
            [Column("", "left"), *(Column(f"{SHORT[model]} − {SHORT[base]}") for model, base in pairs)],
            rows,
            note="Standard deviation: the root mean square of those of the two models. In brackets: 95% jackknife "
            "interval over other first questions, paired by run. †: it excludes zero; of twenty differences that are "
            "none, one is marked by chance.",
        )
    ]
