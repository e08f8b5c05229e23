"""The typefaces of a report, reduced to the glyphs that a page needs.

Source Serif and Source Sans are under the SIL Open Font Licence; files and licence texts are in `typefaces/`.
"""

from __future__ import annotations

import base64
import io
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fontTools import subset, ttLib
from matplotlib import font_manager

TYPEFACES = Path(__file__).with_name("typefaces")
SERIF = "Source Serif Pro"
SANS = "Source Sans Pro"

_LAYOUT_FEATURES = ["ccmp", "kern", "locl", "mark"]  # no ligatures: text copied from the PDF would lack their letters

_COMMON = frozenset(
    map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x391, 0x3CA), *range(0x2010, 0x2040)])
) | set("−×±≤≥≈→←↑↓∞€\n\t")
"""Latin and Greek letters, figures, punctuation, and the signs that reports use."""


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
    """The face reduced to `characters`, as WOFF. Most texts are within the common characters, a small font to parse."""
    if not set(characters) <= _COMMON:
        return _saved(_reduced(str(face.path), characters), "woff")
    names = ttLib.TTFont(io.BytesIO(_common_glyphs(face)))["name"]
    font = _reduced(io.BytesIO(_common_glyphs(face)), characters, without="name")
    font["name"] = names  # it is reduced already: to reduce it again, fontTools would visit every record of the font
    return _saved(font, "woff")


@cache
def _common_glyphs(face: Face) -> bytes:
    return _saved(_reduced(str(face.path), "".join(sorted(_COMMON))), None)


def _reduced(source: str | io.BytesIO, characters: str, *, without: str | None = None) -> ttLib.TTFont:
    options = subset.Options(layout_features=_LAYOUT_FEATURES, recalc_timestamp=False)
    font = subset.load_font(source, options)
    if without is not None:
        del font[without]
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    return font


def _saved(font: ttLib.TTFont, flavor: str | None) -> bytes:
    packed = io.BytesIO()
    subset.save_font(font, packed, subset.Options(flavor=flavor, recalc_timestamp=False))
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
