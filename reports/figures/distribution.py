"""A figure of a distribution over respondents: for every value, the share of them at or above it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from models.records.arrays import FloatArray
from reports.page import style

_LINES = ((style.ACCENT, "-"), (style.MID, (0, (4, 1.5))))


def draw_spread(axis: str, groups: Mapping[str, FloatArray], *, log: bool, width: float, height: float) -> Figure:
    """One line for each of at most two groups of values; `width` x `height` in mm.

    Missing values (NaN) are left out; log: a logarithmic axis, for positive values.
    """
    with style.house_style():
        figure = style.new_figure(width, height)
        axes = figure.add_axes((14 / width, 10 / height, 1 - 16 / width, 1 - 17 / height))
        if log:
            style.use_log_axis(axes)
        axes.set_xlabel(axis)
        axes.set_ylabel("share at or above")
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.grid(axis="y")
        for (name, values), (colour, dash) in zip(groups.items(), _LINES, strict=False):
            ordered = np.sort(values[~np.isnan(values)])
            share = 1 - np.arange(len(ordered)) / len(ordered)
            axes.step(
                np.append(ordered, ordered[-1]), np.append(share, 0.0), where="pre", color=colour, linestyle=dash,
                linewidth=1.4, label=name,
            )  # fmt: skip
        figure.legend(loc="upper left", ncols=2, bbox_to_anchor=(12 / width, 1.0), handlelength=3)
    return figure
