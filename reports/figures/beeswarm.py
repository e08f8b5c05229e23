"""Drawing of an explanation: for each feature a bar for its mean contribution, and a dot for each explained duel.

A dot's colour is the winner's value less the loser's: pale for less, dark for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from models.records.arrays import FloatArray, IntArray
from reports.page import style

MOST_DOTS = 250
"""Dots drawn for each feature; of more, an evenly spaced selection is drawn."""
SHADES = tuple(
    to_hex(LinearSegmentedColormap.from_list("less to more", [style.RULE, style.ACCENT_MID, "#08384a"])(at))
    for at in np.linspace(0, 1, 7)
)
LINE = 6.6
"""Height of the line of a feature, in mm."""
_DOT = 2.0
_BARS = 13.0
_CELLS = 70
"""Number of cells across the axis; dots in one cell are stacked."""
_MOST_LAYERS = 17


@dataclass(frozen=True, eq=False)
class PlayerValues:
    """The contributions of a feature to n explained duels.

    importance: mean absolute contribution. values: (n,). differences: (n,) the winner's value less the loser's, NaN if
    it has none.
    """

    name: str
    importance: float
    values: FloatArray
    differences: FloatArray


def draw_explanation(
    title: str, players: Sequence[PlayerValues], *, key: tuple[str, str], labels: float, width: float
) -> Figure:
    """Draw one line for each feature, in the order given.

    key: the words for pale and dark dots. labels: width of the labels in mm. width: of the drawing in mm.
    """
    height = 21 + LINE * len(players)
    with style.house_style():
        figure = style.new_figure(width, height)
        bottom, tall = 15 / height, LINE * len(players) / height
        bars = figure.add_axes((labels / width, bottom, _BARS / width, tall))
        left = labels + _BARS + 3
        dots = figure.add_axes((left / width, bottom, 1 - (left + 2) / width, tall))
        figure.text(0, 1 - 0.5 / height, title, ha="left", va="top", fontsize=style.STRONG, fontweight=600)
        _draw_bars(bars, players)
        _draw_dots(dots, players)
        _draw_key(figure, key, left, width, height)
    return figure


def _draw_bars(axes: Axes, players: Sequence[PlayerValues]) -> None:
    sizes = [player.importance for player in players]
    _prepare(axes, len(players))
    axes.barh(range(len(players)), sizes, height=0.5, color=style.ACCENT)
    axes.set_xlim(0, 1.05 * max([*sizes, 1e-12]))
    axes.set_yticks(range(len(players)), [player.name for player in players])
    axes.tick_params(axis="y", length=0, labelsize=style.LABEL, labelcolor=style.INK)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_xlabel("mean size", fontsize=style.SMALL, color=style.MUTED, labelpad=5)


def _draw_dots(axes: Axes, players: Sequence[PlayerValues]) -> None:
    _prepare(axes, len(players))
    axes.axvline(0, color=style.MID, linewidth=0.6, zorder=1)
    reach = 1.06 * max([float(np.abs(player.values).max()) for player in players] + [1e-12])
    axes.set_xlim(-reach, reach)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("contribution to the winner’s preference", fontsize=style.SMALL, color=style.MUTED, labelpad=2)
    for line, player in enumerate(players):
        shown = np.linspace(0, len(player.values) - 1, min(len(player.values), MOST_DOTS)).astype(np.int64)
        values, shades = player.values[shown], _shades(player.differences[shown])
        heights = line + _layers(values, reach) * 0.8 / _MOST_LAYERS
        for shade in np.unique(shades):
            here = shades == shade
            known = shade >= 0
            axes.plot(
                values[here], heights[here], "o", markersize=_DOT, zorder=2,
                markerfacecolor=SHADES[shade] if known else "none",
                markeredgecolor=SHADES[shade] if known else style.MID, markeredgewidth=0.0 if known else 0.4,
            )  # fmt: skip


def _prepare(axes: Axes, lines: int) -> None:
    axes.set_ylim(lines - 0.5, -0.5)
    axes.spines["left"].set_visible(False)


def _shades(differences: FloatArray) -> IntArray:
    """The shade of each difference (n,): the middle shade for zero, -1 for NaN."""
    known = differences[~np.isnan(differences)]
    widest = float(np.quantile(np.abs(known), 0.95)) if len(known) else 0.0
    scaled = np.clip(differences / (widest or 1.0), -1, 1)
    shade = np.rint((np.nan_to_num(scaled) + 1) / 2 * (len(SHADES) - 1))
    return np.where(np.isnan(differences), -1, shade).astype(np.int64)


def _layers(values: FloatArray, reach: float) -> FloatArray:
    """Offset of each dot from its line (n,), so that dots do not hide each other."""
    cell = np.floor(values / reach * _CELLS / 2).astype(np.int64)
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], cell[order], side="left")
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - starts
    count = np.bincount(cell - cell.min())[cell - cell.min()]
    squeeze = np.minimum(1.0, _MOST_LAYERS / np.maximum(count, 1))
    return np.asarray(np.where(rank % 2, 1, -1) * ((rank + 1) // 2) * squeeze)


def _draw_key(figure: Figure, key: tuple[str, str], left: float, width: float, height: float) -> None:
    """Draw the legend of the shades."""
    less, more = key
    y = 1.6 / height
    figure.text((left + 18) / width, y, less, fontsize=style.SMALL, color=style.MUTED, ha="right", va="center")
    for at, shade in enumerate(SHADES):
        x = (left + 20 + 2.2 * at) / width
        figure.add_artist(Line2D([x], [y], marker="o", markersize=3.2, color=shade, linestyle="none"))
    figure.text((left + 35) / width, y, more, fontsize=style.SMALL, color=style.MUTED, va="center")
