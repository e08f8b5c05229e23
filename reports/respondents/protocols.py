"""Many protocols of one study: which comes nearest to a published pair of figures, and what each choice moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reports.page import style

_STRADDLERS = {"discard": ("discarded", style.ACCENT), "keep": ("kept", style.MID)}
_MARKERS = {"pair": ("o", True), "item": ("^", False)}
_MARK: dict[str, Any] = {"markersize": 4.2, "markeredgewidth": 0.8, "alpha": 0.85, "linestyle": ""}


class Published(NamedTuple):
    """Accuracy on the training and on the test comparisons, as published, and where."""

    train: float
    test: float
    source: str


class PublishedMark(NamedTuple):
    """Where the published figures lie in a figure of protocols; the x may be unknown."""

    x: float | None
    test: float


class Nearest(NamedTuple):
    """The protocol, of `among`, whose larger difference to the published pair is the smallest: `distance`."""

    protocol: pd.Series
    among: int
    distance: float


class Effect(NamedTuple):
    """What changing one choice to `level` moves, on average over the pairs of protocols that differ in nothing else."""

    choice: str
    level: object
    pairs: int
    change: pd.Series


def nearest_by(choice: str, protocols: pd.DataFrame, published: Published) -> dict[str, Nearest]:
    """For each level of `choice` its protocol nearest to the published pair, the nearest of all first."""
    train = (protocols["train_accuracy"] - published.train).abs()
    test = (protocols["test_accuracy"] - published.test).abs()
    ordered = protocols.assign(distance=np.maximum(train, test)).sort_values("distance", kind="stable")
    return {
        str(level): Nearest(group.iloc[0], len(group), float(group["distance"].iloc[0]))
        for level, group in ordered.groupby(choice, sort=False)
    }


def effects(protocols: pd.DataFrame, reference: Mapping[str, object], measures: Sequence[str]) -> list[Effect]:
    """The effect of every level of every choice against its level in `reference`; levels nobody tried have none.

    protocols: a row a protocol; `reference` maps the columns that are choices to their level of departure.
    """
    found = []
    for choice, base in reference.items():
        others = [name for name in reference if name != choice]
        departure = protocols[protocols[choice] == base].set_index(others)[list(measures)]
        levels = [level for level in protocols[choice].drop_duplicates() if level != base]
        for level in levels:
            arrival = protocols[protocols[choice] == level].set_index(others)[list(measures)]
            change = (arrival - departure).dropna()
            if len(change):
                found.append(Effect(choice, level, len(change), change.mean()))
    return found


def draw_protocols(
    protocols: pd.DataFrame, x: str, *, axis: str, log: bool, published: PublishedMark | None, height: float
) -> Figure:
    """Every protocol's test accuracy against column `x`, half a page wide and `height` mm high.

    Colours tell the straddlers apart, shapes the splits.
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
                shown = protocols[(protocols["straddlers"] == straddlers) & (protocols["split"] == split)]
                face = colour if filled else "white"
                axes.plot(shown[x], shown["test_accuracy"], marker, color=colour, markerfacecolor=face, **_MARK)
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
    """A dotted line at the published test accuracy, named in its middle, and a diamond where the x is known, too."""
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
