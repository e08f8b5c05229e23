"""From an adapter's reading to a checked pairwise table with its manifest."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Dataset
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Columns, Reading
from data_adapters.table.checks import check_table
from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.schema import OPTIONAL, table_schema
from models.records.errors import TableError
from models.records.manifest import Manifest


def build(adapter: Adapter, raw: RawFolder) -> tuple[PairwiseTable, ...]:
    """Read the raw files and make each pairwise table of the data set.

    Raises RawDataError if a raw file is malformed and TableError if a table breaks its own rules.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from data_adapters.catalogue import adapter
    >>> from data_adapters.source.locate import locate
    >>> from data_adapters.source.simulation import simulate
    >>> with TemporaryDirectory() as folder:
    ...     _ = simulate(adapter("synthetic"), Path(folder) / "raw", seed=0, users=12)
    ...     [table] = build(adapter("synthetic"), locate(adapter("synthetic"), Path(folder) / "raw"))
    >>> table.manifest.rows
    {'items': 12, 'comparisons': 132}
    """
    return tuple(_table(adapter, raw, reading) for reading in adapter.read(raw))


def _table(adapter: Adapter, raw: RawFolder, reading: Reading) -> PairwiseTable:
    dataset = adapter.dataset
    optional = [column for column in OPTIONAL if column in reading.comparisons]
    schemas = {
        "items": table_schema("items", dataset.items, texts=dataset.item_texts),
        "comparisons": table_schema("comparisons", dataset.comparisons, optional=optional),
        "users": table_schema("users", dataset.users or ()),
        "contexts": table_schema("contexts", dataset.contexts or ()),
    }
    parts = {
        part: _arrow_table(f"{reading.name}.{part}", columns, schemas[part].with_metadata(_provenance(dataset, raw)))
        for part, columns in reading.parts.items()
    }
    table = PairwiseTable(
        items=parts["items"],
        comparisons=parts["comparisons"],
        users=parts.get("users"),
        contexts=parts.get("contexts"),
        manifest=_manifest(adapter, raw, reading, rows={name: part.num_rows for name, part in parts.items()}),
    )
    check_table(table)
    return table


def _arrow_table(where: str, columns: Columns, schema: pa.Schema) -> pa.Table:
    if set(columns) != set(schema.names):
        raise TableError(
            f"{where}: columns {sorted(set(columns) ^ set(schema.names))} are read but not declared, or the reverse."
        )
    return pa.table([_arrow_column(where, columns[field.name], field) for field in schema], schema=schema)


def _arrow_column(where: str, values: Any, field: pa.Field) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values, type=field.type, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TableError(f"{where}.{field.name}: expected {field.type}: {error}.") from error


def _provenance(dataset: Dataset, raw: RawFolder) -> dict[str, str]:
    """The metadata that a Parquet file carries, in case its manifest is lost."""
    licence = dataset.licence
    return {
        "title": dataset.title,
        "citation": dataset.citation,
        "licence": f"{licence.name}: {licence.terms}",
        "simulated": str(raw.simulated).lower(),
    }


def _manifest(adapter: Adapter, raw: RawFolder, reading: Reading, rows: dict[str, int]) -> Manifest:
    dataset = adapter.dataset
    return Manifest(
        name=reading.name,
        title=dataset.title,
        citation=dataset.citation,
        licence=dataset.licence,
        adapter_version=adapter.version,
        simulated=raw.simulated,
        unpinned=raw.unpinned,
        side=dataset.side,
        raw_files=raw.files,
        rows_read=reading.rows_read,
        rows=rows,
        dropped=reading.dropped,
        quirks=reading.quirks,
    )
