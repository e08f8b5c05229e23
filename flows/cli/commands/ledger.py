"""`prefstudy ledger`: shows, exports, imports and verifies the recorded answers of language models."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from flows.cli import console
from flows.cli.options import RUNS
from models.records.card import counted
from models.records.plain_text import escaped
from prompts.ledger import Ledger, Summary
from prompts.ledger_entry import read_export

EXAMPLES = """Examples:
  prefstudy ledger show                  count questions and answers by model
  prefstudy ledger export answers.jsonl  write all rows to a file
  prefstudy ledger import answers.jsonl  add the rows of such a file
  prefstudy ledger verify                check that no row was altered

With a ledger, a machine without a GPU can repeat a study:
  prefstudy run pmr --engine replay

A ledger and its exports hold patients' messages. Protect them like the data."""

DEFAULT = RUNS / "pmr" / "ledger.sqlite"

app = typer.Typer(
    help="Show, export, import and verify the recorded answers of language models.",
    epilog=EXAMPLES,
    no_args_is_help=True,
)

Where = Annotated[Path, typer.Option("--ledger", metavar="FILE", help="File of the ledger.")]


@app.command("show", epilog=EXAMPLES)
def show(ledger: Where = DEFAULT) -> None:
    """Count the questions to each model, and its answers.

    No patient's text is shown.
    """
    with Ledger(ledger, must_exist=True) as opened:
        lines = opened.summary()
    for (model, revision), of_model in groupby(lines, key=lambda line: (line.model, line.revision)):
        console.say(escaped(f"{model}, revision {revision}"))
        console.out.print(_table(of_model))
        console.say("")
    console.say(f"{counted(sum(line.attempts for line in lines), 'answers')} in {console.shown(ledger)}")


@app.command("export", epilog=EXAMPLES)
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="File for the rows.")], ledger: Where = DEFAULT
) -> None:
    """Write all rows to a file of JSON lines.

    The file holds patients' messages.
    """
    with Ledger(ledger, must_exist=True) as opened:
        rows = opened.export(file)
    console.say(f"{counted(rows, 'answers')} written to {console.shown(file)}. It holds patients' messages.")


@app.command("import", epilog=EXAMPLES)
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="A file written by export.")],
    ledger: Where = DEFAULT,
) -> None:
    """Add the rows of an exported file, all of them or none.

    Nothing is added if the ledger has a different answer to one of the questions.
    """
    export = read_export(file)  # before a ledger is created
    with Ledger(ledger) as opened:
        rows = opened.import_from(export)
    console.say(f"{counted(rows.added, 'answers')} added to {console.shown(ledger)}, {rows.known:,} already there.")


@app.command("verify", epilog=EXAMPLES)
def verify(ledger: Where = DEFAULT) -> None:
    """Check that no row was altered. Exits with 1 if one was."""
    with Ledger(ledger, must_exist=True) as opened:
        problems, rows = opened.verify(), len(opened)
    for problem in problems:
        console.complain(problem)
    if problems:
        raise typer.Exit(1)
    console.say(f"{counted(rows, 'answers')} in {console.shown(ledger)}, none of them altered.")


def _table(lines: Iterable[Summary]) -> Table:
    numbers = ["Requests", "Asked", "Refused", "Tokens", "s/answer"]
    grid = console.table("Template", *numbers, numbers=numbers)
    for line in lines:
        counts = (line.requests, line.attempts, line.refused, line.tokens)
        grid.add_row(escaped(str(line.template)), *(f"{count:,}" for count in counts), f"{line.seconds_per_answer:.3f}")
    return grid
