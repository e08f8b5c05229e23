"""Damaged inboxes of PMR-Synth."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.data_adapters.datasets.damaged import Account, Damage, Edit

A, B = "INBOX_A-00000-of-00001.parquet", "INBOX_B-00000-of-00001.parquet"
ACCOUNT: Account = {
    "items": lambda read: sum(read.values()),
    "comparisons": lambda read: sum(rows * (rows - 1) // 2 for rows in read.values()),
}


def table(change: Callable[[pa.Table], pa.Table]) -> Edit:
    """Change the content of a Parquet file, not the file itself."""

    def edit(content: bytes) -> bytes:
        damaged = io.BytesIO()
        pq.write_table(change(pq.read_table(io.BytesIO(content))), damaged)
        return damaged.getvalue()

    return edit


def cell(column: str, row: int, change: Callable[[Any], Any]) -> Edit:
    """Change one value; rows count from 1."""

    def edit(found: pa.Table) -> pa.Table:
        values = found[column].to_pylist()
        values[row - 1] = change(values[row - 1])
        position = found.column_names.index(column)
        return found.set_column(position, column, pa.array(values, found.schema.field(column).type))

    return table(edit)


def text(row: int, old: str, new: str) -> Edit:
    def change(found: str) -> str:
        assert old in found
        return found.replace(old, new, 1)

    return cell("text", row, change)


def first_text_again(found: pa.Table) -> pa.Table:
    return found.set_column(0, "text", pa.array([*found["text"].to_pylist()[:-1], found["text"][0].as_py()]))


def badly_encoded(found: pa.Table) -> pa.Table:
    texts = [value.encode() for value in found["text"].to_pylist()]
    broken = pa.array([*texts[:-1], b"\xff" + texts[-1]], pa.binary()).view(pa.string())
    return found.set_column(0, "text", broken)


DAMAGED = (
    Damage("cut off", A, lambda content: content[:-1000], "damaged or cut off"),
    Damage("no Parquet", B, lambda _: b"text,level,relevancy\n", "damaged or cut off"),
    Damage("broken page", A, lambda content: content[:400] + bytes(400) + content[800:], "damaged or cut off"),
    Damage("broken UTF-8", A, table(badly_encoded), "damaged or cut off"),
    Damage("column missing", A, table(lambda found: found.drop_columns(["relevancy"])),
           "expected the columns text, level, relevancy, found text, level"),
    Damage("another column", B, table(lambda found: found.append_column("id", found["level"])), "found .*, id"),
    Damage("levels in words", A, table(lambda found: found.set_column(1, "level", found["level"].cast(pa.string()))),
           "column level: expected whole numbers, found string"),
    Damage("texts as bytes", A, table(lambda found: found.set_column(0, "text", found["text"].cast(pa.binary()))),
           "column text: expected strings, found binary"),
    Damage("control character", A, text(3, "### Patient Message:", "### Patient Message: \x1b]8;;"),
           r"row 3: column text: expected no control characters, found \\x1b"),
    Damage("level 0", A, cell("level", 3, lambda _: 0), "row 3: column level: .* 1 or more, found 0"),
    Damage("no level", B, cell("level", 3, lambda _: None), "row 3: column level: .* 1 or more, found None"),
    Damage("no relevancy", A, cell("relevancy", 4, lambda _: None), "row 4: column relevancy: .* found None"),
    Damage("text twice", B, table(first_text_again), r"row 40: .*expected a new text \(INBOX_B.*, row 1 has"),
    Damage("no message", A, text(2, "### Patient Message:", "### Message:"), "row 2: .*'### Patient Message:'"),
    Damage("no demographics", A, text(2, "###Demographics###", ""), "row 2: .*expected '###Demographics###' once"),
    Damage("no problem list", A, text(2, "###Full Active Problem List###:", ""), "row 2: .*Problem List###:' once"),
    Damage("encounters twice", A, text(2, "###Medications", "###Recent Encounters (Max 10)###\n\n###Medications"),
           r"row 2: .*'###Recent Encounters \(Max 10\)###' once"),
    Damage("no older diagnoses", A, text(2, "Diagnoses (Older):", ""), r"row 2: .*'Diagnoses \(Older\):' once"),
    Damage("before the record", A, text(2, "### EHR:", "### EHR, page 2:"), "row 2: .*expected '### EHR:'"),
    Damage("before the diagnoses", A, text(2, "Diagnoses (Past Year):", "None. Diagnoses (Past Year):"),
           r"row 2: .*'Diagnoses \(Past Year\):' at once"),
    Damage("age in words", B, text(5, "Age: ", "Age: about "), "row 5: .*'Age:', a whole number up to 120"),
    Damage("too old", B, text(5, "Age: ", "Age: 1"), "row 5: .*'Age:', a whole number up to 120"),
    Damage("no gender", B, text(5, "Gender: ", "Gender: not "), "row 5: .*'Gender:', male or female"),
    Damage("unknown medicines", B, text(5, "Active (Start", "Planned (Start"), "row 5: .*'###Medications"),
    Damage("medicine without a dash", B, text(5, "\n-", "\n"), "row 5: .*lines that start with '-'"),
)  # fmt: skip
