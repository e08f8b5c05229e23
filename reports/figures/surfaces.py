"""Figures of a function over the unit square beside what models learned of it: the darker, the better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from models.records.arrays import FloatArray
from reports.page import style

_ACROSS = 3
_SIDE, _GAP, _TITLE, _HEAD = 25.5, 2.5, 7.0, 4.0  # mm
_SHADES = LinearSegmentedColormap.from_list("ranks", ["#ffffff", style.ACCENT_TINT, style.ACCENT_MID, style.ACCENT,
                                                      "#062a38"])  # fmt: skip


class Surface(NamedTuple):
    """Ranks of utility on a square grid, from 0 to 1, and the words above and below its name."""

    title: str
    note: str
    ranks: FloatArray


def draw_surfaces(title: str, surfaces: Sequence[Surface]) -> Figure:
    """Up to six squares, three in a row, half a page wide. All share one scale of ranks."""
    rows = -(-len(surfaces) // _ACROSS)
    width, height = style.HALF_WIDTH, _HEAD + rows * (_SIDE + _TITLE)
    with style.house_style():
        figure = style.new_figure(width, height)
        figure.text(0.0, 1 - 3.4 / height, title, fontsize=style.STRONG, fontweight=600)
        for at, surface in enumerate(surfaces):
            row, column = divmod(at, _ACROSS)
            left, top = column * (_SIDE + _GAP), _HEAD + row * (_SIDE + _TITLE)
            bottom = height - top - _TITLE - _SIDE + 1.0
            axes = figure.add_axes((left / width, bottom / height, _SIDE / width, _SIDE / height))
            axes.imshow(
                surface.ranks, cmap=_SHADES, vmin=0, vmax=1, origin="lower", extent=(0, 1, 0, 1),
                interpolation="none",
            )  # fmt: skip
            axes.set_xticks([])
            axes.set_yticks([])
            for spine in axes.spines.values():
                spine.set_visible(True)
            above = (bottom + _SIDE + 1.2) / height
            figure.text(left / width, above, surface.title, fontsize=style.SMALL, color=style.INK)
            figure.text(
                (left + _SIDE) / width, above, surface.note, fontsize=style.SMALL, color=style.MUTED, ha="right"
            )
    return figure
