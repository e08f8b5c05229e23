"""Running studies from the command line: one, or several of which none stops the others."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import typer
from rich.text import Text

from data_adapters.source.locate import locate
from flows.cli import console
from flows.cli.engine import interruptible, server_answers
from flows.cli.studies import Study
from models.records.errors import MissingDataError, PrefstudyError
from tasks.runs.run_folder import check_output
from tasks.runs.study import StudyConfig


class Planned(NamedTuple):
    """A study and the config it is to run with."""

    study: Study
    config: StudyConfig


def run_study(study: Study, config: StudyConfig) -> Path:
    """Run a study after making sure, before Prefect's server starts, that its data is there and its output can be.

    So are the files that its settings name. The output comes last: trying it makes a folder.
    """
    config.contents()
    if not config.simulated:
        locate(config.adapter(study.name), config.raw, allow_unpinned=config.allow_unpinned)
    check_output(config.out / study.name)
    console.err.print(f"Study {study.name}", style="bold")
    with console.progress("Starting Prefect (about 10 s)"), interruptible(), server_answers():
        return study.flow(config)


def run_studies(planned: Sequence[Planned], out: Path) -> None:
    """Run studies one after the other, each whatever becomes of the others, and write the index over all runs in `out`.

    One without data is skipped. All share the process and its Prefect server. Exits with 1 if one failed or none ran.
    """
    outcomes = console.table("Study", "Outcome")
    ran = failed = 0
    for study, config in planned:
        try:
            outcome = console.shown(run_study(study, config) / "report.html")
            ran += 1
        except MissingDataError:
            outcome = f"skipped, its data is not here; get it: prefstudy data fetch {study.name}"
            console.err.print(f"Study {study.name}: {outcome}", soft_wrap=True)
        except Exception as error:
            outcome = _told(study, error)
            failed += 1
        outcomes.add_row(study.name, Text(outcome))
    console.out.print()
    console.out.print(outcomes)
    if ran:
        _write_index(out)
    if failed or not ran:
        raise typer.Exit(1)


def _told(study: Study, error: Exception) -> str:
    """Complain of a study that failed, in full, and return what a line can say of it."""
    if isinstance(error, PrefstudyError):
        console.complain(f"Study {study.name} failed. {error}")
    else:
        console.complain(f"Study {study.name} failed.\n{''.join(traceback.format_exception(error))}")
    return f"failed: {str(error).partition(chr(10))[0] or type(error).__name__}"


def _write_index(out: Path) -> None:
    from flows.index import index_studies

    with console.progress("Writing the index"), interruptible(), server_answers():
        index = index_studies(out)
    say_where({"Index": index, "PDF": index.with_suffix(".pdf")})


def say_where(files: dict[str, Path]) -> None:
    """Name the files of a report, the one to open first."""
    console.say("")
    for name, path in files.items():
        console.say(f"{name:8} {console.shown(path)}")
    console.say(f"\nOpen it: {next(iter(files.values())).resolve().as_uri()}\n")
