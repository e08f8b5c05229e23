"""A figure of many protocols of one study, beside a published pair of accuracies."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from models.records.studies.respondent_results import SPLIT, STRADDLERS, TEST_ACCURACY
from reports.page import style

_STRADDLERS = {"discard": ("discarded", style.ACCENT), "keep": ("kept", style.MID)}
_MARKERS = {"pair": ("o", True), "item": ("^", False)}
_MARK: dict[str, Any] = {"markersize": 4.2, "markeredgewidth": 0.8, "alpha": 0.85, "linestyle": ""}


class PublishedMark(NamedTuple):
    """The published values in a figure of protocols; x is None if only the test accuracy is known."""

    x: float | None
    test: float


def draw_protocols(
    protocols: pd.DataFrame, x: str, *, axis: str, log: bool, published: PublishedMark | None, height: float
) -> Figure:
    """Every protocol's test accuracy against column `x`, half a page wide and `height` mm high.

    Colours show what is done with straddlers, shapes what is held out.
    """
    width = style.HALF_WIDTH
    with style.house_style():
        figure = style.new_figure(width, height)
        axes = figure.add_axes((14 / width, 10 / height, 1 - 16 / width, 1 - 17 / height), axisbelow=True)
        axes.set_xlabel(axis)
        axes.set_ylabel("test accuracy")
        axes.grid()
        axes.margins(0.08)
        if log:
            style.use_log_axis(axes)
        else:
            axes.locator_params(axis="x", nbins=5)
        for straddlers, (_, colour) in _STRADDLERS.items():
            for split, (marker, filled) in _MARKERS.items():
                shown = protocols[(protocols[STRADDLERS] == straddlers) & (protocols[SPLIT] == split)]
                face = colour if filled else "white"
                axes.plot(shown[x], shown[TEST_ACCURACY], marker, color=colour, markerfacecolor=face, **_MARK)
        if published is not None:
            _draw_published(axes, published)
        handles = [_handle("s", colour, colour, label) for label, colour in _STRADDLERS.values()]
        handles += [
            _handle(marker, style.INK, style.INK if filled else "white", f"{split} split")
            for split, (marker, filled) in _MARKERS.items()
        ]
        figure.legend(
            handles=handles, loc="upper left", ncols=4, bbox_to_anchor=(12 / width, 1.0), columnspacing=1.2,
            handletextpad=0.1,
        )  # fmt: skip
    return figure


def _draw_published(axes: Axes, published: PublishedMark) -> None:
    """A labelled dotted line at the published test accuracy, and a diamond if x is known."""
    axes.axhline(published.test, color=style.INK, linewidth=0.7, linestyle=":")
    axes.annotate(
        "published", (0.5, published.test), xycoords=("axes fraction", "data"), ha="center", va="center",
        fontsize=style.LABEL, fontweight=600, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )  # fmt: skip
    if published.x is not None:
        axes.axvline(published.x, color=style.INK, linewidth=0.7, linestyle=":")
        axes.plot(
            published.x, published.test, "D", markersize=7.5, markerfacecolor="none", markeredgecolor=style.INK,
            markeredgewidth=1.0,
        )  # fmt: skip


def _handle(marker: str, edge: str, face: str, label: str) -> Line2D:
    return Line2D([], [], marker=marker, linestyle="", color=edge, markerfacecolor=face, markersize=4.5, label=label)
