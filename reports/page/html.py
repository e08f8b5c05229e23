"""A page as one self-contained HTML document: no script, no network, no other file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from models.records.plain_text import escaped
from reports.page import fonts, style
from reports.page.blocks import ITALIC_END, ITALIC_START, Block, Column, Page, Picture

LINES = "\n\t"
"""Control characters that a page may hold: line breaks and indents."""
_ITALIC = re.compile(f"{ITALIC_START}([^{ITALIC_START}{ITALIC_END}]*){ITALIC_END}")
_GENERATED_BY_CSS = "0123456789 of ·"  # the page numbers of the PDF


class _Group(NamedTuple):
    header: str
    span: int


class _Placed(NamedTuple):
    """A block with its kind, and its number among the blocks of that kind."""

    kind: str
    number: int
    block: Block


def to_html(page: Page) -> str:
    """The page as HTML. The same page always gives the same bytes."""
    template = _environment().get_template("report.html.j2")
    content = {"page": page, "sections": _placed(page), "style": style, "fonts": fonts}
    text = escaped(template.render(content, font_faces=""), LINES) + _GENERATED_BY_CSS
    html = template.render(content, font_faces=Markup(fonts.font_face_css(fonts.PAGE_FACES, text)))
    return escaped(html, LINES)


def standalone_svg(picture: Picture) -> str:
    """The picture as an SVG file with its fonts embedded."""
    drawn, alt = escaped(picture.svg, LINES), escape(escaped(picture.alt, LINES))
    css = fonts.font_face_css(fonts.FIGURE_FACES, drawn)
    end = drawn.index(">") + 1
    return f"{drawn[:end]}\n<title>{alt}</title>\n<style>{css}</style>{drawn[end:]}\n"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {"italics": _italics, "inline": _inline, "cell": _cell, "groups": _groups, "css_string": _css_string}
    environment.filters |= filters
    return environment


def _placed(page: Page) -> list[tuple[str, list[_Placed]]]:
    """The headings with their blocks, each numbered within its kind."""
    count: Counter[str] = Counter()

    def placed(block: Block) -> _Placed:
        kind = type(block).__name__.lower()
        count[kind] += 1
        return _Placed(kind, count[kind], block)

    return [(section.heading, [placed(block) for block in section.blocks]) for section in page.sections]


def _italics(text: str) -> Markup:
    return Markup(_ITALIC.sub(r"<i>\1</i>", str(escape(text))))


def _cell(content: str | Picture) -> Markup:
    return _inline(content) if isinstance(content, Picture) else _italics(content)


def _inline(picture: Picture) -> Markup:
    """The SVG for use inside a page: with unique ids and its alternative text."""
    svg = re.sub(r'\bid="', f'id="{picture.name}-', picture.svg)
    svg = re.sub(r'(url\(|href=")#', rf"\1#{picture.name}-", svg)
    label = f'role="img" aria-label="{escape(picture.alt)}"'
    return Markup(svg.replace("<svg ", f"<svg {label} ", 1))


def _groups(columns: Sequence[Column]) -> list[_Group]:
    """The headings that span several columns; empty if no column has a group."""
    groups = [_Group(header, len(list(members))) for header, members in groupby(columns, key=lambda c: c.group)]
    return groups if any(group.header for group in groups) else []


def _css_string(text: str) -> Markup:
    """The text as a CSS string. It cannot end the rule or the style element around it."""
    plain = escaped(text)
    safe = "".join(c if c.isalnum() or c in " .,:;-–·()" else f"\\{ord(c):x} " for c in plain)
    return Markup(f'"{safe}"')
