"""The command `prefstudy`. Each command imports what it needs when it runs, so that all of them start quickly."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from functools import partial

import typer

from flows.cli.commands import ask, claims, data, deployments, doctor, explain, ledger, listing, new, run, tree
from flows.cli.console import complain, print_any_text
from flows.cli.stopping import at_stop
from models.records.errors import PrefstudyError, UsageError
from models.records.plain_text import escaped
from models.records.whole_file import abandon

FIRST_STEPS = """First steps:
  prefstudy demo sushi        run a small study on simulated data
  prefstudy doctor            check what works on this machine
  prefstudy data fetch sushi  download real data; shows the licence first
  prefstudy run sushi         run the study on the real data

Exit codes:
  0    success
  1    missing or faulty input, or a problem with this machine
  2    invalid command, option or setting
  130  stopped by Ctrl-C (by SIGTERM: 143)"""

START, STUDIES, PARTS = "Start here", "Run studies", "Data, models and answers"
"""Headings of the commands in the help."""

SECONDS_TO_PUT_IN_PLACE = 1.0
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO}

app = typer.Typer(
    name="prefstudy",
    help="Reproducible case studies of preferences, from raw pairwise comparisons to reports.",
    epilog=FIRST_STEPS,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo", epilog=run.DEMO_EXAMPLES, rich_help_panel=START)(run.demo)
app.command("list", rich_help_panel=START)(listing.list_studies)
app.command("doctor", rich_help_panel=START)(doctor.doctor)
app.command("run", epilog=run.EXAMPLES, rich_help_panel=STUDIES)(run.run)
app.command("report", epilog=run.REPORT_EXAMPLES, rich_help_panel=STUDIES)(run.report)
app.command("index", epilog=run.REPORT_EXAMPLES, rich_help_panel=STUDIES)(run.index)
app.command("claims", epilog=claims.EXAMPLES, rich_help_panel=STUDIES)(claims.claims)
app.command("new", epilog=new.EXAMPLES, rich_help_panel=STUDIES)(new.new)
app.command("deployments", epilog=deployments.EXAMPLES, rich_help_panel=STUDIES)(deployments.deployments)
app.add_typer(data.app, name="data", rich_help_panel=PARTS)
app.add_typer(tree.app, name="tree", rich_help_panel=PARTS)
app.add_typer(ask.app, name="ask", rich_help_panel=PARTS)
app.command("explain", epilog=explain.EXAMPLES, rich_help_panel=PARTS)(explain.explain)
app.add_typer(ledger.app, name="ledger", rich_help_panel=PARTS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (see `FIRST_STEPS`)."""
    print_any_text()
    try:
        _check_text(sys.argv[1:] if arguments is None else arguments)
        app(args=arguments, prog_name="prefstudy")
    except UsageError as error:
        complain(str(error))
        return 2
    except PrefstudyError as error:
        complain(str(error))
        return 1
    except OSError as error:
        if error.errno not in FULL:
            raise
        complain(f"{error.filename or 'The output'} cannot be written: {os.strerror(error.errno).lower()}.")
        _discard_output()
        return 1
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0


def _check_text(arguments: Sequence[str]) -> None:
    """Raise UsageError for bytes that are no text: no record of a run, and no report, could name such a path."""
    folders = (f"{name}={os.environ[name]}" for name in ("PREFSTUDY_RAW", "PREFSTUDY_CACHE") if name in os.environ)
    for text in (*arguments, *folders):
        if any("\ud800" <= each <= "\udfff" for each in text):
            raise UsageError(f"{escaped(text)}: this is no text in UTF-8. Rename the file or folder.")


def _discard_output() -> None:
    """Discard what standard output still buffers. Otherwise Python would report the same error again on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# First of all that is done then: what is being put in its place may get there, and nothing else.
at_stop(partial(abandon, SECONDS_TO_PUT_IN_PLACE))
