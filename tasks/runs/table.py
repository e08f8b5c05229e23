"""From raw files, real or simulated, to the pairwise table of a study."""

from __future__ import annotations

from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.simulation import simulate
from data_adapters.table.card import card
from data_adapters.table.pairwise_table import PairwiseTable
from data_adapters.table.parquet import write_table
from models.records.base import Record
from models.records.card import DataCard
from models.records.manifest import Manifest
from tasks.runs.study import StudyConfig


class BuiltTable(Record):
    """A pairwise table on disk, its data card, and the folder of its raw files."""

    folder: Path
    card: DataCard
    raw: Path

    @property
    def manifest(self) -> Manifest:
        """Raw files, licence and dropped rows of the table."""
        return self.card.manifest


@task(name="build table", cache_policy=NO_CACHE)
def build_table(
    name: str, config: StudyConfig, work: Path, *, users: int | None = None, variant: str | None = None
) -> BuiltTable:
    """Find the raw files of the data set `name`, or simulate them for `users` users, and write its table in `work`.

    variant: write the table of this variant of the data set instead.
    Raises RawDataError if the raw files are missing, altered or malformed. Data is simulated only on request.
    """
    raw = _raw_files(name, config, work, users)
    if variant is not None:
        [table] = build(config.adapter(name).variants[variant], raw)
    else:
        [table] = [table for table in build(config.adapter(name), raw) if table.name == name]
    return _written(table, raw, work)


@task(name="build tables", cache_policy=NO_CACHE)
def build_tables(name: str, config: StudyConfig, work: Path, *, users: int | None = None) -> tuple[BuiltTable, ...]:
    """Like `build_table`, for every table of the data set `name`."""
    raw = _raw_files(name, config, work, users)
    return tuple(_written(table, raw, work) for table in build(config.adapter(name), raw))


def _raw_files(name: str, config: StudyConfig, work: Path, users: int | None) -> RawFolder:
    source, raw = config.adapter(name), config.raw
    if config.simulated:
        raw = work / "raw"
        simulate(source, raw, seed=config.seed, users=users)
    return locate(source, raw, allow_unpinned=config.allow_unpinned)


def _written(table: PairwiseTable, raw: RawFolder, work: Path) -> BuiltTable:
    return BuiltTable(folder=write_table(table, work), card=card(table), raw=raw.path)
