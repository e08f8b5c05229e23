"""Hand-written damaged raw files and accounts of rows for the contract test, a module for each data set with some."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Edit = Callable[[bytes], bytes]
"""Takes the content of a simulated file and returns the damaged content."""
Account = Mapping[str, Callable[[Mapping[str, int]], int]]
"""For each part: takes the rows of the raw files and returns how many rows are kept and dropped together."""
EditLines = Callable[[list[str]], list[str]]


@dataclass(frozen=True)
class Damage:
    """A damaged raw file and what the refusal has to say after the file's name (a regular expression)."""

    what: str
    file: str
    edit: Edit
    says: str


def lines(change: EditLines) -> Edit:
    """Change the lines of a text file, given and taken without their breaks."""

    def edit(content: bytes) -> bytes:
        return "".join(f"{text}\n" for text in change(content.decode().splitlines())).encode()

    return edit


def line(number: int, change: Callable[[str], str]) -> Edit:
    """Change one line, counted from 1."""
    return lines(lambda found: [*found[: number - 1], change(found[number - 1]), *found[number:]])


def field(number: int, position: int, value: str, separator: str) -> Edit:
    """Replace one field, counted from 0, of one line."""

    def change(text: str) -> str:
        fields = text.split(separator)
        fields[position] = value
        return separator.join(fields)

    return line(number, change)


def unzipped(edit: Edit) -> Edit:
    """Damage the content of a gzip file, not the gzip file itself."""
    return lambda content: gzip.compress(edit(gzip.decompress(content)))
