"""`prefstudy list`: the studies, and whether the data of each is at hand."""

from __future__ import annotations

from data_adapters import catalogue
from data_adapters.source.locate import check
from flows.cli import studies
from flows.cli.console import out, say, shown, table


def list_studies() -> None:
    """List the studies, and whether the data of each is at hand."""
    lines = table("Study", "Data", "About")
    for name in studies.names():
        dataset = catalogue.adapter(name).dataset
        lines.add_row(name, data_at_hand(name) or "not here", dataset.title)
    out.print(lines)
    say("\nRun one: prefstudy run STUDY, or without data: prefstudy run STUDY --simulated")
    say("Run them all: prefstudy run all")


def data_at_hand(name: str) -> str | None:
    """Where the raw files of a data set lie, and if they are not as published, how; None if one of them is missing."""
    files = check(catalogue.adapter(name))
    paths = [file.path for file in files if file.path is not None]
    if len(paths) < len(files):
        return None
    states = {file.state for file in files} - {"pinned"}
    return f"{shown(paths[0].parent)}{''.join(f' ({state})' for state in sorted(states))}"
