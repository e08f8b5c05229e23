"""`prefstudy new`: the three modules of a study, from a table of comparisons."""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data_adapters import catalogue
from flows.cli import console, studies
from models.records.errors import OutputError, UsageError
from models.records.whole_file import Hold, hold_beside, uninterrupted

if TYPE_CHECKING:
    from data_adapters.contests.draft import Draft, Table
    from data_adapters.table.pairwise_table import PairwiseTable
    from models.records.features import Feature

EXAMPLES = """Examples:
  prefstudy new lizards contests.csv --items lizards.csv
                        columns called winner and loser, features of the
                        items in a second file
  prefstudy new chess games.csv --winner white_wins --loser black_loses
                        features in columns called winner_NAME, loser_NAME
  prefstudy new lizards contests.csv --items lizards.csv --context season
                        what is known of each contest itself

Both files have to lie in one folder: run the study with --raw FOLDER."""

HOUSE = Path(__file__).parents[3]
MODULES = {
    "adapter.py.j2": "data_adapters/datasets/{}.py",
    "study.py.j2": "flows/studies/{}.py",
    "page.py.j2": "reports/studies/{}.py",
}
RESERVED = {"all", "index"}
"""Words that commands take in place of a study."""
IN_MODULES = {"adapter", "tables", "duel", "explain"}
"""Names that would give a class or a constant of the new modules the name of another one there."""
LONGEST_NAME, LONGEST_TITLE = 30, 90
FEWEST_MATCHES = 20
MANY_MATCHES = 2_000
"""With this many contests, a tenth is enough to test with: no cross-validation."""
WIDTH = 120


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new study and its data set.")],
    table: Annotated[
        Path, typer.Argument(metavar="TABLE.csv", help="One row per contest, separated by commas, tabs or ;.")
    ],
    winner: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the winners. Default: winner.")
    ] = None,
    loser: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of the losers. Default: loser.")] = None,
    items: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Second file: one row per item, with its features.")
    ] = None,
    item: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the ids in that file. Default: the one with all names."),
    ] = None,
    context: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column about the contest itself; may be repeated.")
    ] = None,
    leave_out: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column that is no feature; may be repeated.")
    ] = None,
    missing: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Text that means missing; may be repeated.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the data set.")] = None,
) -> None:
    """Write the modules of a new study from a table of contests, ready to run.

    They are data_adapters/datasets/NAME.py, flows/studies/NAME.py and
    reports/studies/NAME.py, and nothing else is touched. Without --items, the
    features are the columns called winner_NAME and loser_NAME. Nothing is ever
    overwritten.
    """
    from data_adapters.contests.draft import Table, draft

    _check_name(name)
    if items is not None and items.resolve().parent != table.resolve().parent:
        raise UsageError(f"{table}, {items}: put both files in one folder; the study reads them from there.")
    matches, listed = Table(table), None if items is None else Table(items)
    drafted = draft(
        matches,
        listed,
        winner=_column("winner", winner, matches),
        loser=_column("loser", loser, matches),
        item=item,
        contexts=context or (),
        leave_out=leave_out or (),
        missing=missing or (),
    )
    title = f"Contests of {name.replace('_', ' ')}" if title is None else title.strip()
    if not title.isprintable() or not 0 < len(title) <= LONGEST_TITLE:
        raise UsageError(f"--title: expected one line of at most {LONGEST_TITLE} characters.")
    built = _build(name, title, drafted, table.resolve().parent)
    written = _write(_modules(name, title, drafted, built), name)
    for path in written:
        console.say(f"Written  {console.shown(path)}")
    _print_features(drafted, built)
    folder = console.shown(table.resolve().parent)
    console.say(f"\nNext: prefstudy run {name} --raw {folder}, or without the data: prefstudy demo {name}")
    console.say("Then say in the three files what is known of the data: who recorded them, units, limits, a licence.")


def _check_name(name: str) -> None:
    """Raise UsageError for a name that cannot be a module's, or is taken."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or len(name) > LONGEST_NAME:
        raise UsageError(
            f"{name}: expected at most {LONGEST_NAME} lower-case letters, digits and underscores, a letter first."
        )
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise UsageError(f"{name}: this word is reserved in Python. Choose another name.")
    if name in sys.stdlib_module_names:
        raise UsageError(f"{name}: a module of Python has this name. Choose another name.")
    if name in RESERVED:
        raise UsageError(f"{name}: this word has another meaning in commands. Choose another name.")
    if name == "test" or name.startswith("test_"):
        raise UsageError(f"{name}: pytest would take its modules for tests. Choose another name.")
    if name.rstrip("_") in IN_MODULES:
        raise UsageError(
            f"{name}: the new modules use this word for something else. Choose another name, {name}_study."
        )
    places = [HOUSE / place for place in _places(name)]
    taken = [path for path in places if path.exists()]
    if 0 < len(taken) < len(places):
        there = ", ".join(map(console.shown, taken))
        raise UsageError(
            f"{name}: a part of a study with this name is there: {there}. Nothing was written. If prefstudy new was "
            "killed while it wrote them, delete them; or choose another name."
        )
    if taken or name in studies.names() or name in catalogue.names():
        raise UsageError(
            f"{name}: a study or data set with this name exists. Nothing was written; choose another name."
        )


def _places(name: str) -> list[str]:
    return [place.format(name) for place in MODULES.values()]


def _column(role: str, given: str | None, matches: Table) -> str:
    """The column of a role: the one given, or one of that name, or one the user names when asked at a terminal."""
    if given is not None or role in matches.names:
        return given or role
    columns = ", ".join(matches.names)
    if sys.stdin.isatty():
        return str(typer.prompt(f"Which column of {matches.path.name} names the {role} ({columns})?"))
    raise UsageError(f"--{role}: {matches.path.name} has no column {role}. Name one of its columns: {columns}.")


def _build(name: str, title: str, drafted: Draft, folder: Path) -> PairwiseTable:
    """The pairwise table as the new adapter will build it. Raises RawDataError or TableError if it cannot."""
    from data_adapters.contests.adapter import contest_adapter
    from data_adapters.source.build import build
    from data_adapters.source.description import Dataset, RawFile
    from data_adapters.source.raw_folder import RawFolder
    from models.records.manifest import Licence

    dataset = Dataset(
        name=name,
        title=title,
        citation="",
        licence=Licence(name="", terms=""),
        raw=tuple(RawFile(name=file, own=True) for file in _files(drafted)),
        side="random",
        items=drafted.items,
        contexts=drafted.contexts or None,
    )
    [table] = build(contest_adapter(dataset, drafted.tables), RawFolder(path=folder, files=(), simulated=False))
    if table.comparisons.num_rows < FEWEST_MATCHES:
        found = table.comparisons.num_rows
        raise UsageError(f"{drafted.tables.matches}: expected at least {FEWEST_MATCHES} contests, found {found}.")
    return table


def _files(drafted: Draft) -> tuple[str, ...]:
    return tuple(file for file in (drafted.tables.items, drafted.tables.matches) if file is not None)


def _modules(name: str, title: str, drafted: Draft, built: PairwiseTable) -> dict[str, str]:
    """The text of each module, by its place."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("flows.cli.commands"), undefined=StrictUndefined, autoescape=False, trim_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"literal": literal, "as_call": _call}
    features = (*drafted.items, *drafted.contexts)
    values = {
        "name": name,
        "constant": name.upper(),
        "kind": "".join(part.capitalize() for part in name.split("_")),
        "title": title,
        "draft": drafted,
        "files": _files(drafted),
        "kinds": sorted({feature.kind.value for feature in features}),
        "tables": _settings(drafted),
        "matches": built.comparisons.num_rows,
        "items": built.items.num_rows,
        "folds": built.comparisons.num_rows < MANY_MATCHES,
    }
    return {
        place.format(name): environment.get_template(template).render(values) for template, place in MODULES.items()
    }


def _settings(drafted: Draft) -> dict[str, str]:
    """The fields of the contest tables that are not the defaults, as Python writes them."""
    found = {field.name: getattr(drafted.tables, field.name) for field in fields(drafted.tables)}
    defaults = {field.name: field.default for field in fields(drafted.tables)} | {"columns": {}}
    return {setting: literal(value) for setting, value in found.items() if value != defaults[setting]}


def literal(value: Any, indent: int = 4) -> str:
    """A text, bool, or collection of texts as Python source, double-quoted; a long collection takes several lines."""
    if isinstance(value, str):
        # repr takes double quotes for a text with a single one in it.
        return repr(value) if '"' in value else f'"{repr(chr(39) + value)[2:]}'
    if isinstance(value, dict):
        return _packed("{", [f"{literal(key)}: {literal(text)}" for key, text in value.items()], "}", indent)
    if isinstance(value, tuple):
        return _packed("(", [literal(text) for text in value], ",)" if len(value) == 1 else ")", indent)
    return repr(value)


def _packed(opening: str, parts: list[str], closing: str, indent: int) -> str:
    """The parts on one line if they are short, else on several."""
    one_line = f"{opening}{', '.join(parts)}{closing}"
    if len(one_line) < WIDTH // 2:
        return one_line
    lines = [" " * (indent + 4)]
    for part in parts:
        if len(lines[-1]) + len(part) + 2 > WIDTH and lines[-1].strip():
            lines.append(" " * (indent + 4))
        lines[-1] += f"{part}, "
    return "\n".join([opening, *(line.rstrip() for line in lines), " " * indent + closing.lstrip(",")])


def _call(feature: Feature) -> str:
    """The call that describes a feature."""
    given = [literal(feature.name), literal(feature.description)]
    if feature.levels is not None and feature.kind.value == "binary":
        given += [f"false={literal(feature.levels[0])}", f"true={literal(feature.levels[1])}"]
    elif feature.levels is not None:
        given.append(literal(feature.levels, 8))
    return (
        _packed(f"{feature.kind.value}(", given, ")", 8)
        if "\n" not in given[-1]
        else (f"{feature.kind.value}({', '.join(given)})")
    )


def _write(modules: dict[str, str], name: str) -> list[Path]:
    """Write the modules, all or none, and none over a file that is there.

    Each is written aside. Then all get their places at one go, the study last: the others alone are no study.
    """
    paths = {HOUSE / place: text for place, text in modules.items()}
    placed: list[Path] = []
    asides: list[Hold] = []
    try:
        for path, text in paths.items():
            asides.append(hold_beside(path))
            asides[-1].aside.write_text(text, encoding="utf-8")
        with uninterrupted():
            for path, held in sorted(
                zip(paths, asides, strict=True), key=lambda each: each[0].parent.parent.name == "flows"
            ):
                if path.exists():
                    raise FileExistsError(f"{path} is there")
                held.end(partial(held.aside.rename, path))
                placed.append(path)
    except BaseException as error:  # Ctrl-C too leaves no half study
        for path in placed:
            path.unlink()
        if isinstance(error, OSError):
            raise OutputError(f"The study {name} cannot be written: {error}. No file was kept.") from error
        raise
    finally:
        for held in asides:
            held.end()
    return list(paths)


def _print_features(drafted: Draft, built: PairwiseTable) -> None:
    lines = console.table("Feature", "Kind", "Of")
    for part, features in (("items", drafted.items), ("contexts", drafted.contexts)):
        for feature in features:
            lines.add_row(feature.name, feature.kind.value, part)
    rows = built.manifest.rows
    console.say(f"\n{rows['comparisons']:,} contests of {rows['items']:,} items.\n")
    console.out.print(lines)
    for column, why in drafted.left_out.items():
        console.say(f"Not read: {column} {why}.")
