"""How a number is spread over respondents: for every value, the share of them that reaches at least it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, PercentFormatter, ScalarFormatter

from models.records import FloatArray
from reports import style

_LINES = ((style.ACCENT, "-"), (style.MID, (0, (4, 1.5))))


class Spread(NamedTuple):
    """One panel: what is spread, and its values by group; at most two groups. On a log scale all must be positive."""

    title: str
    axis: str
    groups: Mapping[str, FloatArray]
    log: bool = False


def draw_spreads(spreads: Sequence[Spread], *, width: float, height: float) -> Figure:
    """Panels side by side, `width` x `height` mm in all; every group has its own line in all of them."""
    with style.house_style():
        figure = style.new_figure(width, height)
        row = figure.subplots(1, len(spreads), sharey=True, squeeze=False)[0]
        for axes, spread in zip(row, spreads, strict=True):
            _draw_spread(axes, spread)
        figure.legend(
            *row[0].get_legend_handles_labels(),
            loc="upper left",
            ncols=2,
            bbox_to_anchor=(13 / width, 1.0),
            handlelength=3,
        )
        row[0].set_ylabel("share of users at or above")
        row[0].yaxis.set_major_formatter(PercentFormatter(1.0))
        figure.subplots_adjust(
            left=15 / width, right=1 - 3 / width, top=1 - 13 / height, bottom=10 / height, wspace=0.1
        )
    return figure


def _draw_spread(axes: Axes, spread: Spread) -> None:
    if spread.log:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(spread.title, pad=6)
    axes.set_xlabel(spread.axis)
    axes.set_ylim(0, 1.02)
    axes.grid(axis="y")
    for (name, values), (colour, dash) in zip(spread.groups.items(), _LINES, strict=False):
        ordered = np.sort(values)
        share = 1 - np.arange(len(ordered)) / len(ordered)
        axes.step(
            np.append(ordered, ordered[-1]), np.append(share, 0.0), where="pre", color=colour, linestyle=dash,
            linewidth=1.4, label=name,
        )  # fmt: skip
