"""The typefaces of a report, reduced to the glyphs that a page needs.

Source Serif and Source Sans are under the SIL Open Font Licence; files and licence texts are in `typefaces/`.
"""

from __future__ import annotations

import base64
import io
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fontTools import subset
from matplotlib import font_manager

TYPEFACES = Path(__file__).with_name("typefaces")
SERIF = "Source Serif Pro"
SANS = "Source Sans Pro"

_LAYOUT_FEATURES = ["ccmp", "kern", "locl", "mark"]  # no ligatures: text copied from the PDF would lack their letters


class Face(NamedTuple):
    """One style of a family, and its file."""

    family: str
    weight: int
    style: str
    file: str

    @property
    def path(self) -> Path:
        """The font file."""
        return TYPEFACES / self.file


FIGURE_FACES = (
    Face(SANS, 400, "normal", "SourceSansPro-Regular.ttf"),
    Face(SANS, 600, "normal", "SourceSansPro-Semibold.ttf"),
)
PAGE_FACES = (
    *FIGURE_FACES,
    Face(SERIF, 400, "normal", "SourceSerifPro-Regular.ttf"),
    Face(SERIF, 400, "italic", "SourceSerifPro-It.ttf"),
    Face(SERIF, 600, "normal", "SourceSerifPro-Semibold.ttf"),
)


def font_face_css(faces: tuple[Face, ...], text: str) -> str:
    """CSS `@font-face` rules that embed `faces`, reduced to the glyphs of `text`."""
    characters = "".join(sorted(set(text)))
    return "\n".join(
        f"@font-face{{font-family:'{face.family}';font-weight:{face.weight};font-style:{face.style};"
        f"src:url(data:font/woff;base64,{base64.b64encode(_subset(face, characters)).decode()}) format('woff')}}"
        for face in faces
    )


@cache
def _subset(face: Face, characters: str) -> bytes:
    options = subset.Options(flavor="woff", layout_features=_LAYOUT_FEATURES, recalc_timestamp=False)
    font = subset.load_font(str(face.path), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    packed = io.BytesIO()
    subset.save_font(font, packed, options)
    return packed.getvalue()


@cache
def register_with_matplotlib() -> None:
    """Register the faces of the figures with matplotlib, each under its family and true weight."""
    for face in FIGURE_FACES:
        font_manager.fontManager.ttflist.append(
            font_manager.FontEntry(
                fname=str(face.path),
                name=face.family,
                style=face.style,
                variant="normal",
                weight=face.weight,
                stretch="normal",
                size="scalable",
            )
        )
