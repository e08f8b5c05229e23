"""Time, beside regret (dt-pbo, Figure 12 and Table 5). The times are in `run.json` alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.records.run_record import CourseTime
from models.records.studies.benchmark_results import GP, MODELS, OTHER_FUNCTIONS, SKEW_GP, TREE
from models.scores.comparing import Difference, mean_ratio
from reports.benchmark.results import LOOKS, SHORT, Results, number, title
from reports.figures.panels import Panel, Series, draw_panels
from reports.page import style
from reports.page.blocks import Column, Figure, Picture, Prose, Row, Section, Table
from reports.page.conclusions import times_as_fast
from reports.page.wording import MISSING

TABLE_5 = "dt-pbo, Table 5"
_POINTS = 5
"""Points of each line in the picture."""


def times_of(results: Results) -> dict[tuple[str, str], CourseTime]:
    """The times of the run, by function and model."""
    return {(each.function, each.model): each for each in results.run.record.courses}


def times_as_long(results: Results, model: str, base: str) -> Difference | None:
    """How many times as long as `model` the model `base` takes: the geometric mean over functions."""
    times = times_of(results)
    both = [
        (times[function, base].seconds[-1], times[function, model].seconds[-1])
        for function in results.functions
        if (function, base) in times and (function, model) in times
    ]
    if not both or np.min(both) <= 0:
        return None
    slow, fast = np.array(both, dtype=np.float64).T
    return mean_ratio(slow, fast, over=OTHER_FUNCTIONS)


def time_sentences(results: Results) -> Iterator[str]:
    """How many times as fast the tree is as each process on this machine."""
    for base in (GP, SKEW_GP):
        ratio = times_as_long(results, TREE, base)
        if ratio is not None:
            yield times_as_fast(MODELS[TREE], MODELS[base], ratio)


def times_section(results: Results) -> Section:
    """Seconds a run, beside the seconds to a regret that all models reach."""
    times = times_of(results)
    if not times:
        return Section("Time beside regret", [Prose(["This run timed no model."])])
    about = Prose(
        [
            "A fast model is worth little if it must ask more questions. So the table shows the seconds of a whole run "
            "beside those to a regret that every model of this run reaches: the largest of their mean regrets after "
            "the last question. Times are processor seconds of learning and of choosing the next pair, for one of "
            f"{results.runs} runs that advance together; they are of this machine, and of when a kept result was "
            "computed. They have no spread over runs.",
            " ".join(time_sentences(results)),
        ]
    )
    return Section("Time beside regret", [about, _picture(results, times), _table(results, times)])


def _picture(results: Results, times: dict[tuple[str, str], CourseTime]) -> Figure:
    step = max(1, results.questions // _POINTS)
    asked = list(range(step, results.questions + 1, step))
    panels = []
    for function in results.functions:
        series = [
            Series(SHORT[model], LOOKS[model], np.interp(asked, found.questions, np.maximum(found.seconds, 1e-4)))
            for model in results.models
            if (found := times.get((function, model)))
        ]
        panels.append(Panel(title(function), series))
    drawing = draw_panels(
        panels, [str(at) for at in asked], axis="questions asked", values="seconds so far, log scale", shared=True
    )
    last = "; ".join(
        f"{SHORT[model]} {number(float(np.mean([times[f, model].seconds[-1] for f in results.functions])))} s"
        for model in results.models
        if all((function, model) in times for function in results.functions)
    )
    picture = Picture(
        "times", style.to_svg(drawing), style.PAGE_WIDTH, f"Seconds of a run, mean over functions: {last}"
    )
    return Figure([picture], "Seconds up to each question (as dt-pbo, Figure 12).", "All panels share one scale.")


def _table(results: Results, times: dict[tuple[str, str], CourseTime]) -> Table:
    rows = []
    for function in results.functions:
        timed = [(model, times[function, model]) for model in results.models if (function, model) in times]
        for at, (model, found) in enumerate(timed):
            seconds = found.seconds[-1]
            asked = MISSING if found.target_questions is None else str(found.target_questions)
            cells = (
                SHORT[model], number(seconds), number(1000 * seconds / (results.questions + 1)),
                number(found.published_seconds), asked, number(found.target_seconds),
            )  # fmt: skip
            rows.append(Row(cells, group="" if at else f"{title(function)}, to a regret of {number(found.target)}"))
    return Table(
        f"Processor seconds of a run of {results.questions} questions, and how many questions and seconds it takes "
        "until the mean regret is as low as the largest final one.",
        [
            Column("", "left"), Column("s", group="Whole run"), Column("ms a question", group="Whole run"),
            Column("paper, s", group="Whole run"), Column("questions", group="To that regret"),
            Column("s", group="To that regret"),
        ],
        rows,
        note=f"Paper: {TABLE_5}, on the machine of its authors. To that regret: the first question after which the "
        "mean over runs is that low. The means have intervals in the table of final regrets; these questions have "
        "none.",
    )  # fmt: skip
