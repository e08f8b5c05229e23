"""Runs one study, or several in a row. A study that fails does not stop the others."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import typer

from data_adapters.source.locate import locate
from flows.cli import console
from flows.cli.prefect_runtime import prefect_server
from flows.cli.stopping import unwinding
from flows.cli.studies import Study
from models.records.errors import MissingDataError, PrefstudyError
from tasks.runs.run_folder import reserved
from tasks.runs.study import RunConfig, StudyConfig


class Planned(NamedTuple):
    """A study and the config to run it with."""

    study: Study
    config: RunConfig


def run_study(study: Study, config: RunConfig) -> Path:
    """Check the data, the output folder and the files that the settings name, then start Prefect and run the study.

    The run's folder is reserved last, because that makes a folder. A run that ends before its flow begins leaves a
    record like any other.
    """
    config.contents()
    if isinstance(config, StudyConfig) and not config.simulated:
        source = config.adapter(study.name)
        found = locate(source, config.raw, allow_unpinned=config.allow_unpinned)
        if any(file.own for file in source.dataset.raw):
            source.read(found)  # faults of the user's own file are told before anything starts
    with reserved(study.name, config):
        console.err.print(f"Study {study.name}", style="bold")
        with console.progress("Starting Prefect (about 10 s)"), prefect_server(), unwinding():
            return study.flow(config)


def run_studies(planned: Sequence[Planned], out: Path, broken: Mapping[str, Exception] = MappingProxyType({})) -> None:
    """Run studies one after the other, then write the index over all runs in `out`.

    A study without data is skipped, and one that fails does not stop the others. All share this process and its Prefect
    server. broken: studies that could not be imported, with the error. Exits with 1 if a study failed or none ran.
    """
    outcomes = console.table("Study", "Outcome")
    for name, error in broken.items():
        outcomes.add_row(name, _report_failure(name, error))
    ran, failed = 0, len(broken)
    for study, config in planned:
        try:
            outcome = console.shown(run_study(study, config) / "report.html")
            ran += 1
        except MissingDataError:
            outcome = f"skipped, its data is not here; get it: prefstudy data fetch {study.name}"
            console.err.print(f"Study {study.name}: {outcome}", soft_wrap=True)
        except Exception as error:
            outcome = _report_failure(study.name, error)
            failed += 1
        outcomes.add_row(study.name, outcome)
    console.out.print()
    console.out.print(outcomes)
    if ran:
        _write_index(out)
    if failed or not ran:
        raise typer.Exit(1)


def _report_failure(name: str, error: Exception) -> str:
    """Print in full why a study failed, and return a line for the table of outcomes."""
    if isinstance(error, PrefstudyError):
        console.complain(f"Study {name} failed. {error}")
    else:
        console.complain(f"Study {name} failed.\n{''.join(traceback.format_exception(error))}")
    return f"failed: {str(error).partition(chr(10))[0] or type(error).__name__}"


def _write_index(out: Path) -> None:
    from flows.index import index_studies

    with console.progress("Writing the index"), prefect_server(), unwinding():
        index = index_studies(out)
    print_paths({"Index": index, "PDF": index.with_suffix(".pdf")})


def print_paths(files: dict[str, Path]) -> None:
    """Print the paths of a report's files. The first one is the file to open."""
    console.say("")
    for name, path in files.items():
        console.say(f"{name:8} {console.shown(path)}")
    console.say(f"\nOpen it: {next(iter(files.values())).resolve().as_uri()}\n")
