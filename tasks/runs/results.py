"""Writing results: the same results always give the same bytes.

Every file in `results/` is written here. Numbers are rounded to 12 significant digits, because the last digits of a sum
depend on the order of its terms, and so on the processor. Rounding does not make results equal between processors:
linear algebra has kernels of its own for each kind, and a value near zero is a difference of large ones.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from models.records.card import DataCard
from models.records.results import MetricRow

METRICS = TypeAdapter(tuple[MetricRow, ...])
CARDS = TypeAdapter(tuple[DataCard, ...])
DIGITS = 12


def write_metrics(path: Path, rows: Sequence[MetricRow]) -> None:
    """Write `metrics.json`, in the order given."""
    write_records(path, METRICS, rows)


def add_metrics(path: Path, rows: Sequence[MetricRow]) -> None:
    """Append rows to `metrics.json`."""
    write_metrics(path, [*METRICS.validate_json(path.read_bytes()), *rows])


def write_cards(path: Path, cards: Sequence[DataCard]) -> None:
    """Write `data_cards.json`, in the order given."""
    write_records(path, CARDS, cards)


def write_records(path: Path, kind: TypeAdapter[Any], records: Sequence[Any]) -> None:
    """Write records of one kind as JSON; NaN and infinity become null."""
    write_json(path, json.loads(kind.dump_json(tuple(records))))


def write_json(path: Path, document: Any) -> None:
    """Write a document as JSON. Raises ValueError for NaN or infinity, which JSON does not have."""
    text = json.dumps(rounded(document), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table as Parquet, without the metadata that names the version of pandas."""
    columns = [_rounded_column(column) for column in table.columns]
    plain = pa.Table.from_arrays(columns, schema=table.schema.remove_metadata())
    pq.write_table(plain, path, compression="zstd")


def rounded(value: Any) -> Any:
    """The value with every float rounded to 12 significant digits, in lists, tuples and dicts too.

    >>> rounded({"share": 2 / 3, "n": 3, "at": [1e-20 / 3, None]})
    {'share': 0.666666666667, 'n': 3, 'at': [3.33333333333e-21, None]}
    """
    if isinstance(value, float):
        return float(f"{value:.{DIGITS - 1}e}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return value


def _rounded_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not _has_floats(column.type):
        return column
    return pa.chunked_array([pa.array(rounded(column.to_pylist()), type=column.type)])


def _has_floats(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_has_floats(kind.field(at).type) for at in range(kind.num_fields))
    return bool(pa.types.is_floating(kind))
