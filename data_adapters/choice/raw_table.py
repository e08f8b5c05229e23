"""The file of choices, in any supported format, as named columns of text."""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyreadstat

from data_adapters.choice.mapping import RawTable
from data_adapters.files.unpacked import refuse_large_zip
from data_adapters.source import strict
from data_adapters.source.faults import first_of
from models.records.errors import RawDataError
from models.records.plain_text import escaped

MOST_CELLS = 50_000_000
"""Cells that are read at most; a damaged file may declare any number."""


def read_raw_table(path: Path, described: RawTable, mapping: str) -> strict.Columns:
    """All columns of the file; an empty cell is an empty text. Raises RawDataError for a damaged or empty file.

    mapping: name of the mapping's file, for messages.
    """
    if described.format == "csv":
        found = _read_csv(path, described.separator, mapping)
    elif described.format == "xlsx":
        found = _read_spreadsheet(path, described.sheet)
    elif described.format == "parquet":
        found = _read_parquet(path)
    else:
        found = _read_statistics_file(path, described.format)
    return strict.refuse_unprintable(found)


def _read_csv(path: Path, separator: str, mapping: str) -> strict.Columns:
    rows = strict.read_rows(path, separator=separator, quoted=True)
    if not any(rows.fields[:1]):  # no line, or an empty one
        raise RawDataError(
            f"{path.name}: expected a header, found {'an empty line' if rows.fields else 'an empty file'}."
        )
    first = rows.fields[0]
    header = [first[0].removeprefix(strict.BYTE_ORDER_MARK), *first[1:]]  # Excel begins its CSV files with one
    _refuse_repeated(path, header)
    hint = rows.separator_hint()
    if hint:
        raise RawDataError(
            f"{path.name}, line 1: expected several columns, found one{hint} (file.separator of {mapping})."
        )
    return rows.after_header(first).columns(header, final_break=False)


def _read_spreadsheet(path: Path, sheet: str | None) -> strict.Columns:
    try:
        refuse_large_zip(path)
        fields = _cells(path, sheet, values=True)
        formulas = _cells(path, sheet, values=False) if _has_formulas(path) else fields
    except RawDataError:
        raise
    except Exception as error:  # damaged XML makes the reader raise any error
        raise RawDataError(f"{path.name}: this is not a complete Excel file ({_words(error)}).") from error
    while fields and not any(fields[-1]):  # rows that were formatted or emptied
        fields.pop()
    if not fields:
        raise RawDataError(f"{path.name}: expected a header, found an empty sheet.")
    _refuse_uncomputed(path, fields, formulas)
    width = max((column for column, name in enumerate(fields[0], 1) if name), default=0)
    fields = [[*row, *[""] * (width - len(row))] for row in fields]
    fields = [row if any(row[width:]) else row[:width] for row in fields]  # columns that were formatted or emptied
    _refuse_repeated(path, fields[0])
    return _columns(path, fields[0], fields[1:], first=2, unit="row")


def _cells(path: Path, sheet: str | None, *, values: bool) -> list[list[str]]:
    """The cells of a sheet as texts, row by row; values: those last computed, else formulas as they are written."""
    book = openpyxl.load_workbook(path, read_only=True, data_only=values)
    try:
        if sheet is not None and sheet not in book.sheetnames:
            sheets = escaped(", ".join(book.sheetnames))
            raise RawDataError(f"{path.name}: there is no sheet {sheet!r}. Sheets: {sheets}.")
        chosen = book[sheet] if sheet is not None else book.worksheets[0]
        chosen.reset_dimensions()  # the declared size is not always that of the rows
        fields: list[list[str]] = []
        cells = 0
        for row in chosen.iter_rows(values_only=True):
            cells += len(row)
            if cells > MOST_CELLS:
                raise RawDataError(f"{path.name}: the sheet has more than {MOST_CELLS:,} cells, the most that is read.")
            fields.append([_text(value) for value in row])
        return fields
    finally:
        book.close()


def _has_formulas(path: Path) -> bool:
    with zipfile.ZipFile(path) as opened:
        sheets = [name for name in opened.namelist() if name.startswith("xl/worksheets/") and name.endswith(".xml")]
        return any(b"<f" in opened.read(name) for name in sheets)


def _refuse_uncomputed(path: Path, fields: list[list[str]], formulas: list[list[str]]) -> None:
    """Raise RawDataError for formulas whose value the file does not have, which would look like empty cells."""
    bad = [
        f"row {number} {written[:40]!r}"
        for number, (row, as_written) in enumerate(zip(fields, formulas, strict=False), 1)
        for value, written in zip(row, as_written, strict=False)
        if not value and written.startswith("=")
    ]
    if bad:
        raise RawDataError(
            f"{path.name}: expected values, found a formula that was never computed: {first_of(bad[0], bad[1:])}. "
            f"Open the file in Excel and save it again."
        )


def _read_statistics_file(path: Path, form: str) -> strict.Columns:
    """The columns of an SPSS or Stata file; codes that the file declares missing stay as they are."""
    read = pyreadstat.read_sav if form == "sav" else pyreadstat.read_dta
    try:
        _, size = read(path, metadataonly=True)
        if (size.number_rows or 0) * (size.number_columns or 0) > MOST_CELLS:
            raise RawDataError(f"{path.name}: the file declares more than {MOST_CELLS:,} cells, the most that is read.")
        values, described = read(path, output_format="dict", user_missing=True)
    except RawDataError:
        raise
    except Exception as error:  # damaged bytes make the reader raise any error
        raise RawDataError(f"{path.name}: this is not a complete {form} file ({_words(error)}).") from error
    letters = {name for name, kind in described.readstat_variable_types.items() if kind != "string"}
    columns = {
        name: [f".{cell}" if isinstance(cell, str) and name in letters else _text(cell) for cell in column]
        for name, column in values.items()
    }
    fields = [list(row) for row in zip(*columns.values(), strict=True)]
    found = _columns(path, list(columns), fields, first=1, unit="case")
    return strict.Columns(found.rows, found.texts, _remarks(found, described))


def _remarks(found: strict.Columns, described: Any) -> dict[str, Mapping[str, str]]:
    """By column, what an SPSS or Stata file says about its codes: their labels, and which are declared missing."""
    remarks: dict[str, Mapping[str, str]] = {}
    for name, texts in found.texts.items():
        labels = {_text(code): label for code, label in described.variable_value_labels.get(name, {}).items()}
        ranges = described.missing_ranges.get(name, [])
        declared = {text for text in set(texts) if any(_within(text, each) for each in ranges) or _is_letter(text)}
        remarks[name] = {
            text: " and ".join(
                [
                    *([f"which has the label {labels[text]!r}"] if text in labels else []),
                    *(["which the file declares as missing"] if text in declared else []),
                ]
            )
            for text in {*labels, *declared}
        }
    return remarks


def _is_letter(text: str) -> bool:
    """Whether a text is one of Stata's further missing values, .a to .z."""
    return len(text) == 2 and text[0] == "." and text[1].isascii() and text[1].islower()


def _within(text: str, limits: Mapping[str, Any]) -> bool:
    low, high = limits["lo"], limits["hi"]
    if isinstance(low, str):
        return text == low.strip()
    try:
        return bool(low <= float(text) <= high)
    except ValueError:
        return False


def _read_parquet(path: Path) -> strict.Columns:
    from data_adapters.files.parquet_file import read_parquet_file

    table = read_parquet_file(path, most_rows=MOST_CELLS)
    if len(set(table.column_names)) < table.num_columns:
        _refuse_repeated(path, table.column_names)
    if table.num_rows * table.num_columns > MOST_CELLS:
        raise RawDataError(f"{path.name}: the file has more than {MOST_CELLS:,} cells, the most that is read.")
    columns = [[_text(cell) for cell in column.to_pylist()] for column in table.columns]
    return _columns(path, table.column_names, list(map(list, zip(*columns, strict=True))), first=1, unit="row")


def _columns(path: Path, header: Sequence[str], fields: list[list[str]], *, first: int, unit: str) -> strict.Columns:
    lines = list(range(first, first + len(fields)))
    return strict.Rows(path.name, fields, lines, ended=True, unit=unit).columns(header)


def _refuse_repeated(path: Path, header: Iterable[str]) -> None:
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        raise RawDataError(f"{path.name}, header: the column {repeated[0]!r} appears more than once.")


def _words(error: Exception) -> str:
    return escaped(str(error)[:200]) or type(error).__name__


def _text(value: Any) -> str:
    """A cell as a mapping would write it: whole numbers without a point, nothing as an empty text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
