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
    from tasks.respondents.saved_tree import SavedTree

EXAMPLES = """Examples:
  prefstudy data build sushi --out tables
  prefstudy tree fit tables/sushi --user 6371 --out tree.json
  prefstudy tree show tree.json
  prefstudy tree edit tree.json --threshold 0=2.5 --merge 4 --pin '0>2'

edit refers to nodes and leaves by the numbers that show prints."""

Number = TypeVar("Number", int, float)

app = typer.Typer(help="Fit one preference tree, read it, and edit it by hand.", epilog=EXAMPLES, no_args_is_help=True)

Tree = Annotated[Path, typer.Argument(metavar="TREE.json", help="A tree written by fit or edit.")]
Table = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the tree's table, if it was moved.")]


@app.command("fit", epilog=EXAMPLES)
def fit_tree(
    table: Annotated[Path, typer.Argument(metavar="TABLE_DIR", help="A table written by prefstudy data build.")],
    user: Annotated[
        str | None, typer.Option(metavar="ID", help="Use only this user's comparisons. Default: all users.")
    ] = None,
    max_depth: Annotated[int | None, typer.Option(metavar="N", min=1, help="Depth of the tree at most.")] = None,
    test_share: Annotated[
        float, typer.Option(metavar="SHARE", min=0.0, max=0.9, help="Share of the comparisons to hold out.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the choice of what to hold out.")] = 0,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the tree.")] = Path("tree.json"),
) -> None:
    """Fit a tree to the comparisons of one user, or of all users."""
    from data_adapters.table.parquet import read_table
    from tasks.respondents.saved_tree import MadeFrom, SavedTree

    made_from = MadeFrom(
        table=table.resolve(), table_name=read_table(table).name, user=user, test_share=test_share, seed=seed
    )
    kept = SavedTree.fit(made_from, max_depth=max_depth)
    kept.write(out)
    _show(kept)
    console.say(f"\nTree  {console.shown(out)}\nEdit it: prefstudy tree edit {console.shown(out)} --help")


@app.command("show", epilog=EXAMPLES)
def show_tree(path: Tree, table: Table = None) -> None:
    """Print a tree with numbered nodes and leaves, and its accuracy."""
    from tasks.respondents.saved_tree import SavedTree

    _show(SavedTree.read(path, table=table))


@app.command("edit", epilog=EXAMPLES)
def edit_tree(
    path: Tree,
    threshold: Annotated[
        list[str] | None, typer.Option(metavar="NODE=VALUE", help="Change a node's threshold; may be repeated.")
    ] = None,
    merge: Annotated[
        list[int] | None,
        typer.Option(metavar="NODE", help="Replace a split and everything below it with a leaf; may be repeated."),
    ] = None,
    pin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LEAF>LEAF",
            help="Keep one leaf at or above another; quote it. May be repeated. Leaves are numbered as after merging.",
        ),
    ] = None,
    table: Table = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the edited tree. Default: TREE.json.")
    ] = None,
) -> None:
    """Edit a tree by hand, fit its leaves again, and show how its accuracy changed."""
    from tasks.respondents.saved_tree import SavedTree

    thresholds = _pairs(threshold, "=", "--threshold NODE=VALUE, both numbers", float)
    if len(dict(thresholds)) < len(thresholds):
        raise UsageError("--threshold: a node is named twice. Give each node one value.")
    before = SavedTree.read(path, table=table)
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


def _show(kept: SavedTree, before: SavedTree | None = None) -> None:
    """Print the tree and its accuracies, next to those before an edit."""
    console.say(kept.tree.to_text(numbered=True))
    for better, worse in kept.tree.pins_:
        console.say(f"pinned: leaf {better} at or above leaf {worse}")
    console.say("")
    accuracies_before = before.accuracies() if before else {}
    lines = console.table("Comparisons", "Accuracy", "Strict", "Decided", numbers=["Accuracy", "Strict", "Decided"])
    for name, found in kept.accuracies().items():
        values = [float(value[0]) for value in found]
        if name in accuracies_before:
            old = [float(value[0]) for value in accuracies_before[name]]
            lines.add_row(name, *(f"{was:.3f} → {now:.3f}" for was, now in zip(old, values, strict=True)))
        else:
            lines.add_row(name, *(f"{value:.3f}" for value in values))
    console.out.print(lines)
