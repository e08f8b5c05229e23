"""`prefstudy list`: the studies, and whether the data of each is on this machine."""

from __future__ import annotations

from data_adapters import catalogue
from data_adapters.source.locate import check
from flows.cli import studies
from flows.cli.console import out, say, shown, table


def list_studies() -> None:
    """List the studies, and say whether the data of each is on this machine."""
    lines = table("Study", "Data", "About")
    for name in studies.names():
        try:
            lines.add_row(name, data_at_hand(name) or "not here", catalogue.adapter(name).dataset.title)
        except Exception as error:  # one broken module must not hide the other studies
            lines.add_row(name, "broken", load_error(error))
    out.print(lines)
    say("\nRun a study:        prefstudy run STUDY")
    say("  without data:     prefstudy run STUDY --simulated")
    say("Run all of them:    prefstudy run all")
    say("Get missing data:   prefstudy data fetch STUDY")


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
