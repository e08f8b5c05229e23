"""A preference tree as a picture, as in dt-pbo Figure 16: its questions above, a Gaussian for every leaf below.

The leaves stand in one row on one utility axis, so that their heights can be compared; edges are as wide as their
share of the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from models.records.arrays import FloatArray, IntArray
from models.records.features import Column
from models.scores.ranks import competition_ranks
from models.trees.leaf_summary import extreme_leaf
from models.trees.structure import Node
from reports.figures.tree_layout import DETAIL, LEADING, Layout, Spot, Tree, place
from reports.page import fonts, style
from reports.page.wording import fixed

_MM = 72 / 25.4
_MARGIN = 2.0  # pt around the drawing
_AXIS = 34.0  # pt left of the leaves for the axis and the names of the rows
_WIDTHS = (90 * _MM - _AXIS, style.PAGE_WIDTH * _MM - _AXIS - 2 * _MARGIN)
MOST_HEIGHT = 215.0  # mm, an A4 page less its margins and a caption
_PANEL = 70.0  # pt of the utility axis
_LINE = DETAIL[0] * LEADING
_RANK, _MEAN, _SD, _ITEMS = 1.6, 2.8, 3.8, 5.1  # lines below that axis
_WIDEST_EDGE, _THINNEST_EDGE = 10.0, 1.0
_REACH = 2.6  # standard deviations of a Gaussian that are drawn
_Z = np.linspace(-_REACH, _REACH, 105)  # includes -1, 0 and 1


class _Colours(NamedTuple):
    dark: str
    mid: str
    tint: str


_TOP_LEAF = _Colours(style.ACCENT, style.ACCENT_MID, style.ACCENT_TINT)
_OTHER_LEAF = _Colours(style.MUTED, style.RULE, style.TINT)


@dataclass(frozen=True)
class TreeDrawing:
    """The picture of a tree, its width in mm, and the depth below which it is cut (None: not cut).

    gaussians: number of leaves drawn; the others are below the cut.
    """

    figure: Figure
    width: float
    cut_at: int | None
    gaussians: int


def draw_tree(
    nodes: Sequence[Node],
    columns: Sequence[Column],
    leaf_mean: FloatArray,
    leaf_sd: FloatArray,
    leaf_items: Sequence[Sequence[str]],
    *,
    height: float = MOST_HEIGHT,
) -> TreeDrawing:
    """Draw a tree of L leaves for an A4 page: at most 170 mm wide and `height` mm high, no type under 7 pt.

    nodes in pre-order; leaf_mean, leaf_sd: (L,) utilities; leaf_items: the names of the items in each leaf, may be
    empty. A tree with more leaves than the page has room for is cut at a depth, and the picture says so.

    Raises ValueError if the numbers of leaves, means, standard deviations and lists of items differ.
    """
    leaves = sum(node.leaf is not None for node in nodes)
    if not leaves == len(leaf_mean) == len(leaf_sd) == len(leaf_items):
        raise ValueError(
            f"the nodes have {leaves} leaves, but there are {len(leaf_mean)} means, {len(leaf_sd)} standard deviations "
            f"and {len(leaf_items)} lists of items"
        )
    values = _Utilities(np.asarray(leaf_mean, dtype=np.float64), np.asarray(leaf_sd, dtype=np.float64))
    tree = Tree(nodes, columns, leaf_items)
    with style.house_style():
        layout = place(
            tree,
            _text_width,
            end_lines=values.lines,
            leaf_band=_leaf_band,
            widths=_WIDTHS,
            height=height * _MM - 2 * _MARGIN,
        )
        width = (layout.width + _AXIS + 2 * _MARGIN) / _MM
        figure = style.new_figure(width, (layout.height + 2 * _MARGIN) / _MM)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(-_AXIS - _MARGIN, layout.width + _MARGIN)
        axes.set_ylim(layout.height + _MARGIN, -_MARGIN)
        axes.set_axis_off()
        _draw_edges(axes, layout, values.top_leaf)
        _draw_cards(axes, layout)
        _draw_leaves(axes, layout, values)
    return TreeDrawing(figure, width, layout.cut_at, sum(len(spot.leaves) == 1 for spot in layout.ends))


def _leaf_band(item_lines: int) -> float:
    lines = _ITEMS + item_lines - 0.5 if item_lines else _SD + 0.5
    return _PANEL + lines * _LINE


@cache
def _text_width(text: str, size: float, weight: int) -> float:
    properties = FontProperties(family=fonts.SANS, size=size, weight=weight)
    width: float = text_to_path.get_text_width_height_descent(text, properties, ismath=False)[0]
    return width


@dataclass(frozen=True)
class _Utilities:
    """Means and standard deviations of the leaves, (L,) each, and their labels."""

    mean: FloatArray
    sd: FloatArray

    @property
    def top_leaf(self) -> int:
        return extreme_leaf(self.mean.tolist(), [1] * len(self.mean), best=True)

    @cached_property
    def _ranks(self) -> IntArray:
        return competition_ranks(self.mean)

    def ranks(self, leaves: Sequence[int]) -> str:
        """Competition rank of a leaf's mean, 1 being the most preferred; the range of ranks of several leaves."""
        ranks = self._ranks[list(leaves)]
        return str(ranks[0]) if (ranks == ranks[0]).all() else f"{ranks.min()}–{ranks.max()}"

    def lines(self, leaves: tuple[int, ...]) -> tuple[str, str, str]:
        """Rank, mean and standard deviation under an end; the range of means if it stands for several leaves."""
        means = self.mean[list(leaves)]
        if len(leaves) > 1:
            return self.ranks(leaves), f"{_signed(means.min())} to {_signed(means.max())}", ""
        return self.ranks(leaves), _signed(means[0]), f"± {self.sd[leaves[0]]:.2f}"

    def limits(self) -> tuple[float, float]:
        """Lower and upper end of the utility axis; never an empty range."""
        low, high = np.min(self.mean - _REACH * self.sd), np.max(self.mean + _REACH * self.sd)
        return (float(low), float(high)) if high > low else (float(low) - 1.0, float(high) + 1.0)


@dataclass(frozen=True)
class _UtilityAxis:
    """The range of the utility axis, and its place on the page."""

    low: float
    high: float
    top: float
    bottom: float

    def y(self, utility: FloatArray) -> FloatArray:
        return self.bottom - (utility - self.low) / (self.high - self.low) * (self.bottom - self.top)


def _signed(value: float) -> str:
    return fixed(value, 2)


def _draw_edges(axes: Axes, layout: Layout, top_leaf: int) -> None:
    """Curves from card to card and from each end to its Gaussian; the path to the top leaf is coloured."""
    items = max(layout.root.node.n_items, 1)

    def breadth(spot: Spot) -> float:
        return max(_WIDEST_EDGE * spot.node.n_items / items, _THINNEST_EDGE)

    def colour(spot: Spot) -> str:
        return style.ACCENT_MID if top_leaf in spot.leaves else style.RULE

    for spot in layout.root.walk():
        bottom = spot.top + spot.height + 3.5
        if not spot.children:
            _draw_edge(axes, (spot.x, bottom), (spot.x, layout.leaves_top - 2), breadth(spot), colour(spot))
        start = spot.x - sum(breadth(child) for child in spot.children) / 2
        for child in spot.children:
            _draw_edge(
                axes, (start + breadth(child) / 2, bottom), (child.x, child.top - 1), breadth(child), colour(child)
            )
            start += breadth(child)


def _draw_edge(axes: Axes, start: tuple[float, float], end: tuple[float, float], breadth: float, colour: str) -> None:
    (x0, y0), (x1, y1) = start, end
    middle = (y0 + y1) / 2
    curve = Outline([(x0, y0), (x0, middle), (x1, middle), (x1, y1)], [Outline.MOVETO, *[Outline.CURVE4] * 3])
    axes.add_patch(PathPatch(curve, facecolor="none", edgecolor=colour, linewidth=breadth, capstyle="butt"))


def _draw_cards(axes: Axes, layout: Layout) -> None:
    for spot in layout.root.walk():
        y = spot.top
        for position, (text, (size, weight)) in enumerate(spot.lines):
            y += size * LEADING
            colour = style.MUTED if position < len(spot.answer) or (size, weight) == DETAIL else style.INK
            _text(axes, spot.x, y, text, size=size, weight=weight, color=colour)


def _draw_leaves(axes: Axes, layout: Layout, values: _Utilities) -> None:
    """The band of leaves: the utility axis, a Gaussian for every leaf, and the labels below."""
    axis = _UtilityAxis(*values.limits(), top=layout.leaves_top, bottom=layout.leaves_top + _PANEL)
    _draw_axis(axes, axis, layout)
    half = min(min(spot.strip for spot in layout.ends) / 2 - 2, 26.0)
    sds = [values.sd[spot.leaves[0]] for spot in layout.ends if len(spot.leaves) == 1]
    for spot in layout.ends:
        colours = _TOP_LEAF if values.top_leaf in spot.leaves else _OTHER_LEAF
        if len(spot.leaves) == 1:
            mean, sd = values.mean[spot.leaves[0]], values.sd[spot.leaves[0]]
            _draw_gaussian(axes, spot.x, axis.y(mean + sd * _Z), half * (min(sds) / sd if sd > 0 else 1.0), colours)
        else:
            means = values.mean[list(spot.leaves)]
            ends = axis.y(np.array([means.min(), means.max()]))
            axes.plot([spot.x] * 2, ends, color=colours.dark, linewidth=1.2, marker="_", markersize=6)
        _draw_names(axes, spot, axis.bottom, values)


def _draw_axis(axes: Axes, axis: _UtilityAxis, layout: Layout) -> None:
    for tick in MaxNLocator(4).tick_values(axis.low, axis.high):
        if axis.low <= tick <= axis.high:
            y = float(axis.y(np.array(tick)))
            axes.plot([0, layout.width], [y, y], color=style.RULE if tick == 0 else style.TINT, linewidth=0.5, zorder=0)
            _text(axes, -4, y + 2.4, f"{tick:g}".replace("-", "−"), ha="right", color=style.MUTED)
    rows = {
        "rank": (_RANK, True),
        "mean": (_MEAN, True),
        "± sd": (_SD, any(len(spot.leaves) == 1 for spot in layout.ends)),
        "items": (_ITEMS, any(spot.items for spot in layout.ends)),
    }
    for name, (line, is_filled) in rows.items():
        if is_filled:
            _text(axes, -4, axis.bottom + line * _LINE, name, ha="right", color=style.MUTED)
    _text(axes, -4, axis.top - 4, "utility", ha="right", color=style.MUTED)


def _draw_gaussian(axes: Axes, x: float, y: FloatArray, half: float, colours: _Colours) -> None:
    """An upright Gaussian at the heights `y` of _Z, `half` wide to either side; mean and ± 1 sd are marked."""
    spread = half * np.exp(-(_Z**2) / 2)
    within = np.abs(_Z) <= 1
    axes.fill_betweenx(y, x - spread, x + spread, color=colours.tint, linewidth=0)
    axes.fill_betweenx(y[within], (x - spread)[within], (x + spread)[within], color=colours.mid, linewidth=0)
    mean = float(y[len(y) // 2])
    axes.plot([x - half, x + half], [mean, mean], color=colours.dark, linewidth=1.3, solid_capstyle="butt")


def _draw_names(axes: Axes, spot: Spot, bottom: float, values: _Utilities) -> None:
    """Rank, mean, sd and items under an end."""
    rank, mean, sd = values.lines(spot.leaves)
    colour = style.ACCENT if values.top_leaf in spot.leaves else style.INK
    _text(axes, spot.x, bottom + _RANK * _LINE, rank, size=style.STRONG, weight=600, color=colour)
    _text(axes, spot.x, bottom + _MEAN * _LINE, mean, color=style.MUTED)
    if sd:
        _text(axes, spot.x, bottom + _SD * _LINE, sd, color=style.MUTED)
    for position, name in enumerate(spot.items):
        _text(axes, spot.x, bottom + (_ITEMS + position) * _LINE, name, color=colour)


def _text(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    *,
    size: float = DETAIL[0],
    weight: int = 400,
    color: str,
    ha: str = "center",
) -> None:
    axes.text(x, y, text, fontsize=size, fontweight=weight, color=color, ha=ha, va="baseline", parse_math=False)
