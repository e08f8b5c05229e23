"""An adapter: a data set and the code that reads and simulates its raw files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from data_adapters.source.description import Dataset
from data_adapters.source.planted import Simulate
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Reading


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """A data set and the code that reads and simulates its raw files. `version` changes whenever the tables do.

    simulate: None if the data set has no simulator; then it has no demo, and no run with simulated data.
    variants: by name, adapters that make other tables, with other names, from the same raw files.
    mapped: takes the path of a mapping file and makes the adapter for raw files in that layout; None if the raw files
    have one layout only. Raises UsageError for an invalid mapping.
    """

    dataset: Dataset
    version: str
    read: Callable[[RawFolder], tuple[Reading, ...]]
    simulate: Simulate | None = None
    variants: Mapping[str, Adapter] = field(default_factory=dict)
    mapped: Callable[[Path], Adapter] | None = None
