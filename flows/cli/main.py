"""The command `prefstudy`. Commands import what they need when they run, so that they answer at once."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

import typer

from flows.cli.commands import ask, data, deployments, doctor, explain, ledger, listing, new, run, tree
from flows.cli.console import complain, err
from flows.cli.exit_codes import INTERRUPTED, STOPPED
from models.records.errors import PrefstudyError, UsageError

FIRST_STEPS = """First steps:
  prefstudy demo sushi          a whole study, small, on simulated data
  prefstudy doctor              what works on this machine
  prefstudy data fetch sushi    get real data; its licence is shown first
  prefstudy run sushi           run the study on it

It exits with 0 if all went well, with 1 if the input or the machine is at
fault, with 2 if the command is, with 130 after Ctrl-C and 143 after SIGTERM."""

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO}

app = typer.Typer(
    name="prefstudy",
    help="Reproducible case studies of preferences: from raw pairwise comparisons to a report a reader can check.",
    epilog=FIRST_STEPS,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(listing.list_studies)
app.command("run", epilog=run.EXAMPLES)(run.run)
app.command("demo", epilog=run.DEMO_EXAMPLES)(run.demo)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain)
app.command("ask", epilog=ask.EXAMPLES)(ask.ask)
app.command("report", epilog=run.REPORT_EXAMPLES)(run.report)
app.command("index", epilog=run.REPORT_EXAMPLES)(run.index)
app.command("new", epilog=new.EXAMPLES)(new.new)
app.command("deployments", epilog=deployments.EXAMPLES)(deployments.deployments)
app.command("doctor")(doctor.doctor)
app.add_typer(data.app, name="data")
app.add_typer(tree.app, name="tree")
app.add_typer(ledger.app, name="ledger")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 (the input or the machine), 2 (the command) or 130 (Ctrl-C)."""
    try:
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
        _write_nowhere()
        return 1
    except SystemExit as end:
        if end.code == INTERRUPTED:
            err.print(STOPPED)
        return end.code if isinstance(end.code, int) else 1
    return 0


def _write_nowhere() -> None:
    """Let go of what standard output still holds, about which Python would complain again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
