"""Labels that no page expects: control characters, markup, and characters without a font."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from models.records.plain_text import unprintable
from reports.page import glyphs, style
from reports.page.blocks import Answer, Column, Definitions, Figure, Page, Picture, Prose, Row, Section, Table, italic
from reports.page.html import LINES, standalone_svg, to_html
from reports.page.render import write_page

HOSTILE = "3* ho\x1b[31mtel\x0b \u202e\x00\ud800\uffff *bold* _x_ `y` $a_{b$ [red] :smile: <b>&"
SHOWN = r"3* ho\x1b[31mtel\x0b \u202e\x00\ud800\uffff *bold* _x_ `y` $a_{b$ [red] :smile: &lt;b&gt;&amp;"


def drawn(label: str) -> Picture:
    with style.house_style():
        figure = style.new_figure(60, 20)
        figure.text(0.1, 0.5, label, parse_math=False)
    return Picture("labels", style.to_svg(figure), 60, label)


def page_of(label: str) -> Page:
    blocks = [
        Prose([label]),
        Definitions([(label, label)]),
        Table(label, [Column(label, "left", group=label)], [Row([label], group=label)], note=label),
        Figure([drawn(label)], label, label),
    ]
    return Page(label, label, Answer([label]), [Section(label, blocks)], facts=[label], warnings=[label])


def test_control_characters_are_shown_as_escapes_and_stars_and_brackets_as_they_are() -> None:
    html = to_html(page_of(HOSTILE))
    assert unprintable(html, LINES) is None
    assert html.count(SHOWN) > 12
    assert "<i>" not in html
    assert "<i>b &lt;i&gt; c</i>" in to_html(page_of(italic("b <i> c")))


def test_a_figure_with_control_characters_is_well_formed() -> None:
    picture = drawn(HOSTILE)
    for svg in (picture.svg, standalone_svg(picture)):
        assert unprintable(svg, LINES) is None
        ElementTree.fromstring(svg)
        assert SHOWN in svg


def test_the_pdf_and_its_title_hold_no_control_characters(tmp_path: Path) -> None:
    rendered = write_page(page_of(HOSTILE), tmp_path, "page", created=datetime(2026, 1, 1, tzinfo=UTC))
    assert rendered.pdf.read_bytes().startswith(b"%PDF")


def test_characters_without_a_font_are_named_once_in_the_log_and_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(glyphs.font_manager, "findSystemFonts", list)
    with caplog.at_level(logging.WARNING, logger="prefstudy"):
        rendered = write_page(page_of("寿司 🍣 tea"), tmp_path, "page", created=datetime(2026, 1, 1, tzinfo=UTC))
    [record] = caplog.records
    for said in ("3 of the characters", "U+5BFF cjk unified ideograph-5bff", "U+1F363 sushi", "In figures: 1."):
        assert said in record.getMessage()
        assert said in rendered.html.read_text("utf-8")


def test_a_font_of_the_machine_that_has_them_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glyphs.font_manager, "findSystemFonts", lambda: ["/fonts/broken.ttc", "/fonts/asian.ttf"])
    real = glyphs._characters
    monkeypatch.setattr(
        glyphs, "_characters", lambda path: frozenset(map(ord, "寿司")) if path == "/fonts/asian.ttf" else real(path)
    )
    assert glyphs.missing_glyphs("寿司 tea\u200d") == ()
    assert glyphs.missing_glyphs("寿司 🍣") == ("🍣",)


def test_a_page_of_common_characters_has_no_warning() -> None:
    page = page_of("café – “tea” ≥ 3 · ✓"[:-2])
    assert glyphs.warning_of(page, to_html(page)) is None
