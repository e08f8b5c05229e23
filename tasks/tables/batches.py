"""Comparisons that do not fit in memory: batches from a Parquet file, also on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from models.records.arrays import IntArray
from models.records.errors import TableError
from models.records.plain_text import escaped

T = TypeVar("T")

IDS = ("left_id", "right_id")
BATCH = 1_000_000
"""Comparisons in memory at a time."""


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what Arrow raises for a missing or damaged file into a TableError."""
    try:
        yield
    except (pa.ArrowException, OSError, KeyError) as error:
        raise TableError(f"{path} is not a whole Parquet file of a table. Build the table again.") from error


@dataclass(frozen=True, eq=False)
class ParquetBatches:
    """Batches of the comparisons of a table on disk, as rows of its items, winner first.

    path: comparisons.parquet; item_ids: ids of the items, in the order of their rows; groups: row groups of the file to
    read, all if None.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     folder, duel = Path(name), {"left_id": ["tea"], "right_id": ["milk"], "left_wins": [False]}
    ...     pq.write_table(pa.table({"item_id": ["milk", "tea"]}), folder / "items.parquet")
    ...     pq.write_table(pa.table(duel), folder / "comparisons.parquet")
    ...     [batch.tolist() for batch in ParquetBatches.of_table(folder)]
    [[[0, 1]]]
    """

    path: Path
    item_ids: pa.Array
    groups: tuple[int, ...] | None = None

    @classmethod
    def of_table(cls, folder: Path) -> ParquetBatches:
        """The batches of the table in a folder. Raises TableError if an item's id is missing or comes twice."""
        path = folder / "items.parquet"
        with _readable(path):
            ids = pq.read_table(path, columns=["item_id"])["item_id"].combine_chunks()
        if ids.null_count or pc.count_distinct(ids).as_py() != len(ids):
            raise TableError(f"{path}: expected a different item_id in each row.")
        return cls(folder / "comparisons.parquet", ids)

    def __iter__(self) -> Iterator[IntArray]:
        """Yield comparisons (n, 2), at most BATCH at a time.

        Raises TableError for a damaged file, a missing value, an unknown item id, and an item compared with itself.
        """
        ids = list(IDS)
        with _readable(self.path), pq.ParquetFile(self.path, read_dictionary=ids) as file:
            self._check_columns(file.schema_arrow)
            groups = None if self.groups is None else list(self.groups)
            for batch in file.iter_batches(BATCH, row_groups=groups, columns=[*ids, "left_wins"]):
                self._refuse_missing(batch)
                left, right = (self._rows(batch[name]) for name in ids)
                same = np.flatnonzero(left == right)
                if len(same):
                    item = self.item_ids[int(left[same[0]])].as_py()
                    raise TableError(f"{self.path}: {len(same):,} comparisons of an item with itself, such as {item}.")
                left_wins = batch["left_wins"].to_numpy(zero_copy_only=False)
                yield np.stack([np.where(left_wins, left, right), np.where(left_wins, right, left)], axis=1)

    def _check_columns(self, schema: pa.Schema) -> None:
        for name in (*IDS, "left_wins"):
            if name not in schema.names:
                raise TableError(f"{self.path}: the column {name} is missing.")
        if not pa.types.is_boolean(schema.field("left_wins").type):
            found = schema.field("left_wins").type
            raise TableError(f"{self.path}: column left_wins: expected the type bool, found {found}.")

    def _refuse_missing(self, batch: pa.RecordBatch) -> None:
        for name in (*IDS, "left_wins"):
            if batch[name].null_count:
                raise TableError(f"{self.path}: column {name}: {batch[name].null_count:,} missing values.")

    def _rows(self, ids: pa.DictionaryArray) -> IntArray:
        """Rows of the items; each distinct id of the batch is looked up once."""
        place = pc.index_in(ids.dictionary, value_set=self.item_ids)
        if place.null_count:
            unknown = map(escaped, ids.dictionary.filter(pc.is_null(place)).slice(0, 5).to_pylist())
            raise TableError(f"{self.path}: {place.null_count} ids belong to no item, such as {', '.join(unknown)}.")
        rows: IntArray = place.to_numpy().astype(np.int64)[ids.indices.to_numpy()]
        return rows

    def total(self, measure: Callable[[IntArray], T]) -> T:
        """The sum of `measure` over the batches (`models.trees.growth.pairs.Batches`)."""
        batches = iter(self)
        first = measure(next(batches, np.zeros((0, 2), dtype=np.int64)))
        return reduce(add, map(measure, batches), first)

    def parts(self) -> tuple[ParquetBatches, ...]:
        """The same comparisons, one object for each row group of the file."""
        n_groups = pq.read_metadata(self.path).num_row_groups
        groups = range(n_groups) if self.groups is None else self.groups
        return tuple(ParquetBatches(self.path, self.item_ids, (group,)) for group in groups)


@dataclass(frozen=True, eq=False)
class DaskBatches:
    """The same comparisons, counted on a Dask cluster. Each worker reads a part of the file.

    client: a `distributed.Client` (the extra `dask`).
    """

    client: Any
    batches: ParquetBatches

    def total(self, measure: Callable[[IntArray], T]) -> T:
        """The sum of `measure` over the parts. The parts stay on the workers; only counts travel."""
        measured = self.client.scatter(measure, broadcast=True, hash=False)
        parts: list[T] = self.client.gather(
            self.client.map(ParquetBatches.total, self.batches.parts(), measure=measured, pure=False)
        )
        return reduce(add, parts)
