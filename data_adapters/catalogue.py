"""The data sets: one for each module of `data_adapters/datasets`."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from pathlib import Path

import data_adapters.datasets
from data_adapters.source.adapter import Adapter
from models.records.errors import UsageError


def names() -> tuple[str, ...]:
    """The data sets' names in alphabetical order; imports none of their modules.

    >>> "sushi" in names()
    True
    """
    return tuple(
        sorted(module.name for module in pkgutil.iter_modules(data_adapters.datasets.__path__) if not module.ispkg)
    )


def adapter(name: str, variant: str | None = None, *, mapping: Path | None = None) -> Adapter:
    """The adapter of a data set, of a variant of it, or of the raw files that a mapping file describes.

    Raises UsageError for an unknown name or variant, and for a mapping if the data set takes none.

    >>> adapter("sushi").dataset.published["sushi"].users
    5000
    >>> adapter("pokemon", "published-60000").dataset.tables
    ('pokemon_published_60000',)
    """
    known = names()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UsageError(f"There is no data set {name!r}.{hint} Known: {', '.join(known)}.")
    found = importlib.import_module(f"data_adapters.datasets.{name}").ADAPTER
    if not isinstance(found, Adapter):
        raise TypeError(f"data_adapters.datasets.{name}.ADAPTER is not an Adapter")
    if mapping is not None:
        if found.mapped is None:
            raise UsageError(
                f"{name} takes no mapping: its raw files have one layout only. The data set conjoint takes any mapping."
            )
        return found.mapped(mapping)
    if variant is None:
        return found
    if variant not in found.variants:
        raise UsageError(f"{name} has no variant {variant!r}. Known: {', '.join(found.variants) or 'none'}.")
    return found.variants[variant]
