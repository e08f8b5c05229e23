"""Small multiples: a panel for each function, a line of points for each model, all lines named once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

from models.records.arrays import FloatArray
from reports.figures.regret_courses import LINES, scale_regret
from reports.page import style

_ACROSS = 4
_MARKS = ("o", "s", "^", "D", "v")
_HEAD, _PANEL, _FOOT = 1.0, 36.0, 9.0  # mm


class Series(NamedTuple):
    """Values of a model at places 0, 1, 2, ... of the axis, with the bounds of their intervals; NaN for no value.

    lower, upper: None for values without intervals. look: the place of the model in `LINES`.
    """

    label: str
    look: int
    values: FloatArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None


class Panel(NamedTuple):
    """One panel: its title, and its series."""

    title: str
    series: Sequence[Series]


def draw_panels(panels: Sequence[Panel], ticks: Sequence[str], *, axis: str, values: str, shared: bool) -> Figure:
    """Panels as wide as a page, four in a row; ticks: the text at each place of the axis.

    axis, values: what the two axes show. shared: one logarithmic scale for all panels; otherwise each has its own.
    """
    rows = -(-len(panels) // _ACROSS)
    width, height = style.PAGE_WIDTH, _HEAD + rows * _PANEL + _FOOT
    known = np.concatenate([series.values[~np.isnan(series.values)] for panel in panels for series in panel.series])
    with style.house_style():
        figure = style.new_figure(width, height)
        for at, panel in enumerate(panels):
            row, column = divmod(at, _ACROSS)
            left = 11 + column * (width - 11) / _ACROSS
            bottom = _FOOT + (rows - 1 - row) * _PANEL
            place = (left / width, bottom / height, ((width - 11) / _ACROSS - 10) / width, (_PANEL - 13) / height)
            axes = figure.add_axes(place)
            axes.set_title(panel.title, pad=3, fontsize=style.LABEL)
            axes.grid(axis="y")
            axes.set_axisbelow(True)
            if shared:
                axes.set_yscale("log")
                axes.set_ylim(float(known.min()) / 1.5, 1.5 * float(known.max()))
                axes.yaxis.set_major_locator(LogLocator(numticks=6))
                axes.yaxis.set_minor_formatter(NullFormatter())
                floor = 0.0
            else:
                own = np.concatenate([series.values for series in panel.series])
                floor = scale_regret(axes, own[~np.isnan(own)])
            for series in panel.series:
                _draw(axes, series, floor)
            axes.set_xlim(-0.4, len(ticks) - 0.6)
            axes.xaxis.set_major_locator(FixedLocator(list(range(len(ticks)))))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xticklabels([tick if len(ticks) < 8 or place % 2 else "" for place, tick in enumerate(ticks)])
        figure.text(11 / width, 1.5 / height, axis, fontsize=style.LABEL, color=style.INK)
        figure.text(11 / width, 1 - 4 / height, values, fontsize=style.LABEL, color=style.INK)
        _legend(figure, panels, width)
    return figure


def _draw(axes: Axes, series: Series, floor: float) -> None:
    look = LINES[series.look]
    at = np.arange(len(series.values)) + 0.06 * (series.look - 1.5)
    if series.lower is not None and series.upper is not None:
        low, high = (np.maximum(bound, floor) for bound in (series.lower, series.upper))
        axes.vlines(at, low, high, color=look["color"], linewidth=0.8, alpha=0.6)
    axes.plot(
        at, np.maximum(series.values, floor), marker=_MARKS[series.look], markersize=2.6, **{**look, "linewidth": 0.9}
    )


def _legend(figure: Figure, panels: Sequence[Panel], width: float) -> None:
    """The lines by name, above the panels to the right; nothing if there is one only."""
    looks = {series.look: series.label for panel in panels for series in panel.series}
    if len(looks) < 2:
        return
    lines = [
        Line2D([], [], marker=_MARKS[look], markersize=3, label=label, **{**LINES[look], "linewidth": 0.9})
        for look, label in sorted(looks.items())
    ]
    figure.legend(handles=lines, loc="upper right", ncols=len(lines), bbox_to_anchor=(1 - 1 / width, 1.0))
