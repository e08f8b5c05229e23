"""Characters that no font here can draw: the PDF would lack them, so the report names them.

A browser brings fonts of its own. In the PDF, a character that the report's typefaces lack comes from a font of this
machine, if one has it.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from fontTools.ttLib import TTCollection, TTFont, TTLibError
from matplotlib import font_manager

from reports.page import fonts
from reports.page.blocks import Figure, Page, Prose, Section

MOST_NAMED = 12
"""Number of characters named in the warning; the others are counted."""
_NOT_TEXT = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)
_NOT_DRAWN = {"Cc", "Cf", "Zs", "Zl", "Zp"}


def missing_glyphs(text: str) -> tuple[str, ...]:
    """The characters of a text that neither the report's typefaces nor a font of this machine has, in order.

    >>> missing_glyphs("plain café")
    ()
    """
    sought = dict.fromkeys(c for c in text if unicodedata.category(c) not in _NOT_DRAWN)
    missing = [c for c in sought if ord(c) not in _own()]
    for path in _system_fonts() if missing else ():
        known = _characters(path)
        missing = [c for c in missing if ord(c) not in known]
        if not missing:
            break
    return tuple(missing)


def warning_of(page: Page, document: str) -> str | None:
    """What to tell about a page of which no font here has some characters; None if they all can be drawn.

    document: the page as HTML.
    """
    missing = missing_glyphs(text_of(document))
    if not missing:
        return None
    named = "; ".join(f"U+{ord(c):04X} {unicodedata.name(c, 'without a name').lower()}" for c in missing[:MOST_NAMED])
    more = f"; and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
    figures = [str(number) for number, text in _figures(page) if set(text).intersection(missing)]
    where = f" In figures: {', '.join(figures)}." if figures else ""
    return (
        f"No font on this machine has {len(missing)} of the characters of this report, so the PDF lacks them or shows "
        f"boxes: {named}{more}.{where} Install a font that has them, and write the report again."
    )


def with_warning(page: Page, warning: str) -> Page:
    """The page with the warning as its last section."""
    return replace(page, sections=[*page.sections, Section("Characters without a font", [Prose([warning])])])


def text_of(document: str) -> str:
    """The text of HTML or SVG, without tags and styles."""
    return html.unescape(_NOT_TEXT.sub(" ", document))


def _figures(page: Page) -> Iterator[tuple[int, str]]:
    """The number of each figure, as the page counts them, and the text of its pictures."""
    blocks = [block for section in page.sections for block in section.blocks if isinstance(block, Figure)]
    for number, figure in enumerate(blocks, start=1):
        yield number, " ".join(text_of(picture.svg) for picture in figure.pictures)


@cache
def _own() -> frozenset[int]:
    """The characters that all typefaces of the report have."""
    return frozenset.intersection(*(_characters(str(face.path)) for face in fonts.PAGE_FACES))


def _system_fonts() -> list[str]:
    return [*(str(face.path) for face in fonts.PAGE_FACES), *sorted(font_manager.findSystemFonts())]


@cache
def _characters(path: str) -> frozenset[int]:
    """The characters that a font file has; none if it cannot be read."""
    try:
        if path.lower().endswith((".ttc", ".otc")):
            return frozenset().union(*(font.getBestCmap() or () for font in TTCollection(path, lazy=True).fonts))
        return frozenset(TTFont(path, lazy=True).getBestCmap() or ())
    except (OSError, TTLibError):
        return frozenset()
