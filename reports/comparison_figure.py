"""Published beside found: a dot for what a run found, a bar for its spread, an open diamond for what was published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports import style


class Estimate(NamedTuple):
    """A share found, its standard deviation, and what was published for it."""

    panel: str
    label: str
    value: float
    sd: float | None
    published: float | None


def draw_comparison(estimates: Sequence[Estimate], *, width: float) -> Figure:
    """One panel a value of `panel`, one line a `label`, on one scale of shares that ends at 1; `width` in mm."""
    panels = list(dict.fromkeys(estimate.panel for estimate in estimates))
    labels = list(dict.fromkeys(estimate.label for estimate in estimates))
    with style.house_style():
        figure = style.new_figure(width, 17 + 7.5 * len(labels))
        low = min(_lowest(estimate) for estimate in estimates)
        rows = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, panel in zip(rows, panels, strict=True):
            axes.set_title(panel, pad=5)
            axes.set_xlim(max(low - 0.02, 0.0), 1.012)
            axes.set_ylim(len(labels) - 0.4, -0.6)
            axes.grid(axis="x")
            axes.spines["left"].set_visible(False)
            axes.tick_params(axis="y", length=0)
            axes.set_yticks(range(len(labels)), labels)
            for estimate in estimates:
                if estimate.panel == panel:
                    _draw_estimate(axes, labels.index(estimate.label), estimate)
        for label in rows[0].get_yticklabels():
            label.set_fontsize(style.STRONG)
            label.set_color(style.INK)
        figure.subplots_adjust(left=40 / width, right=1 - 2 / width, wspace=0.08, top=0.82, bottom=0.2)
    return figure


def _lowest(estimate: Estimate) -> float:
    return min(estimate.value - (estimate.sd or 0.0), 1.0 if estimate.published is None else estimate.published)


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
