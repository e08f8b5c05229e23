"""`prefstudy claims`: every published claim, and what the latest run of each study found of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli import console
from flows.cli.options import RUNS

EXAMPLES = """Examples:
  prefstudy claims                         count them, by the runs in runs
  prefstudy claims my-runs                 by those in another folder
  prefstudy claims --write docs/claims.md  write the whole table

Only the folders of finished runs are read; no data is needed. The index has
the same table: prefstudy index"""


def claims(
    runs: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that holds the runs.")] = RUNS,
    write: Annotated[
        Path | None, typer.Option("--write", metavar="FILE.md", help="Write every claim to this file, in Markdown.")
    ] = None,
) -> None:
    """Count the published claims by what the latest run of each study found.

    A claim is reproduced, reproduced under another protocol, not reproduced,
    not testable here, or its study was not run.
    """
    from models.records.errors import OutputError
    from models.records.studies.claims import STATUSES
    from models.records.whole_file import whole_file
    from reports.index.claims_in_markdown import claims_in_markdown
    from tasks.claims.table import judge_claims

    results = judge_claims(runs)
    papers = list(dict.fromkeys(result.paper for result in results))
    counted = console.table("Result", *papers, numbers=papers)
    for status, words in STATUSES.items():
        of_status = [result.paper for result in results if result.status == status]
        counted.add_row(words.capitalize(), *(str(of_status.count(paper)) for paper in papers))
    console.out.print(counted)
    if write is None:
        return
    try:
        with whole_file(write) as aside:
            aside.write_text(claims_in_markdown(results), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{write} cannot be written: {error.strerror or error}.") from error
    console.say(f"Written: {console.shown(write)}")
