"""`prefstudy tree`: fit one preference tree, read it, and edit it by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from flows.cli import console
from models.records.errors import UsageError

if TYPE_CHECKING:
    from tasks.respondents.kept_tree import KeptTree

EXAMPLES = """Examples:
  prefstudy data build sushi --out tables
  prefstudy tree fit tables/sushi --user 6371 --out tree.json
  prefstudy tree show tree.json
  prefstudy tree edit tree.json --threshold 0=2.5 --merge 4 --pin '0>2'

show prints the numbers of nodes and leaves by which edit names them."""

Number = TypeVar("Number", int, float)

app = typer.Typer(help="Fit one preference tree, read it, and edit it by hand.", epilog=EXAMPLES, no_args_is_help=True)

Tree = Annotated[Path, typer.Argument(metavar="TREE.json", help="A tree that fit or edit wrote.")]
Table = Annotated[Path | None, typer.Option(metavar="DIR", help="Where the tree's table lies now, if it was moved.")]


@app.command("fit", epilog=EXAMPLES)
def fit_tree(
    table: Annotated[Path, typer.Argument(metavar="TABLE_DIR", help="A table that prefstudy data build wrote.")],
    user: Annotated[str | None, typer.Option(metavar="ID", help="Whose comparisons; all users' if not given.")] = None,
    max_depth: Annotated[int | None, typer.Option(metavar="N", min=1, help="Questions on a path, at most.")] = None,
    test_share: Annotated[
        float, typer.Option(metavar="SHARE", min=0.0, max=0.9, help="Share of the comparisons held out.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of what is held out.")] = 0,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the tree.")] = Path("tree.json"),
) -> None:
    """Fit a tree to the comparisons of one user, or of all, and write it to a file."""
    from data_adapters.table.parquet import read_table
    from tasks.respondents.kept_tree import KeptTree, MadeFrom

    made_from = MadeFrom(
        table=table.resolve(), table_name=read_table(table).name, user=user, test_share=test_share, seed=seed
    )
    kept = KeptTree.fit(made_from, max_depth=max_depth)
    kept.write(out)
    _show(kept)
    console.say(f"\nTree  {console.shown(out)}\nEdit it: prefstudy tree edit {console.shown(out)} --help")


@app.command("show", epilog=EXAMPLES)
def show_tree(path: Tree, table: Table = None) -> None:
    """Print a tree with the numbers of its nodes and leaves, and how often it is right."""
    from tasks.respondents.kept_tree import KeptTree

    _show(KeptTree.read(path, table=table))


@app.command("edit", epilog=EXAMPLES)
def edit_tree(
    path: Tree,
    threshold: Annotated[
        list[str] | None, typer.Option(metavar="NODE=VALUE", help="Move a node's threshold; may be repeated.")
    ] = None,
    merge: Annotated[
        list[int] | None, typer.Option(metavar="NODE", help="Merge a split, and all below it, into one leaf.")
    ] = None,
    pin: Annotated[
        list[str] | None,
        typer.Option(metavar="LEAF>LEAF", help="Hold one leaf at or above another (quote it); after merging."),
    ] = None,
    table: Table = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write it; TREE.json if not given.")] = None,
) -> None:
    """Change a tree by hand, fit its leaves again, and say what that did to its accuracy."""
    from tasks.respondents.kept_tree import KeptTree

    thresholds = _pairs(threshold, "=", "--threshold NODE=VALUE, both numbers", float)
    if len(dict(thresholds)) < len(thresholds):
        raise UsageError("--threshold: a node is named twice. Give each a single value.")
    before = KeptTree.read(path, table=table)
    after = before.edited(
        thresholds=dict(thresholds),
        merged=merge or [],
        pins=_pairs(pin, ">", "--pin LEAF>LEAF, both whole numbers", int),
    )
    after.write(out or path)
    _show(after, before)
    console.say(f"\nTree  {console.shown(out or path)}")


def _pairs(
    values: list[str] | None, separator: str, form: str, number: Callable[[str], Number]
) -> list[tuple[int, Number]]:
    pairs = []
    for value in values or []:
        left, _, right = value.partition(separator)
        try:
            pair = int(left), number(right)
        except ValueError:
            pair = None
        if pair is None or not math.isfinite(pair[1]):
            raise UsageError(f"{value}: expected {form}.")
        pairs.append(pair)
    return pairs


def _show(kept: KeptTree, before: KeptTree | None = None) -> None:
    """The tree, then its accuracies, beside those before an edit."""
    console.say(kept.tree.to_text(numbered=True))
    for better, worse in kept.tree.pins_:
        console.say(f"pinned: leaf {better} at or above leaf {worse}")
    console.say("")
    then = before.accuracies() if before else {}
    lines = console.table("Comparisons", "Accuracy", "Strict", "Decided", numbers=["Accuracy", "Strict", "Decided"])
    for name, found in kept.accuracies().items():
        values = [float(value[0]) for value in found]
        if name in then:
            old = [float(value[0]) for value in then[name]]
            lines.add_row(name, *(f"{was:.3f} → {now:.3f}" for was, now in zip(old, values, strict=True)))
        else:
            lines.add_row(name, *(f"{value:.3f}" for value in values))
    console.out.print(lines)
