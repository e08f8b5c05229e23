"""The report's typefaces (Source Serif and Source Sans, SIL Open Font Licence), cut down to the glyphs a page needs."""

from __future__ import annotations

import base64
import io
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from fontTools import subset
from matplotlib import font_manager

SERIF = "Source Serif Pro"
SANS = "Source Sans Pro"

_LAYOUT_FEATURES = ["ccmp", "kern", "locl", "mark"]  # no ligatures: a PDF would not give back the letters of one


class Face(NamedTuple):
    """One cut of a family, and the package and file it comes in."""

    family: str
    weight: int
    style: str
    package: str
    file: str

    @property
    def path(self) -> Path:
        """Where the font file lies."""
        return Path(str(files(self.package))) / "files" / self.file


FIGURE_FACES = (
    Face(SANS, 400, "normal", "font_source_sans_pro", "SourceSansPro-Regular.ttf"),
    Face(SANS, 600, "normal", "font_source_sans_pro", "SourceSansPro-Semibold.ttf"),
)
PAGE_FACES = (
    *FIGURE_FACES,
    Face(SERIF, 400, "normal", "font_source_serif_pro", "SourceSerifPro-Regular.ttf"),
    Face(SERIF, 400, "italic", "font_source_serif_pro", "SourceSerifPro-It.ttf"),
    Face(SERIF, 600, "normal", "font_source_serif_pro", "SourceSerifPro-Semibold.ttf"),
)


def font_face_css(faces: tuple[Face, ...], text: str) -> str:
    """`@font-face` rules that embed `faces` with no more than the glyphs of `text`."""
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
    """Make the figures' faces known to matplotlib, each under its family and true weight."""
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
