"""A pairwise table on disk: one Parquet file per part and manifest.json, in a folder of the table's name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from data_adapters.files.digest import sha256_of
from data_adapters.files.whole_folder import whole_folder
from data_adapters.table.checks import refuse_unprintable
from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.schema import KEYS
from models.records.errors import TableError
from models.records.manifest import Manifest
from models.records.plain_text import escaped
from models.records.settings_errors import dotted

MANIFEST = "manifest.json"
PART_FILES = tuple(f"{part}.parquet" for part in KEYS)


def write_table(table: PairwiseTable, out: Path) -> Path:
    """Write a table to out/NAME and return that folder. It appears whole or not at all; same table, same bytes.

    The written manifest has the sha256 of each Parquet file. Only the owner can read a private table. Raises
    OutputError if `out` cannot be written to, or out/NAME exists and is not a pairwise table.
    """
    final = out / table.name
    with whole_folder(final, marker=MANIFEST, ours=(MANIFEST, *PART_FILES), private=table.private) as aside:
        digests = {}
        for name, part in table.parts.items():
            path = aside / f"{name}.parquet"
            pq.write_table(part, path, compression="zstd")
            digests[path.name] = sha256_of(path)
        manifest = table.manifest.model_copy(update={"table_sha256": digests})
        (aside / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return final


def read_table(folder: Path) -> PairwiseTable:
    """Read a table exactly as it was written.

    Raises TableError if the folder holds no pairwise table, if a file was changed after it was written, or if a text
    has control characters.

    >>> from tempfile import TemporaryDirectory
    >>> from data_adapters.catalogue import adapter
    >>> from data_adapters.source.build import build
    >>> from data_adapters.source.locate import locate
    >>> from data_adapters.source.simulation import simulate
    >>> with TemporaryDirectory() as folder:
    ...     _ = simulate(adapter("synthetic"), Path(folder) / "raw", seed=0, users=12)
    ...     [table] = build(adapter("synthetic"), locate(adapter("synthetic"), Path(folder) / "raw"))
    ...     back = read_table(write_table(table, Path(folder)))
    >>> back.items.equals(table.items), [feature.name for feature in back.item_features][:2]
    (True, ['within', 'between_ab'])
    """
    manifest = _read_manifest(folder)
    foreign = [name for name in manifest.table_sha256 if name not in PART_FILES]
    if foreign:
        raise TableError(
            f"{folder / MANIFEST}: table_sha256: expected {', '.join(PART_FILES)}, found {escaped(foreign[0])}. "
            f"Build the table again."
        )
    parts = {Path(name).stem: _read_part(folder / name, digest) for name, digest in manifest.table_sha256.items()}
    absent = {"items", "comparisons"} - set(parts)
    if absent:
        raise TableError(f"{folder / MANIFEST} lists no {' and no '.join(sorted(absent))}. Build the table again.")
    return PairwiseTable(
        items=parts["items"],
        comparisons=parts["comparisons"],
        users=parts.get("users"),
        contexts=parts.get("contexts"),
        manifest=manifest,
    )


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise TableError(f"{folder} is not a pairwise table: it has no {MANIFEST}. Make one: prefstudy data build NAME")
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = dotted(first["loc"], whole="the file")
        raise TableError(f"{path}: {where}: {first['msg']}. Build the table again.") from error


def _read_part(path: Path, digest: str) -> pa.Table:
    if not path.is_file():
        raise TableError(f"{path} is missing, though the manifest lists it. Build the table again.")
    found = sha256_of(path)
    if found != digest:
        raise TableError(
            f"{path} was changed after it was written: sha256 {found}, the manifest has {digest}. "
            f"Build the table again."
        )
    try:
        table = pq.read_table(path)
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # its message could quote the file
        raise TableError(f"{path} is not a whole Parquet file. Build the table again.") from None
    refuse_unprintable(path.stem, table)
    return table
