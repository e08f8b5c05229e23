"""Figures of regret after each question: a line for each model, named at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from models.records.arrays import FloatArray
from reports.page import style

LINES: Sequence[Mapping[str, Any]] = (
    {"color": style.ACCENT, "linewidth": 1.7},
    {"color": style.ACCENT, "linewidth": 1.3, "linestyle": (0, (4, 1.5))},
    {"color": style.INK, "linewidth": 1.2},
    {"color": style.MUTED, "linewidth": 1.3, "linestyle": (0, (1, 1.2))},
    {"color": style.MID, "linewidth": 1.0, "linestyle": (0, (6, 1.5, 1, 1.5))},
)
"""The look of each line, by its place among all models: they also differ in black and white."""
_BANDS = {0: style.ACCENT_TINT, 2: style.TINT}
_FAR = 30.0
"""Means that differ by this factor are drawn on a logarithmic scale."""
_LEAST = 1e-5
_LABEL_HEIGHT = 3.3  # mm


class Line(NamedTuple):
    """The mean regret of a model after 0, 1, 2, ... questions, with the bounds of its interval.

    look: the place of the model in `LINES`.
    """

    label: str
    look: int
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray


def draw_regret(title: str, lines: Sequence[Line], *, height: float) -> Figure:
    """One panel, half a page wide and `height` mm high; the lines of looks 0 and 2 have bands."""
    width, right = style.HALF_WIDTH, 17.0
    with style.house_style():
        figure = style.new_figure(width, height)
        axes = figure.add_axes((12 / width, 9 / height, 1 - (12 + right) / width, 1 - 15 / height))
        axes.set_title(title, pad=4)
        axes.set_xlabel("questions asked")
        axes.set_ylabel("regret")
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        floor = scale_regret(axes, np.concatenate([line.mean for line in lines]))
        for line in lines:
            if line.look in _BANDS:
                low, high = (np.maximum(bound, floor) for bound in (line.lower, line.upper))
                axes.fill_between(np.arange(len(low)), low, high, color=_BANDS[line.look], alpha=0.8, linewidth=0)
        for line in lines:
            axes.plot(np.maximum(line.mean, floor), **LINES[line.look])
        axes.set_xlim(0, max(len(line.mean) for line in lines) - 1)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        _name_ends(axes, lines, floor, _LABEL_HEIGHT / (height - 15))
    return figure


def scale_regret(axes: Axes, means: FloatArray) -> float:
    """Choose the scale of an axis of regrets: logarithmic if they lie far apart. Returns the lowest value to draw."""
    highest = float(means.max())
    positive = means[means > _LEAST * highest]
    if not len(positive) or highest < _FAR * float(positive.min()):
        axes.set_ylim(0, 1.05 * highest if highest > 0 else 1.0)
        return 0.0
    lowest = float(positive.min()) / 2
    axes.set_yscale("log")
    axes.set_ylim(lowest, 2 * highest)
    axes.yaxis.set_major_locator(LogLocator(numticks=5))
    axes.yaxis.set_minor_formatter(NullFormatter())
    return lowest


def _name_ends(axes: Axes, lines: Sequence[Line], floor: float, step: float) -> None:
    """Write the label of each line beside its end, moved apart where two would overlap. step: height of a label."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [float(to_axes.transform((0.0, max(float(line.mean[-1]), floor)))[1]) for line in lines]
    order = np.argsort(ends)
    places = np.clip(np.array(ends)[order], 0.0, 1.0)
    for at in range(1, len(places)):
        places[at] = max(places[at], places[at - 1] + step)
    places -= max(0.0, float(places[-1]) - 1.0) if len(places) else 0.0
    for place, at in zip(places, order, strict=True):
        line = lines[at]
        axes.annotate(
            line.label, (1.0, float(place)), (3, 0), xycoords="axes fraction", textcoords="offset points", va="center",
            fontsize=style.SMALL, color=LINES[line.look]["color"], annotation_clip=False,
        )  # fmt: skip
