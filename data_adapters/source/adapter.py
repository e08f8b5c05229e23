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
    """A data set and the code that reads and simulates its raw files. `version` changes whenever a table would.

    variants: by name, adapters that make something else of the same raw files, into tables of another name.
    mapped: the adapter of the same data set in raw files that the mapping file at a path describes; None where they can
    be laid out in one way only. Raises UsageError for a mapping that cannot be meant.
    """

    dataset: Dataset
    version: str
    read: Callable[[RawFolder], tuple[Reading, ...]]
    simulate: Simulate
    variants: Mapping[str, Adapter] = field(default_factory=dict)
    mapped: Callable[[Path], Adapter] | None = None
