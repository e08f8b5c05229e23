"""Strict reading of delimited text: every error names file, line, column, value and what was expected."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data_adapters.files.unpacked import read_unpacked
from data_adapters.source.faults import first_of
from data_adapters.source.spelling import IN_PROSE, SHOWN, other_form, quoted, same_looks, unfit_name
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.errors import RawDataError
from models.records.plain_text import escaped, unprintable

WHOLE_NUMBER = r"^-?[0-9]+$"
"""Arrow alone would also read hexadecimal numbers."""
MORE_DIGITS = r"^[^1-9eE]*[1-9]([^0-9eE]?[0-9]){17}"
"""A number of more than the 17 digits that a float keeps; no measurement has so many."""
SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
BYTE_ORDER_MARK = "\ufeff"
"""Invisible, so that an error message has to name it."""


@dataclass(frozen=True)
class Rows:
    """The fields of a file, row by row.

    lines: each row's line number in the file, from 1. ended: whether the last line ends in a line break.
    unit: what these numbers count: lines, a spreadsheet's rows, or a statistics program's cases.
    separator: what separates the fields of a text file; None for a file of another kind.
    """

    name: str
    fields: list[list[str]]
    lines: list[int]
    ended: bool
    unit: str = "line"
    separator: str | None = None

    def error(self, row: int, problem: str) -> RawDataError:
        """An error about one row."""
        return RawDataError(f"{escaped(self.name)}, {self.unit} {self.lines[row]}: {problem}.")

    def separator_hint(self) -> str:
        """A sentence about the separator, if the first row has only one field and seems to have another separator."""
        if self.separator is None or not self.fields or len(self.fields[0]) != 1:
            return ""
        [whole] = self.fields[0]
        found = max(set(SEPARATORS) - {self.separator}, key=whole.count)
        used = SEPARATORS.get(self.separator, repr(self.separator))
        return f". The fields seem to be separated by {SEPARATORS[found]}, not by {used}" if found in whole else ""

    def columns(self, names: Sequence[str], *, final_break: bool = True) -> Columns:
        """The rows as named columns.

        final_break: whether upstream ends the last line with a line break; a file without one is then cut off.
        Raises RawDataError for a file that is cut off, and for a row with more or fewer fields.
        """
        wrong = [row for row, fields in enumerate(self.fields) if len(fields) != len(names)]
        if wrong:
            counts = [f"{len(self.fields[row])}" if self.fields[row] else "an empty line" for row in wrong]
            wanted = escaped(", ".join(names))
            found = first_of(counts[0], self.others(wrong, counts))
            raise self.error(wrong[0], f"expected {len(names)} fields ({wanted}), found {found}{self.separator_hint()}")
        if final_break and self.fields and not self.ended:
            last = quoted(self.fields[-1][-1])
            raise self.error(-1, f"expected a line break after {last}, found the end of the file")
        values = zip(*self.fields, strict=True) if self.fields else ((),) * len(names)
        return Columns(self, dict(zip(names, map(list, values), strict=True)))

    def others(self, rows: Sequence[int], found: Sequence[str]) -> list[str]:
        """The line and what was found there, for each row after the first."""
        return [f"{self.unit} {self.lines[row]} {what}" for row, what in zip(rows[1:], found[1:], strict=True)]

    def require_count(self, expected: int, of_what: str) -> None:
        """Raise RawDataError unless there are as many rows."""
        if len(self.fields) != expected:
            raise RawDataError(f"{self.name}: expected {expected:,} {of_what}, found {len(self.fields):,}.")

    def require_some(self, of_what: str) -> None:
        """Raise RawDataError if there is no row."""
        if not self.fields:
            raise RawDataError(f"{self.name}: expected {of_what}, found none.")

    def after_header(self, header: Sequence[str]) -> Rows:
        """The rows below the first, which has to be `header`. Raises RawDataError if it is not."""
        found = self.fields[0] if self.fields else []
        if found != list(header):
            wanted = ", ".join(header)
            shown = ", ".join(found).replace(BYTE_ORDER_MARK, "a byte order mark and ") or "nothing"
            most = max(SHOWN, len(wanted))
            shown = escaped(shown[:most]) + (" ..." if len(shown) > most else "")
            raise RawDataError(
                f"{self.name}, line 1: expected the header {wanted}, found {shown}{self.separator_hint()}."
            )
        return replace(self, fields=self.fields[1:], lines=self.lines[1:])


@dataclass(frozen=True)
class Columns:
    """Named columns of strings, with methods that read them as the expected type.

    An error names every row of the column that is wrong, up to a limit. remarks: by column and text, what the file
    itself says about that text; an error that shows the text says it too.
    """

    rows: Rows
    texts: Mapping[str, list[str]]
    remarks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def text(self, column: str) -> list[str]:
        """A column of strings that are not empty. Raises RawDataError for one that is."""
        self.require(column, np.array([bool(text.strip()) for text in self.texts[column]], dtype=np.bool_), "a text")
        return self.texts[column]

    def names(self, column: str) -> list[str]:
        """A column of ids. Raises RawDataError for one that is empty or could be taken for another one.

        That is: one with a space at an end, a line break or a tab, the mark of a missing or infinite number (`nan`,
        `inf`) or of a spreadsheet's error (`#N/A`), or with the same letters as another in another Unicode form.
        """
        texts = self.text(column)
        plain = np.array([unprintable(text) is None for text in texts], dtype=np.bool_)
        self.require(column, plain, "a text without line breaks and tabs")
        for expected in (
            "without a space at its ends",
            "not the mark of a missing number, an infinite one or an error",
        ):
            fits = np.array([unfit_name(text) != expected for text in texts], dtype=np.bool_)
            self.require(column, fits, f"an id {expected}")
        twins = same_looks(texts)
        expected = "the same letters in one Unicode form; the column has this text in two forms that look the same"
        self.require(column, np.array([text not in twins for text in texts], dtype=np.bool_), expected)
        return texts

    def integers(self, column: str, *, minimum: int, maximum: int | None = None) -> IntArray:
        """A column of whole numbers in [minimum, maximum]. Raises RawDataError for any other value."""
        upper = f"{minimum} or more" if maximum is None else f"{minimum} to {maximum}"
        expected = f"a whole number, {upper}"
        plain = pc.match_substring_regex(pa.array(self.texts[column], pa.string()), WHOLE_NUMBER)
        self.require(column, plain.to_numpy(zero_copy_only=False), expected)
        values = cast(IntArray, self._cast(column, pa.int64(), expected))
        self.require(column, (values >= minimum) & (values <= (values if maximum is None else maximum)), expected)
        return values

    def numbers(self, column: str, *, minimum: float = -np.inf, maximum: float = np.inf) -> FloatArray:
        """A column of finite numbers in [minimum, maximum]. Raises RawDataError for any other value."""
        expected = "a number" if np.isinf([minimum, maximum]).all() else f"a number in [{minimum:g}, {maximum:g}]"
        too_long = pc.match_substring_regex(pa.array(self.texts[column], pa.string()), MORE_DIGITS)
        self.require(column, ~too_long.to_numpy(zero_copy_only=False), f"{expected}, of 17 digits at most")
        values = cast(FloatArray, self._cast(column, pa.float64(), expected))
        self.require(column, np.isfinite(values) & (values >= minimum) & (values <= maximum), expected)
        return values

    def numbers_or_missing(
        self, column: str, *, missing: Sequence[str] = ("",), minimum: float = -np.inf, maximum: float = np.inf
    ) -> FloatArray:
        """Like `numbers`, but NaN where the text is one of `missing`."""
        known = ~np.isin(np.array(self.texts[column], dtype=object), missing)
        values = np.full(len(known), np.nan)
        values[known] = self.only(known).numbers(column, minimum=minimum, maximum=maximum)
        return values

    def labels(self, column: str, meaning: Mapping[str, str | bool | None]) -> NDArray[Any]:
        """The meaning of each code of a column; None means missing. Raises RawDataError for any other code."""
        texts = self.texts[column]
        known = np.array([text in meaning for text in texts], dtype=np.bool_)
        self.require(column, known, f"one of {', '.join(map(quoted, meaning))}", known=meaning)
        return np.array([meaning[text] for text in texts], dtype=object)

    def require(self, column: str, holds: BoolArray, expected: str, *, known: Iterable[str] = ()) -> None:
        """Raise RawDataError naming the rows in which `holds` (n,) is false.

        known: the texts that would be right; the error tells if one of them only looks the same.
        """
        if not holds.all():
            raise self._error(column, np.flatnonzero(~holds).tolist(), expected, known)

    def require_unique(self, column: str, *further: str) -> None:
        """Raise RawDataError if a value of the column, or of it and further ones together, comes twice."""
        first: dict[tuple[str, ...], int] = {}
        for row, key in enumerate(zip(*(self.texts[name] for name in (column, *further)), strict=True)):
            if first.setdefault(key, row) != row:
                where = f"{self.rows.unit} {self.rows.lines[first[key]]}"
                together = f" together with {', '.join(further)}" if further else ""
                raise self._error(column, [row], f"a new value{together} ({where} has this one)")

    def only(self, keep: BoolArray) -> Columns:
        """The rows for which `keep` (n,) is true."""
        kept = np.flatnonzero(keep).tolist()
        rows = replace(
            self.rows, fields=[self.rows.fields[row] for row in kept], lines=[self.rows.lines[row] for row in kept]
        )
        return replace(self, rows=rows, texts={name: [own[row] for row in kept] for name, own in self.texts.items()})

    def _cast(self, column: str, to: pa.DataType, expected: str) -> IntArray | FloatArray:
        texts = pa.array(self.texts[column], pa.string())
        try:
            return cast(IntArray | FloatArray, texts.cast(to).to_numpy(zero_copy_only=False))
        except pa.ArrowInvalid:
            wrong = [row for row, text in enumerate(texts) if not _casts(text, to)]
            raise self._error(column, wrong, expected) from None

    def _error(self, column: str, wrong: Sequence[int], expected: str, known: Iterable[str] = ()) -> RawDataError:
        """An error about the rows of a column that are wrong, in their order."""
        text = self.texts[column][wrong[0]]
        found = [quoted(self.texts[column][row]) for row in wrong]
        twin = other_form(text, known)
        remarks = [
            *(
                []
                if twin is None
                else ["which only looks like one of them: its Unicode form is another one (NFC, NFD)"]
            ),
            *filter(None, [self.remarks.get(column, {}).get(text)]),
        ]
        first = ", ".join([found[0], *remarks])
        others = self.rows.others(wrong, found)
        return self.rows.error(
            wrong[0], f"column {escaped(column)}: expected {expected}, found {first_of(first, others)}"
        )


def read_rows(path: Path, *, separator: str, quoted: bool = False, encoding: str = "UTF-8") -> Rows:
    r"""Split a text file, gzipped if its name ends in .gz, into fields.

    quoted: a field may stand in double quotes, as in CSV. Raises RawDataError if the file cannot be read, is not of its
    encoding, has a NUL byte, is a damaged gzip file, or has a field whose quotes do not match.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = Path(folder, "matches.csv").write_text("winner,loser\n1,2\n")
    ...     read_rows(Path(folder, "matches.csv"), separator=",").fields
    [['winner', 'loser'], ['1', '2']]
    """
    text = _decode(path.name, read_unpacked(path), encoding)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    fields: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting, strict=True)
    try:
        for row in reader:
            fields.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise RawDataError(f"{path.name}, line {reader.line_num}: {error}.") from error
    rows = Rows(path.name, fields, lines, ended=text.endswith(("\n", "\r")), separator=separator)
    if unprintable(text.removeprefix(BYTE_ORDER_MARK), IN_PROSE):
        raise _unprintable_field(rows)
    return rows


def refuse_unprintable(columns: Columns) -> Columns:
    """The columns. Raises RawDataError if a name or a cell has a character that no file should hold, except breaks."""
    for name, texts in columns.texts.items():
        bad = unprintable(name, IN_PROSE)
        if bad is not None:
            shown = escaped(name)
            raise RawDataError(f"{columns.rows.name}, header: the column {shown} has the character {escaped(bad)}.")
        if unprintable("".join(texts), IN_PROSE):
            fine = np.array([unprintable(text, IN_PROSE) is None for text in texts], dtype=np.bool_)
            columns.require(name, fine, "a text without control characters")
    return columns


def _unprintable_field(rows: Rows) -> RawDataError:
    """An error about the fields of a text file that have a character which no file should hold."""
    bad = [
        (row, f"{escaped(character)} in column {position}")
        for row, fields in enumerate(rows.fields)
        for position, text in enumerate(fields, 1)
        if (character := unprintable(text.removeprefix(BYTE_ORDER_MARK) if row == 0 else text, IN_PROSE)) is not None
    ]
    where = [row for row, _ in bad]
    what = [found for _, found in bad]
    others = rows.others(where, what)
    return rows.error(where[0], f"expected a text without control characters, found {first_of(what[0], others)}")


def _decode(name: str, content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _no_text(name, content, error.start, error.end, encoding) from error
    if b"\0" in content:  # decodes in every encoding, but no text contains it
        at = content.index(b"\0")
        raise _no_text(name, content, at, at + 1, encoding)
    return text


def _no_text(name: str, content: bytes, start: int, end: int, encoding: str) -> RawDataError:
    line = content.count(b"\n", 0, start) + 1
    wide = ". The file seems to be UTF-16: save it as UTF-8" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
    return RawDataError(
        f"{name}, line {line}: expected {encoding.removesuffix('-SIG')} text, found the bytes "
        f"{content[start:end]!r}{wide}."
    )


def _casts(text: pa.Scalar, to: pa.DataType) -> bool:
    try:
        text.cast(to)
    except pa.ArrowInvalid:
        return False
    return True
