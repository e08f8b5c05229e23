"""Many protocols of one study: which comes nearest to a published pair of figures, and what each choice moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, ScalarFormatter

from reports import style


class Published(NamedTuple):
    """Accuracy on the training and on the test comparisons, as published, and where."""

    train: float
    test: float
    source: str


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
    protocols: pd.DataFrame, published: Published | None, *, colour_by: str, marker_by: str, width: float, height: float
) -> Figure:
    """Every protocol's test accuracy against its training accuracy and against its number of leaves.

    `colour_by` and `marker_by` are columns of at most two levels each; `width` x `height` in mm.
    """
    colours = dict(zip(protocols[colour_by].drop_duplicates(), (style.ACCENT, style.MID), strict=False))
    markers = dict(zip(protocols[marker_by].drop_duplicates(), ("o", "^"), strict=False))
    with style.house_style():
        figure = style.new_figure(width, height)
        left, right = figure.subplots(1, 2, sharey=True)
        for axes, x in ((left, "train_accuracy"), (right, "leaves")):
            for (colour, marker), group in protocols.groupby([colour_by, marker_by], sort=False):
                axes.plot(
                    group[x], group["test_accuracy"], markers[marker], color=colours[colour], markersize=4.2,
                    markerfacecolor=colours[colour] if marker == next(iter(markers)) else "white", markeredgewidth=0.8,
                    alpha=0.85,
                )  # fmt: skip
        _label(left, right)
        if published is not None:
            _draw_published(left, right, published)
        handles = [_handle("s", colour, colour, str(level)) for level, colour in colours.items()]
        handles += [
            _handle(marker, style.INK, style.INK if marker == "o" else "white", f"{level} split")
            for level, marker in markers.items()
        ]
        figure.legend(handles=handles, loc="upper left", ncols=4, bbox_to_anchor=(12 / width, 1.0), columnspacing=1.6)
        figure.subplots_adjust(left=15 / width, right=1 - 3 / width, top=1 - 9 / height, bottom=11 / height, wspace=0.1)
    return figure


def _label(left: Axes, right: Axes) -> None:
    left.set_xlabel("training accuracy")
    left.set_ylabel("test accuracy")
    right.set_xlabel("mean number of leaves (log scale)")
    right.set_xscale("log", base=2)
    right.xaxis.set_major_formatter(ScalarFormatter())
    right.xaxis.set_minor_formatter(NullFormatter())
    for axes in (left, right):
        axes.grid()
        axes.set_axisbelow(True)
        axes.margins(0.08)


def _draw_published(left: Axes, right: Axes, published: Published) -> None:
    right.axhline(published.test, color=style.INK, linewidth=0.7, linestyle=(0, (1, 1.5)))
    left.axhline(published.test, color=style.INK, linewidth=0.7, linestyle=(0, (1, 1.5)))
    left.axvline(published.train, color=style.INK, linewidth=0.7, linestyle=(0, (1, 1.5)))
    left.plot(
        published.train, published.test, "D", markersize=7.5, markerfacecolor="none", markeredgecolor=style.INK,
        markeredgewidth=1.0,
    )  # fmt: skip
    left.annotate(
        "published", (published.train, published.test), (-6, 6), textcoords="offset points", ha="right",
        fontsize=style.LABEL, fontweight=600,
    )  # fmt: skip


def _handle(marker: str, edge: str, face: str, label: str) -> Line2D:
    return Line2D([], [], marker=marker, linestyle="", color=edge, markerfacecolor=face, markersize=4.5, label=label)
