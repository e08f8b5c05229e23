"""The final regret as one thing varies: kernel, ratio, dimensions, noise, depth (dt-pbo, Figures 9-11 and 13-15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from models.records.studies.benchmark_results import (
    ALL_FUNCTIONS,
    BEST,
    DEPTH,
    DIMENSIONS,
    FIGURES,
    FINALS,
    FUNCTION,
    GP,
    KERNELS,
    MODEL,
    MODELS,
    NOISE,
    PART,
    RATIO,
    REGRET,
    SETTING,
    SKEW_GP,
    TREE,
    UNLIMITED,
    WITHOUT_SMOOTH,
)
from models.scores.comparing import Difference
from reports.benchmark.results import LOOKS, SHORT, Results, in_text, plain_title, title
from reports.figures.panels import Panel, Series, draw_panels
from reports.page import style
from reports.page.blocks import Block, Column, Figure, Picture, Prose, Row, Section, Table
from reports.page.conclusions import compared

RIVALS = (GP, SKEW_GP)
KERNEL_NAMES: Mapping[str, str] = {
    "rbf": "RBF", "matern52": "5/2", "matern32": "3/2", "matern12": "1/2"
}  # fmt: skip


class Varied(NamedTuple):
    """What a part varies: the heading of its section, the words of the axis, and what the part asks."""

    heading: str
    axis: str
    about: str


PARTS: Mapping[str, Varied] = {
    RATIO: Varied(
        "Ratio of noise to prior", "ratio of the variance of noise to that of the prior",
        "The tree with other ratios of noise to prior. The paper says that the final regret hardly depends on it.",
    ),
    DEPTH: Varied(
        "Depth of the tree", "largest depth",
        "The tree with limits of its depth. The paper says that a depth of 4 to 6 is enough on all functions but "
        "Michalewicz.",
    ),
    KERNELS: Varied(
        "Other kernels", "kernel: RBF, Matérn 5/2, 3/2 and 1/2",
        "The processes with four kernels, from the smoothest on. The paper says that the tree is ahead on Schwefel, "
        "Hölder and De Jong whichever they have.",
    ),
    DIMENSIONS: Varied(
        "More dimensions", "number of dimensions",
        "Four functions exist in any number of dimensions. The paper says that the tree falls behind on Rosenbrock and "
        "Levy beyond seven or eight. The paper knows the maximum of Michalewicz up to ten dimensions and extrapolates "
        "above; here it is computed coordinate by coordinate.",
    ),
    NOISE: Varied(
        "Answers that waver", "noise r, as a share of the median difference of two points",
        "Both utilities of a question get normal noise of standard deviation r × scale / √2, where scale is the median "
        "difference of 10,000 random pairs. The paper says that the tree is as good as the processes or better, save "
        "on Hartmann.",
    ),
}  # fmt: skip
"""The parts that vary one thing, in the order of the report."""


def setting_sections(results: Results) -> Iterator[Section]:
    """A section for each part that was run, and one that names those that were not."""
    run = [part for part in PARTS if results.has(part)]
    if run:
        finals = results.run.table(FINALS, (PART, FUNCTION, MODEL, SETTING, REGRET))
        for part in run:
            rows = finals[finals[PART] == part]
            nothing: list[Block] = [Prose(["None of the functions and models of this run have this part."])]
            yield Section(
                PARTS[part].heading, _blocks(results, part, PARTS[part], rows) if _settings(rows) else nothing
            )
    if missing := [part for part in PARTS if part not in run]:
        told = [f"{PARTS[part].heading} ({FIGURES[part]}): --set parts='[\"{part}\"]'." for part in missing]
        first = "These parts of the paper were not run. All at once: --set everything=true, which takes hours."
        yield Section("Not run", [Prose([first, *told])])


def _blocks(results: Results, part: str, varied: Varied, rows: pd.DataFrame) -> list[Block]:
    shown = list(_sentences(results, part))
    return [Prose([varied.about, *shown]), _picture(results, part, varied, rows), _table(results, part, rows)]


def _settings(rows: pd.DataFrame) -> list[str]:
    """The settings of a part in the order in which they were run."""
    return [str(setting) for setting in dict.fromkeys(rows[SETTING]) if setting != ""]


def _name(part: str, setting: str) -> str:
    return KERNEL_NAMES.get(setting, setting) if part == KERNELS else "∞" if setting == UNLIMITED else setting


def _picture(results: Results, part: str, varied: Varied, rows: pd.DataFrame) -> Figure:
    settings = _settings(rows)
    panels = []
    for function in dict.fromkeys(rows[FUNCTION]):
        models = [model for model in MODELS if ((rows[FUNCTION] == function) & (rows[MODEL] == model)).any()]
        series = [_series(results, part, function, model, settings) for model in models]
        panels.append(Panel(plain_title(function) if part == DIMENSIONS else title(function), series))
    drawing = draw_panels(
        panels, [_name(part, setting) for setting in settings], axis=varied.axis,
        values=f"regret after {results.questions} questions", shared=False,
    )  # fmt: skip
    alt = f"Final regret by {varied.axis}: a panel for each of {len(panels)} functions"
    return Figure(
        [Picture(f"setting-{part}", style.to_svg(drawing), style.PAGE_WIDTH, alt)],
        f"Final regret by {varied.axis} (as dt-pbo, {FIGURES[part]}).",
        f"Means over {results.runs} runs; bars: 95% interval of the mean, over other first questions. Each panel has "
        "its own scale, logarithmic where regrets lie far apart."
        + (" The tree, which has no kernel, is drawn at each of them." if part == KERNELS else ""),
    )


def _series(results: Results, part: str, function: str, model: str, settings: Sequence[str]) -> Series:
    """A model's regret in each setting; a model without the setting has the same everywhere."""
    found = [
        results.regret(function, model, part, setting) or results.regret(function, model, part, "")
        for setting in settings
    ]
    values, lower, upper = (
        np.array([np.nan if each is None or each[at] is None else each[at] for each in found], dtype=np.float64)
        for at in (0, 5, 6)
    )
    return Series(SHORT[model], LOOKS[model], values, lower, upper)


class _Asked(NamedTuple):
    """A difference that a part asks for: its heading in the table, two models, and their settings."""

    heading: str
    model: str
    base: str
    setting: str
    base_setting: str


def _asked(results: Results, part: str, settings: Sequence[str]) -> list[_Asked]:
    rivals = [base for base in RIVALS if base in results.models]
    if part == RATIO:
        used = f"{results.run.record.config['tree']['ratio']:g}"
        return [_Asked(f"{each} − {used}", TREE, TREE, each, used) for each in settings if each != used]
    if part == DEPTH:
        few = [each for each in settings if each in {"1", "2", "4", "6", "8", "12"}]
        return [_Asked(f"{each} − ∞", TREE, TREE, each, UNLIMITED) for each in few]
    if part == KERNELS:
        return [_Asked(f"tree − best {SHORT[base]}", TREE, base, "", BEST) for base in rivals]
    few = list(settings)[-2:]
    return [_Asked(f"{each}: tree − {SHORT[base]}", TREE, base, each, each) for each in few for base in rivals]


def _difference(results: Results, part: str, function: str, asked: _Asked) -> Difference | None:
    return results.gap(
        function, asked.model, asked.base, part=part, setting=asked.setting, base_setting=asked.base_setting,
        in_sds=True,
    )  # fmt: skip


def _table(results: Results, part: str, rows: pd.DataFrame) -> Table:
    asked = _asked(results, part, _settings(rows))
    lines = [
        Row((plain_title(function), *(in_text(_difference(results, part, function, each)) for each in asked)))
        for function in dict.fromkeys(rows[FUNCTION])
    ]
    every = tuple(in_text(_difference(results, part, ALL_FUNCTIONS, each)) for each in asked)
    lines.append(Row(("All functions", *every)))
    return Table(
        "Differences in final regret, in standard deviations over runs: below zero, the first of the two ends with "
        "less regret.",
        [Column("", "left"), *(Column(each.heading) for each in asked)],
        lines,
        note="In brackets: 95% interval, over other first questions; in the last row, of the mean over functions, over "
        "other functions. †: it excludes zero. "
        + ("Best: the kernel with the lowest mean regret on the function." if part == KERNELS else ""),
    )


def _sentences(results: Results, part: str) -> Iterator[str]:
    """What the mean over functions shows about the differences that the paper speaks of."""
    found = {
        RATIO: [("0.0625", "1")],
        DEPTH: [("4", "6")],
        NOISE: [("1", "2")],
    }.get(part, [])
    for setting in (each for pair in found for each in pair):
        if part == NOISE:
            for base in RIVALS:
                difference = results.gap(
                    WITHOUT_SMOOTH, TREE, base, part=part, setting=setting, base_setting=setting, in_sds=True
                )
                if difference is not None:
                    who = f"{MODELS[TREE]} (noise {setting}, all functions but Hartmann)"
                    yield _in_words(who, MODELS[base], difference)
            continue
        base_setting = UNLIMITED if part == DEPTH else f"{results.run.record.config['tree']['ratio']:g}"
        difference = results.gap(
            ALL_FUNCTIONS, TREE, TREE, part=part, setting=setting, base_setting=base_setting, in_sds=True
        )
        if difference is not None:
            names = {RATIO: ("a ratio of {}", "one of {}"), DEPTH: ("a tree of depth {}", "one without a limit")}[part]
            yield _in_words(names[0].format(setting), names[1].format(base_setting), difference)


def _in_words(first: str, second: str, difference: Difference) -> str:
    return compared(first, second, difference, measure="final regret", unit=" standard deviations", scale=1, decimals=2)
