"""An invented choice experiment about tea, in any layout and format, for tests of the reader of choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.table.pairwise_table import PairwiseTable

HEAD = 'title = "Tea"\ncitation = "Nobody (2000)"\nmissing = [""]\n'
LONG = """
[long]
respondent = "who"
task = "task"
alternative = "alt"
left = "A"
right = "B"
opt_out = "N"
chosen = "chosen"
"""
PAIRS = '\n[long]\nrespondent = "who"\nchosen = "chosen"\n'
WIDE = """
[wide]
respondent = "who"
task = "task"
choice = "choice"
left = "A"
right = "B"
opt_out = "N"
no_answer = ["-"]
sides = ["a", "b"]
"""
FEATURES = """
[[attributes]]
name = "price"
kind = "numeric"
column = "{0}price"
description = "price"

[[attributes]]
name = "leaf"
kind = "categorical"
column = "{0}leaf"
description = "kind of leaf"
levels = {{ black = "black", red = "black", green = "green" }}
"""
LONG_HEADER = ("who", "task", "alt", "price", "leaf", "chosen")
LONG_ROWS = (
    ("ann", 2, "N", "", "", 0), ("ann", 2, "B", 3, "green", 1), ("ann", 2, "A", 2.5, "black", 0),
    ("ann", 10, "A", 1, "red", 1), ("ann", 10, "B", 3, "green", 0), ("ann", 10, "N", "", "", 0),
    ("bob", 1, "A", 1, "black", 0), ("bob", 1, "B", 2, "", 0), ("bob", 1, "N", "", "", 1),
    ("bob", 2, "A", 1, "red", 0), ("bob", 2, "B", 1, "black", 1), ("bob", 2, "N", "", "", 0),
    ("bob", 3, "A", 9, "red", 0), ("bob", 3, "B", 1, "black", 0), ("bob", 3, "N", "", "", 0),
    ("cy", 1, "A", 9, "red", 1), ("cy", 1, "B", 1, "black", 1), ("cy", 1, "N", "", "", 0),
    ("cy", 2, "A", 1, "black", 0), ("cy", 2, "B", 3, "green", 1), ("cy", 2, "N", "", "", 0),
)  # fmt: skip
"""Ann: two choices, of the same green tea both times. Bob: an opt-out, the same tea twice, nothing. Cy: two, one."""


def mapping_file(folder: Path, text: str) -> Path:
    path = folder / "tea.toml"
    path.write_text(text, encoding="utf-8")
    return path


def file_part(form: str, name: str | None = None) -> str:
    return f'\n[file]\nname = "{name or f"tea.{form}"}"\nformat = "{form}"\n'


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in (header, *rows)), encoding="utf-8")


def write_xlsx(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    book = openpyxl.Workbook()
    for row in (header, *rows):
        book.active.append([None if cell == "" else cell for cell in row])
    book.active.append([None] * (len(header) + 2))
    book.save(path)


def write_statistics(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    frame = pd.DataFrame(rows, columns=list(header))
    for column in ("price",):
        frame[column] = pd.to_numeric(frame[column])
    write = pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta
    write(frame, path)


def write_parquet(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(
        pa.table({name: pa.array(map(str, cells), pa.large_string()) for name, cells in columns.items()}), path
    )


WRITERS: dict[str, Callable[[Path, Sequence[str], Sequence[Sequence[Any]]], None]] = {
    "csv": write_csv,
    "xlsx": write_xlsx,
    "sav": write_statistics,
    "dta": write_statistics,
    "parquet": write_parquet,
}


def table_of(folder: Path, mapping: str, name: str = "conjoint") -> PairwiseTable:
    source = adapter(name, mapping=mapping_file(folder, mapping))
    [table] = build(source, locate(source, folder))
    return table


def long_table(folder: Path, rows: Sequence[Sequence[Any]] = LONG_ROWS, form: str = "csv", head: str = HEAD):
    WRITERS[form](folder / f"tea.{form}", LONG_HEADER, rows)
    return table_of(folder, head + file_part(form) + LONG + FEATURES.format(""))


def choices(table: PairwiseTable) -> list[tuple[Any, ...]]:
    """Who, which task, and the features of the two, left first, with who won."""
    items = {row["item_id"]: (row["price"], row["leaf"]) for row in table.items.to_pylist()}
    return [
        (row["user_id"], row["task_index"], items[row["left_id"]], items[row["right_id"]], row["left_wins"])
        for row in table.comparisons.to_pylist()
    ]


def dropped(table: PairwiseTable) -> dict[tuple[str, str], int]:
    return {(drop.table, drop.reason): drop.rows for drop in table.manifest.dropped}


WHOLE = HEAD + file_part("csv") + LONG + FEATURES.format("")
