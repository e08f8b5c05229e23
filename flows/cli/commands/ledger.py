"""`prefstudy ledger`: what a language model was asked and what it answered, shown, passed on and checked."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from flows.cli import console
from models.records.card import counted
from prompts.ledger import Ledger, Summary
from prompts.ledger_entry import read_export

EXAMPLES = """Examples:
  prefstudy ledger show                       what was asked, and of whom
  prefstudy ledger export answers.jsonl       all of it, as a file
  prefstudy ledger import answers.jsonl       bring one in
  prefstudy ledger verify                     is it as it was written?

A ledger holds patients' messages: keep it, and what you export, as you keep
the data. With it, a machine without a GPU repeats a study:
  prefstudy run pmr --engine replay"""

DEFAULT = Path("runs/pmr/ledger.sqlite")

app = typer.Typer(
    help="The ledger of a language model's answers: show, export, import, verify.",
    epilog=EXAMPLES,
    no_args_is_help=True,
)

Where = Annotated[Path, typer.Option("--ledger", metavar="FILE", help="Which ledger.")]


@app.command("show", epilog=EXAMPLES)
def show(ledger: Where = DEFAULT) -> None:
    """Show what each model was asked and how it went, without any patient's text."""
    with Ledger(ledger, must_exist=True) as opened:
        lines = opened.summary()
    for (model, revision), of_model in groupby(lines, key=lambda line: (line.model, line.revision)):
        console.say(f"{model}, revision {revision}")
        console.out.print(_table(of_model))
        console.say("")
    console.say(f"{counted(sum(line.attempts for line in lines), 'answers')} in {console.shown(ledger)}")


@app.command("export", epilog=EXAMPLES)
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="Where to write them.")], ledger: Where = DEFAULT
) -> None:
    """Write all rows to a file of JSON lines. It holds patients' messages."""
    with Ledger(ledger, must_exist=True) as opened:
        rows = opened.export(file)
    console.say(f"{counted(rows, 'answers')} written to {console.shown(file)}. It holds patients' messages.")


@app.command("import", epilog=EXAMPLES)
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="What export wrote.")], ledger: Where = DEFAULT
) -> None:
    """Add the rows of an exported file, all of them or none. Another answer to a request that is there is refused."""
    export = read_export(file)  # before a ledger is made
    with Ledger(ledger) as opened:
        rows = opened.import_from(export)
    console.say(f"{counted(rows.added, 'answers')} added to {console.shown(ledger)}, {rows.known:,} known before.")


@app.command("verify", epilog=EXAMPLES)
def verify(ledger: Where = DEFAULT) -> None:
    """Check that every row is as it was written. Exits with 1 if one is not."""
    with Ledger(ledger, must_exist=True) as opened:
        problems, rows = opened.verify(), len(opened)
    for problem in problems:
        console.complain(problem)
    if problems:
        raise typer.Exit(1)
    console.say(f"{counted(rows, 'answers')} in {console.shown(ledger)}, all as they were written.")


def _table(lines: Iterable[Summary]) -> Table:
    numbers = ["Requests", "Asked", "Refused", "Tokens", "s/answer"]
    grid = console.table("Template", *numbers, numbers=numbers)
    for line in lines:
        counts = (line.requests, line.attempts, line.refused, line.tokens)
        grid.add_row(line.template, *(f"{count:,}" for count in counts), f"{line.seconds / line.attempts:.3f}")
    return grid
