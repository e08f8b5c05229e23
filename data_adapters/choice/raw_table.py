"""The file of choices, in any supported format, as named columns of text."""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyreadstat
from openpyxl.utils.exceptions import InvalidFileException

from data_adapters.choice.mapping import RawTable
from data_adapters.source import strict
from models.records.errors import RawDataError


def read_raw_table(path: Path, described: RawTable) -> strict.Columns:
    """All columns of the file; an empty cell is an empty text. Raises RawDataError for a damaged or empty file."""
    if described.format == "csv":
        return _read_csv(path, described.separator)
    if described.format == "xlsx":
        return _read_spreadsheet(path, described.sheet)
    return _read_statistics_file(path, described.format)


def _read_csv(path: Path, separator: str) -> strict.Columns:
    rows = strict.read_rows(path, separator=separator, quoted=True)
    if not any(rows.fields[:1]):  # no line, or an empty one
        raise RawDataError(
            f"{path.name}: expected a header, found {'an empty line' if rows.fields else 'an empty file'}."
        )
    first = rows.fields[0]
    header = [first[0].removeprefix(strict.BYTE_ORDER_MARK), *first[1:]]  # Excel begins its CSV files with one
    _refuse_repeated(path, header)
    return rows.after_header(first).columns(header, final_break=False)


def _read_spreadsheet(path: Path, sheet: str | None) -> strict.Columns:
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, OSError) as error:
        raise RawDataError(f"{path.name}: this is not a complete Excel file ({error}).") from error
    if sheet is not None and sheet not in book.sheetnames:
        raise RawDataError(f"{path.name}: there is no sheet {sheet!r}. Sheets: {', '.join(book.sheetnames)}.")
    cells = (book[sheet] if sheet is not None else book.worksheets[0]).iter_rows(values_only=True)
    fields = [[_text(value) for value in row] for row in cells]
    book.close()
    while fields and not any(fields[-1]):  # rows that were formatted or emptied
        fields.pop()
    if not fields:
        raise RawDataError(f"{path.name}: expected a header, found an empty sheet.")
    width = max((column for column, name in enumerate(fields[0], 1) if name), default=0)
    fields = [row if any(row[width:]) else row[:width] for row in fields]  # columns that were formatted or emptied
    _refuse_repeated(path, fields[0])
    return _columns(path, fields[0], fields[1:], first=2, unit="row")


def _read_statistics_file(path: Path, form: str) -> strict.Columns:
    read = pyreadstat.read_sav if form == "sav" else pyreadstat.read_dta
    try:
        values, _ = read(path, output_format="dict")
    except (pyreadstat.ReadstatError, OSError) as error:
        raise RawDataError(f"{path.name}: this is not a complete {form} file ({error}).") from error
    fields = [[_text(value) for value in row] for row in zip(*values.values(), strict=True)]
    return _columns(path, list(values), fields, first=1, unit="case")


def _columns(path: Path, header: Sequence[str], fields: list[list[str]], *, first: int, unit: str) -> strict.Columns:
    lines = list(range(first, first + len(fields)))
    return strict.Rows(path.name, fields, lines, ended=True, unit=unit).columns(header)


def _refuse_repeated(path: Path, header: Iterable[str]) -> None:
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        raise RawDataError(f"{path.name}, header: the column {repeated[0]!r} appears more than once.")


def _text(value: Any) -> str:
    """A cell as a mapping would write it: whole numbers without a point, nothing as an empty text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.10g}"
    return str(value)
