"""`prefstudy data`: check, fetch, simulate, build and describe the data sets."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from data_adapters.catalogue import adapter
from data_adapters.source.locate import check, locate
from flows.cli import console, studies
from flows.cli.config import refuse_both
from flows.cli.options import FLAG, Mapping, Raw, Unpinned
from models.records.errors import UsageError
from models.records.manifest import Licence

EXAMPLES = """Examples:
  prefstudy data check sushi  check the raw files on this machine
  prefstudy data fetch sushi  download them; shows the licence first
  prefstudy data card sushi   summarise what is in the data
  prefstudy data build sushi  convert the raw files to Parquet tables
  prefstudy data build conjoint --raw DIR --mapping my.toml
                              convert your own choice experiment
  prefstudy data simulate sushi --users 100
                              write raw files with known preferences

Nothing is ever uploaded."""

SIMULATED, TABLES = Path("simulated"), Path("tables")
"""Folders that simulate and build write to unless another is given."""

app = typer.Typer(
    help="Check, fetch, simulate, build and describe the data sets.",
    epilog=EXAMPLES,
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a data set. See: prefstudy list")]
Variant = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Another table from the same files, such as pokemon's published-60000."),
]


@app.command("check", epilog=EXAMPLES)
def check_data(name: Name, raw: Raw = None, mapping: Mapping = None) -> None:
    """Check whether the raw files are here and are the published ones.

    Exits with 1 if a file is missing or altered. A file of your own data has
    the state own, unless the adapter or the mapping gives its sha256.
    """
    files = check(adapter(name, mapping=mapping), raw)
    lines = console.table("File", "State", "Bytes", "sha256", numbers=["Bytes"])
    for file in files:
        size = "" if file.bytes is None else f"{file.bytes:,}"
        lines.add_row(file.file.name, file.state, size, (file.sha256 or "")[:12])
    console.out.print(lines)
    places = {file.path.parent for file in files if file.path is not None}
    for place in sorted(places):
        console.say(f"\nIn {console.shown(place)}")
    bad = [file for file in files if file.state in {"missing", "altered"}]
    if bad:
        console.say(f"Get them: prefstudy data fetch {name}")
        raise typer.Exit(1)
    console.say(f"All files are here. {_next(name, raw, mapping)}")


@app.command("fetch", epilog=EXAMPLES)
def fetch_data(
    name: Name,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", metavar=FLAG, help="Agree to the licence without being asked.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", metavar=FLAG, help="Download files again that are here.")] = False,
    mirror: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Download from URL/NAME/FILE. Default: PREFSTUDY_MIRROR, then the source."),
    ] = None,
) -> None:
    """Download the raw files into the cache, after showing their licence.

    The sha256 of each file is checked.
    """
    from data_adapters.source.fetch import fetch

    def agree(_: Licence) -> bool:
        return accept_licence or (sys.stdin.isatty() and typer.confirm("Do you agree?"))

    source = adapter(name)
    if all(map(source.dataset.url_of, source.dataset.raw)):
        licence = source.dataset.licence
        console.out.print(f"{licence.name}: {licence.terms}")
        console.say(f"{licence.url or ''}\n")
    with console.download() as progress:
        folder = fetch(source, agree=agree, mirror=mirror, force=force, progress=progress)
    checked = "as published" if all(file.pinned for file in folder.files) else "no sha256 is known to check them"
    console.say(f"Downloaded ({checked}): {console.shown(folder.path)}")
    console.say(_next(name, allow_unpinned=folder.unpinned))


@app.command("simulate", epilog=EXAMPLES)
def simulate_data(
    name: Name,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the raw files: DIR/NAME.")] = SIMULATED,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the generator.")] = 0,
    users: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of users. Default: as many as published.")
    ] = None,
    items: Annotated[
        int | None, typer.Option(metavar="N", min=2, help="Number of items, for data without users.")
    ] = None,
    mapping: Mapping = None,
) -> None:
    """Write simulated raw files in the format of the real ones.

    The preferences behind them are known; SIMULATED.json states them.
    """
    from data_adapters.source.simulation import simulate

    folder = out / name
    source = adapter(name, mapping=mapping)
    has_users = source.dataset.users is not None
    if users is not None and not has_users:
        raise UsageError(f"--users: {name} has no users. Give the number of items: --items {users}")
    if items is not None and has_users:
        raise UsageError(f"--items: {name} has a fixed set of items. Give the number of users: --users {items}")
    with console.err.status(f"Simulating {name} ..."):
        preference = simulate(source, folder, seed=seed, users=users if has_users else items)
    console.out.print(preference.words)
    console.say(f"\nWritten: {console.shown(folder)}")
    console.say(_next(name, folder, mapping))


@app.command("build", epilog=EXAMPLES)
def build_data(
    name: Name,
    raw: Raw = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the tables; each gets a folder in it.")] = TABLES,
    allow_unpinned: Unpinned = False,
    mapping: Mapping = None,
    variant: Variant = None,
) -> None:
    """Convert the raw files to pairwise tables in Parquet.

    A faulty row stops the command and is named. Each table gets a manifest.json.
    """
    from data_adapters.source.build import build
    from data_adapters.table.parquet import write_table

    source = adapter(name, variant, mapping=mapping)
    with console.err.status(f"Building {name} ..."):
        without = f"prefstudy data simulate {name}"
        tables = build(source, locate(source, raw, allow_unpinned=allow_unpinned, without=without))
        folders = [write_table(table, out) for table in tables]
    counted = ["Items", "Comparisons", "Users", "Dropped"]
    lines = console.table("Table", *counted, numbers=counted)
    for table, folder in zip(tables, folders, strict=True):
        manifest = table.manifest
        counts = [f"{manifest.rows.get(part, 0):,}" for part in ("items", "comparisons", "users")]
        dropped = f"{sum(reason.rows for reason in manifest.dropped):,}"
        lines.add_row(console.shown(folder), *counts, dropped)
    console.out.print(lines)
    console.say("\nEach folder's manifest.json says what it was made from.")
    console.say(_next(name, raw, mapping, variant, allow_unpinned=allow_unpinned))


@app.command("card", epilog=EXAMPLES)
def data_card(
    name: Name,
    raw: Raw = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", metavar=FLAG, help="Describe simulated data of the published size.")
    ] = False,
    allow_unpinned: Unpinned = False,
    mapping: Mapping = None,
    variant: Variant = None,
) -> None:
    """Summarise the data: source, licence, dropped rows, missing and typical values.

    No text and no id from the data is shown.
    """
    from data_adapters.source.build import build
    from data_adapters.source.simulation import simulate
    from data_adapters.table.card import card
    from flows.cli.commands.card import shown_card

    refuse_both(raw, simulated=simulated)
    source = adapter(name, variant, mapping=mapping)
    with console.err.status(f"Reading {name} ..."), TemporaryDirectory() as aside:
        if simulated:
            raw = Path(aside) / name
            simulate(source, raw, seed=0)
        cards = [card(table) for table in build(source, locate(source, raw, allow_unpinned=allow_unpinned))]
    for found in cards:
        console.out.print(shown_card(found), "")


def _next(
    name: str,
    raw: Path | None = None,
    mapping: Path | None = None,
    variant: str | None = None,
    *,
    allow_unpinned: bool = False,
) -> str:
    """The next command, with the options given so far: run the study of this data set, or else show its card."""
    command = "run" if name in studies.names() and variant is None else "data card"
    shown = {
        "raw": None if raw is None else console.shown(raw),
        "mapping": None if mapping is None else console.shown(mapping),
        "variant": variant,
    }
    given = [f" --{option} {shlex.quote(value)}" for option, value in shown.items() if value is not None]
    unpinned = " --allow-unpinned" if allow_unpinned else ""
    return f"Next: prefstudy {command} {name}{''.join(given)}{unpinned}"
