"""Labels that no page expects: control characters, markup, and characters without a font."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
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
    if shutil.which("pdftotext"):
        told = subprocess.run(["pdftotext", str(rendered.pdf), "-"], capture_output=True, text=True, check=True).stdout
        assert unprintable(told, f"{LINES}\f") is None
        assert "3* ho\\x1b[31mtel" in told


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler) is not on this machine")
def test_a_long_word_is_broken_and_neither_leaves_the_page_nor_makes_all_of_it_smaller(tmp_path: Path) -> None:
    def widths(label: str) -> list[tuple[float, float]]:
        """Right end and height of every word on the pages."""
        blocks = [
            Prose([f"Short. {label}"]),
            Figure([drawn("x")], f"Short. {label}", label),
            Definitions([(label, label)]),
        ]
        page = Page("study", "Title", Answer([label]), [Section("Heading", blocks)])
        pdf = write_page(page, tmp_path, "page", created=datetime(2026, 1, 1, tzinfo=UTC)).pdf
        told = subprocess.run(["pdftotext", "-bbox", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
        found = re.findall(r'yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">Short', told)
        ends = [float(end) for end in re.findall(r'xMax="([\d.]+)"', told)]
        return [(max(ends), float(bottom) - float(top)) for top, _, bottom in found]

    short, long = widths("word"), widths("Donaudampfschifffahrt" * 20)
    assert [height for _, height in long] == pytest.approx([height for _, height in short])
    assert max(end for end, _ in long) < 595 - 40, "points of an A4 page, without its margin"


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
