"""A figure of found and published shares: a dot and a bar for the run, an open diamond for the published value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.page import style

_LABELS = 28.0  # mm left of the axis


class Estimate(NamedTuple):
    """A share found by a run, its standard deviation, and the published value."""

    label: str
    value: float
    sd: float | None
    published: float | None

    @property
    def lowest(self) -> float:
        """The lowest share that the drawing reaches."""
        return min(self.value - (self.sd or 0.0), 1.0 if self.published is None else self.published)


def draw_comparison(title: str, estimates: Sequence[Estimate], *, lowest: float, width: float) -> Figure:
    """One line for each estimate, on a scale of shares from about `lowest` to 1; `width` in mm."""
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
        for line, estimate in enumerate(estimates):
            _draw_estimate(axes, line, estimate)
    return figure


def _draw_estimate(axes: Axes, y: int, estimate: Estimate) -> None:
    if estimate.sd is not None:
        reach = [estimate.value - estimate.sd, min(estimate.value + estimate.sd, 1.0)]
        axes.plot(reach, [y, y], color=style.ACCENT_MID, linewidth=2.2, solid_capstyle="butt", zorder=2)
    axes.plot(estimate.value, y, "o", color=style.ACCENT, markersize=5.5, zorder=3)
    axes.annotate(
        f"{estimate.value:.3f}", (estimate.value, y), (0, 6.5), textcoords="offset points", ha="center",
        color=style.ACCENT, fontsize=style.LABEL, fontweight=600,
    )  # fmt: skip
    if estimate.published is not None:
        axes.plot(
            estimate.published, y, "D", markersize=6.5, markerfacecolor="none", markeredgecolor=style.INK, zorder=4,
            markeredgewidth=0.9,
        )  # fmt: skip
