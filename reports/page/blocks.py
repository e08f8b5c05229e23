"""The content of a report, without its layout: a page is an answer and sections of typed blocks.

Text is plain: it may come from data, and no character in it is markup. `italic` sets words in italics. Numbers are
text, already rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ITALIC_START, ITALIC_END = "\x02", "\x03"
"""Around words in italics. Data holds no control characters, so none of it looks like markup."""
Align = Literal["left", "number"]


def italic(words: str) -> str:
    """The words, marked to be set in italics."""
    return f"{ITALIC_START}{words.replace(ITALIC_START, '').replace(ITALIC_END, '')}{ITALIC_END}"


@dataclass(frozen=True)
class KeyNumber:
    """A main number of a report, and its label."""

    value: str
    label: str


@dataclass(frozen=True)
class Answer:
    """The result of the study in a sentence or two, with its main numbers."""

    sentences: Sequence[str]
    numbers: Sequence[KeyNumber] = ()


@dataclass(frozen=True)
class Prose:
    """Paragraphs."""

    paragraphs: Sequence[str]


@dataclass(frozen=True)
class Definitions:
    """Terms with their meanings, or names with their values."""

    entries: Sequence[tuple[str, str]]
    boxed: bool = False


@dataclass(frozen=True)
class Picture:
    """A drawing: file name, SVG, width on paper in mm, and alternative text."""

    name: str
    svg: str
    width: float
    alt: str


@dataclass(frozen=True)
class Column:
    """A column of a table; neighbouring columns with the same `group` share a heading above their own."""

    header: str
    align: Align = "number"
    group: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table: texts and small pictures; `group` is the heading of the rows that start here."""

    cells: Sequence[str | Picture]
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its caption, and a note below it. Cells of a number column should have equal decimals."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str = ""

    def __post_init__(self) -> None:
        """Reject a row that does not fit the columns."""
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"table {self.caption!r}: {len(self.columns)} columns, but a row of {len(row.cells)}")


@dataclass(frozen=True)
class Figure:
    """One picture, or two side by side, with a title of one sentence and a caption."""

    pictures: Sequence[Picture]
    title: str
    caption: str


@dataclass(frozen=True)
class Link:
    """A link to a file; `target` is relative to the folder of the page."""

    text: str
    target: str


@dataclass(frozen=True)
class Digest:
    """The entry of a study in the index: result, main numbers, one picture, and links."""

    study: str
    title: str
    found: str
    numbers: Sequence[KeyNumber]
    picture: Picture | None
    facts: Sequence[str]
    links: Sequence[Link]
    warnings: Sequence[str] = ()


Block = Prose | Definitions | Table | Figure | Digest


@dataclass(frozen=True)
class Section:
    """A heading, which may be empty, and its blocks."""

    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole report. `warnings` are shown on every page, `facts` under the title.

    cover: name of the picture shown in the index; if empty, the first that is small enough.
    comparable: whether published values may be compared with those found; if None, only on real data.
    """

    study: str
    title: str
    answer: Answer
    sections: Sequence[Section]
    facts: Sequence[str] = ()
    warnings: Sequence[str] = ()
    cover: str = ""
    comparable: bool | None = None

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """The pictures of the page in reading order."""
        figures = [block for section in self.sections for block in section.blocks if isinstance(block, Figure)]
        return tuple(picture for figure in figures for picture in figure.pictures)
