"""Finds the studies: the modules of `flows/studies/`. None is imported before it is needed."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, get_type_hints

import flows.studies
from flows.nightly import Nightly
from models.records.errors import UsageError
from tasks.runs.study import RunConfig


class Study(NamedTuple):
    """A study ready to run: its flow (which returns the run folder), its config, the demo's, and its deployment."""

    name: str
    flow: Callable[[RunConfig], Path]
    config: type[RunConfig]
    demo: RunConfig
    nightly: Nightly = Nightly()


def names() -> tuple[str, ...]:
    """Names of the studies, in alphabetical order."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(flows.studies.__path__) if not module.ispkg))


def load_all() -> tuple[dict[str, Study], dict[str, Exception]]:
    """Import all studies. Returns those that load and, for each of the others, the error."""
    loaded: dict[str, Study] = {}
    broken: dict[str, Exception] = {}
    for name in names():
        try:
            loaded[name] = study(name)
        except Exception as error:  # a module of a user's own may raise anything
            broken[name] = error
    return loaded, broken


def study(name: str) -> Study:
    """Import a study, and Prefect with it: `<name>_study`, `DEMO` and, if there is one, `NIGHTLY` of its module.

    Raises UsageError if there is no such study.
    """
    if name not in names():
        close = difflib.get_close_matches(name, names(), n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UsageError(f"There is no study {name!r}.{hint}\nStudies: {', '.join(names())}. See: prefstudy list")
    module = importlib.import_module(f"flows.studies.{name}")
    flow = getattr(module, f"{name}_study")
    return Study(name, flow, get_type_hints(flow.fn)["config"], module.DEMO, getattr(module, "NIGHTLY", Nightly()))
