"""Writing results so that the same results always give the same bytes."""

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


def write_metrics(path: Path, rows: Sequence[MetricRow]) -> None:
    """Write `metrics.json`, in the order given."""
    path.write_bytes(METRICS.dump_json(tuple(rows), indent=1) + b"\n")


def add_metrics(path: Path, rows: Sequence[MetricRow]) -> None:
    """Write rows after those that `metrics.json` has."""
    write_metrics(path, [*METRICS.validate_json(path.read_bytes()), *rows])


def write_cards(path: Path, cards: Sequence[DataCard]) -> None:
    """Write `data_cards.json`, in the order given."""
    path.write_bytes(CARDS.dump_json(tuple(cards), indent=1) + b"\n")


def write_json(path: Path, document: Any) -> None:
    """Write a document as JSON. Raises ValueError for NaN or infinity, which JSON does not have."""
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table as Parquet, without the metadata in which pandas says which version wrote it."""
    pq.write_table(table.replace_schema_metadata(None), path, compression="zstd")
