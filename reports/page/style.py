"""The style of figures: one accent colour, greys that differ in black-and-white print, the typeface of the page."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import NullFormatter, ScalarFormatter

from models.records.plain_text import escaped
from reports.page import fonts

ACCENT = "#0f5e7a"
ACCENT_MID = "#79a9bb"
ACCENT_TINT = "#d3e2e8"
INK = "#1d2226"
MUTED = "#5c666e"
MID = "#8d969d"
RULE = "#c6ccd1"
TINT = "#e6e9ec"

PAGE_WIDTH = 170.0  # mm of text on an A4 page
HALF_WIDTH = 84.0  # mm of one of two pictures side by side
SMALL = 7.0  # pt, the smallest type on the page
LABEL = 7.5
STRONG = 8.5

_RC: dict[Any, Any] = {
    "font.family": [fonts.SANS],
    "font.size": LABEL,
    "text.color": INK,
    "axes.edgecolor": MID,
    "axes.labelcolor": INK,
    "axes.labelsize": LABEL,
    "axes.titlesize": STRONG,
    "axes.titleweight": 600,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "grid.color": TINT,
    "grid.linewidth": 0.5,
    "xtick.color": MID,
    "ytick.color": MID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "svg.fonttype": "none",
    "svg.hashsalt": "prefstudy",
    "figure.dpi": 72,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the style of the reports; matplotlib's settings are restored afterwards."""
    fonts.register_with_matplotlib()
    with mpl.rc_context(_RC), warnings.catch_warnings():
        # A browser or the PDF takes such a glyph from another font; `glyphs.py` warns if there is none.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of `width` x `height` mm, independent of pyplot."""
    return Figure(figsize=(width / 25.4, height / 25.4))


def use_log_axis(axes: Axes) -> None:
    """Make the x axis logarithmic, with powers of two as plain numbers."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())


def to_svg(figure: Figure) -> str:
    """The figure as one `<svg>` element with its text as text, control characters as their escapes.

    The same figure always gives the same bytes.
    """
    for text in figure.findobj(Text):
        text.set_text(escaped(text.get_text(), "\n"))
    buffer = io.StringIO()
    with house_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r"^.*?(?=<svg\b)|\s*<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL).strip()
