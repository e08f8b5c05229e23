"""A figure of curves over the number of questions, with bands over users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from models.records.arrays import FloatArray
from reports.page import style

_LINES: tuple[dict[str, Any], ...] = (
    {"color": style.ACCENT, "linewidth": 1.6},
    {"color": style.INK, "linewidth": 1.2},
    {"color": style.ACCENT, "linewidth": 1.1, "linestyle": (0, (4, 1.5))},
    {"color": style.MID, "linewidth": 1.1, "linestyle": (0, (1, 1.2))},
)
_BANDS = (style.ACCENT_TINT, style.TINT)


class Curve(NamedTuple):
    """A mean after 0, 1, 2, ... questions, and its standard deviation over users if a band shows it."""

    label: str
    mean: FloatArray
    sd: FloatArray | None = None


class Mark(NamedTuple):
    """A published value, at a number of questions."""

    question: int
    value: float
    label: str


def draw_courses(
    axis: str,
    curves: Sequence[Curve],
    *,
    height: float,
    share: bool = False,
    marks: Sequence[Mark] = (),
    reference: Curve | None = None,
) -> Figure:
    """At most four curves, half a page wide and `height` mm high, the first two with bands where they have an sd.

    share: the axis is of shares, from 0 to 1; reference: a thin line for comparison.
    """
    width = style.HALF_WIDTH
    with style.house_style():
        figure = style.new_figure(width, height)
        entries = len(curves) + len(marks) + (reference is not None)
        above = 14 + 3.4 * np.ceil(entries / 2)
        axes = figure.add_axes((13 / width, 10 / height, 1 - 15 / width, 1 - above / height))
        axes.set_xlabel("questions asked")
        axes.set_ylabel(axis)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        for curve, band in zip(curves, _BANDS, strict=False):
            if curve.sd is not None:
                low, high = np.maximum(curve.mean - curve.sd, 0.0), curve.mean + curve.sd
                axes.fill_between(np.arange(len(low)), low, high, color=band, alpha=0.8, linewidth=0)
        if reference is not None:
            axes.plot(reference.mean, color=style.MUTED, linewidth=0.7, label=reference.label)
        for curve, line in zip(curves, _LINES, strict=False):
            axes.plot(curve.mean, label=curve.label, **line)
        for mark in marks:
            axes.plot(
                mark.question, mark.value, "D", markersize=5.5, markerfacecolor="white", markeredgecolor=style.INK,
                markeredgewidth=1.0, label=mark.label, linestyle="", zorder=5,
            )  # fmt: skip
        axes.set_xlim(0, len(curves[0].mean) - 1)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if share:
            axes.set_ylim(0, 1)
            axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        figure.legend(
            loc="upper left", ncols=2, bbox_to_anchor=(11 / width, 1.0), handlelength=2.6, columnspacing=1.2,
            labelspacing=0.25,
        )  # fmt: skip
    return figure
