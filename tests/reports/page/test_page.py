from __future__ import annotations

import re

import pytest

from reports.page.blocks import Answer, Column, Page, Picture, Prose, Row, Section, Table, italic
from reports.page.html import standalone_svg, to_html
from reports.page.wording import change, fixed, listed, points, share


def page_of(*blocks: Prose | Table, title: str = "Title") -> Page:
    return Page("Study", title, Answer([f"{italic('It')} is so."]), [Section("Heading", blocks)])


def test_a_row_that_does_not_fit_its_table_is_refused() -> None:
    with pytest.raises(ValueError, match="table 'Sizes': 2 columns, but a row of 1"):
        Table("Sizes", [Column("a"), Column("b")], [Row(["1"])])


def test_only_italic_sets_italics_and_everything_else_is_text() -> None:
    html = to_html(page_of(Prose([f"a {italic('b')} <i>c</i> *3* or 4* `x` _y_"])))
    assert "a <i>b</i> &lt;i&gt;c&lt;/i&gt; *3* or 4* `x` _y_" in html
    assert "<i>It</i> is so." in html


def test_a_title_cannot_end_the_style_it_is_quoted_in() -> None:
    html = to_html(page_of(title='"} </style><script>x'))
    assert "<script" not in html
    assert html.count("</style>") == 1


def test_tables_are_numbered_and_grouped_columns_share_a_heading() -> None:
    columns = [Column("", "left"), Column("mean", group="Depth"), Column("sd", group="Depth")]
    table = Table("Sizes.", columns, [Row(["tree", "4.2", "0.5"])])
    html = to_html(page_of(table, table))
    assert "Table 1." in html
    assert "Table 2." in html
    assert re.search(r'<th colspan="2" class="named"><span>Depth</span></th>', html)


def test_embedded_fonts_hold_the_glyphs_of_the_page_and_no_more() -> None:
    few, many = (len(to_html(page_of(Prose([text])))) for text in ("abc", "abcdefghijklmnopqrstuvwxyzÄÖÜäöüß±≥"))
    assert few < many < few + 60_000


def test_a_picture_on_its_own_carries_its_font_and_says_what_it_shows() -> None:
    svg = standalone_svg(Picture("p", '<svg width="9"><text>Tree</text></svg>', 90.0, "A <tree>"))
    assert svg.startswith('<svg width="9">\n<title>A &lt;tree&gt;</title>\n<style>@font-face')
    assert "https" not in svg


def test_numbers_are_rounded_to_what_they_bear_with_a_true_minus() -> None:
    assert [share(0.88849), share(None)] == ["0.888", "–"]
    assert [points(-0.0341), points(0.0), points(None)] == ["−3.4", "0.0", "–"]
    assert [change(0.04), change(-0.04), change(46.3)] == ["0.0", "0.0", "+46.3"]
    assert fixed(-12345.678, 1) == "−12,345.7"


@pytest.mark.parametrize(("words", "said"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_a_list_is_said_in_words(words: list[str], said: str) -> None:
    assert listed(words) == said
