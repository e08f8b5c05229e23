"""`prefstudy list`: the studies, and whether the data of each is on this machine."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from data_adapters import catalogue
from data_adapters.source.locate import check
from flows.cli import studies
from flows.cli.console import out, say, shown, table


def list_studies() -> None:
    """List the studies, and say whether the data of each is on this machine."""
    lines = table("Study", "Data", "About")
    for name in studies.names():
        try:
            if name in catalogue.names():
                lines.add_row(name, data_at_hand(name) or "not here", catalogue.adapter(name).dataset.title)
            else:
                lines.add_row(name, "needs none", subject(name))
        except Exception as error:  # one broken module must not hide the other studies
            lines.add_row(name, "broken", load_error(error))
    out.print(lines)
    say("\nRun a study:        prefstudy run STUDY")
    say("  without data:     prefstudy run STUDY --simulated")
    say("Run all of them:    prefstudy run all")
    say("Get missing data:   prefstudy data fetch STUDY")


def subject(name: str) -> str:
    """What a study is about: the first line of its module, which is not imported, because Prefect would be too."""
    spec = find_spec(f"flows.studies.{name}")
    source = Path(str(spec and spec.origin)).read_text("utf-8")
    first = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    return first.partition(": ")[2].removesuffix(".") or first


def load_error(error: Exception) -> str:
    """The first line of an error that a module raised when it was imported."""
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def data_at_hand(name: str) -> str | None:
    """Folder of a data set's raw files, with their state if they are not the published ones; None if one is missing."""
    files = check(catalogue.adapter(name))
    paths = [file.path for file in files if file.path is not None]
    if len(paths) < len(files):
        return None
    states = {file.state for file in files} - {"pinned"}
    return f"{shown(paths[0].parent)}{''.join(f' ({state})' for state in sorted(states))}"
