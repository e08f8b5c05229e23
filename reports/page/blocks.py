"""What a report says, apart from how it looks: a page is an answer and sections of typed blocks.

Text is plain; `*word*` sets a word in italics. Numbers arrive as text, already rounded to what they can bear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Align = Literal["left", "number"]


@dataclass(frozen=True)
class KeyNumber:
    """A number a reader takes home, and what it is."""

    value: str
    label: str


@dataclass(frozen=True)
class Answer:
    """What the study found, in a sentence or two, and the numbers that carry it."""

    sentences: Sequence[str]
    numbers: Sequence[KeyNumber] = ()


@dataclass(frozen=True)
class Prose:
    """Paragraphs."""

    paragraphs: Sequence[str]


@dataclass(frozen=True)
class Definitions:
    """Terms and what they mean, or names and their values."""

    entries: Sequence[tuple[str, str]]
    boxed: bool = False


@dataclass(frozen=True)
class Picture:
    """A drawing: its file's name, the SVG, its width on paper in mm, and what someone who cannot see it should hear."""

    name: str
    svg: str
    width: float
    alt: str


@dataclass(frozen=True)
class Column:
    """A column of a table; columns side by side with the same `group` share a heading above their own."""

    header: str
    align: Align = "number"
    group: str = ""


@dataclass(frozen=True)
class Row:
    """A line of a table: texts and tiny pictures; `group` starts a block of lines under a heading of its own."""

    cells: Sequence[str | Picture]
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its caption; notes stand below it. Cells of a number column should share their decimals."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse a row that does not fit the columns."""
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"table {self.caption!r}: {len(self.columns)} columns, but a row of {len(row.cells)}")


@dataclass(frozen=True)
class Figure:
    """One picture, or two side by side, with a title of one sentence and the caption that explains them."""

    pictures: Sequence[Picture]
    title: str
    caption: str


@dataclass(frozen=True)
class Link:
    """A word that leads to a file; `target` is relative to the page's own folder."""

    text: str
    target: str


@dataclass(frozen=True)
class Digest:
    """A study among others: what it found, its main numbers and one picture, and where to read on."""

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
    """A heading, which may be empty, and what stands under it."""

    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole report. `warnings` are shown on every page of it, `facts` under the title.

    `cover` names the picture that stands for the study among others; the first that is small enough if none is named.
    `comparable` says whether what was published can stand beside what was found; if unsaid, if no data is simulated.
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
