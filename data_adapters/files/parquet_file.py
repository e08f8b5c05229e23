"""Reading Parquet files that this project did not write."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from data_adapters.files.unpacked import MOST_BYTES
from models.records.errors import RawDataError


def read_parquet_file(path: Path, *, most_rows: int) -> pa.Table:
    """All columns of a Parquet file; dictionaries, and the other types of strings that Arrow has, as strings.

    Raises RawDataError, which never quotes the file, if it is damaged, cut off or too large. A page whose checksum does
    not fit is damaged; most writers store no checksums, and only the sha256 of the file shows that its bytes are right.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
            if file.metadata.num_rows > most_rows or sum(group.total_byte_size for group in groups) > MOST_BYTES:
                raise RawDataError(f"{path.name}: unpacks to more than is read: {MOST_BYTES:,} bytes.")
            table = file.read()
        table = table.cast(pa.schema([_plain(field) for field in table.schema]))
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError):  # its message could quote the file
        raise RawDataError(f"{path.name}: expected a whole Parquet file; this one is damaged or cut off.") from None
    return table


def _plain(field: pa.Field) -> pa.Field:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return pa.field(field.name, pa.string() if is_text else kind)
