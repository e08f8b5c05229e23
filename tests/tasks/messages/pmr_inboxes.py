"""Simulated inboxes to test the search for features with."""

from __future__ import annotations

from pathlib import Path

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from tasks.messages.inbox import Inbox, read_inbox


def simulated_inboxes(folder: Path, *, seed: int = 0, patients: int | None = None) -> tuple[Inbox, ...]:
    """Both inboxes of a simulation."""
    source = adapter("pmr")
    simulate(source, folder / "raw", seed=seed, users=patients)
    return tuple(read_inbox(write_table(table, folder)) for table in build(source, locate(source, folder / "raw")))
