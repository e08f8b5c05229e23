"""A figure of found and published shares: a dot and a bar for the run, an open diamond for the published value.

Plain models are drawn in grey squares; a dashed line marks what a coin would get.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.page import style

_LABELS = 28.0  # mm left of the axis


class Estimate(NamedTuple):
    """A share found by a run, the ends of its bar, and the published value.

    value: None for a line that stays empty. is_plain: whether it is of a plain model, drawn apart from the others.
    """

    label: str
    value: float | None
    bar: tuple[float, float] | None
    published: float | None
    is_plain: bool = False

    @property
    def lowest(self) -> float:
        """The lowest share that the drawing reaches."""
        found = 1.0 if self.value is None else self.value if self.bar is None else self.bar[0]
        return min(found, 1.0 if self.published is None else self.published)


def draw_comparison(
    title: str, estimates: Sequence[Estimate], *, lowest: float, width: float, coin: float | None = None
) -> Figure:
    """One line for each estimate, on a scale of shares from about `lowest` to 1; `width` in mm.

    coin: the share of a coin, marked by a dashed line.
    """
    lowest = lowest if coin is None else min(lowest, coin)
    height = 15 + 6.5 * len(estimates)
    with style.house_style():
        figure = style.new_figure(width, height)
        axes = figure.add_axes((_LABELS / width, 7 / height, 1 - (_LABELS + 2) / width, 1 - 13 / height))
        axes.set_xlim(max(lowest - 0.02, 0.0), 1.012)
        axes.set_title(title, pad=5)
        axes.set_ylim(len(estimates) - 0.4, -0.6)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0, labelsize=style.STRONG, labelcolor=style.INK)
        axes.set_yticks(range(len(estimates)), [estimate.label for estimate in estimates])
        if coin is not None:
            axes.axvline(coin, color=style.MID, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
            axes.annotate(
                "coin", (coin, len(estimates) - 0.4), (2, 2), textcoords="offset points", color=style.MUTED,
                fontsize=style.SMALL,
            )  # fmt: skip
        for line, estimate in enumerate(estimates):
            _draw_estimate(axes, line, estimate)
    return figure


def _draw_estimate(axes: Axes, y: int, estimate: Estimate) -> None:
    colour, bar, marker = (style.MUTED, style.RULE, "s") if estimate.is_plain else (style.ACCENT, style.ACCENT_MID, "o")
    if estimate.value is not None:
        if estimate.bar is not None:
            axes.plot(
                [estimate.bar[0], min(estimate.bar[1], 1.0)],
                [y, y],
                color=bar,
                linewidth=2.2,
                solid_capstyle="butt",
                zorder=2,
            )
        axes.plot(estimate.value, y, marker, color=colour, markersize=4.8 if estimate.is_plain else 5.5, zorder=3)
        axes.annotate(
            f"{estimate.value:.3f}", (estimate.value, y), (0, 6.5), textcoords="offset points", ha="center",
            color=colour, fontsize=style.LABEL, fontweight=600,
        )  # fmt: skip
    if estimate.published is not None:
        axes.plot(
            estimate.published, y, "D", markersize=6.5, markerfacecolor="none", markeredgecolor=style.INK, zorder=4,
            markeredgewidth=0.9,
        )  # fmt: skip
