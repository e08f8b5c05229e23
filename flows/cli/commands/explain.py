"""`prefstudy explain`: why one player loses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from flows.cli import console
from flows.cli.config import refuse_both
from models.records.errors import OutputError, UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from data_adapters.table.pairwise_table import PairwiseTable
    from models.shap.explanation import PreferenceExplanation
    from tasks.duels.losses import Losses

EXAMPLES = """Examples:
  prefstudy explain tennis --player "Novak Djokovic"
  prefstudy explain tennis --player "Novak Djokovic" --out djokovic

A preference model with contexts is fitted to all matches, and PREF-SHAP says
which features of the two players, and of where they played, spoke for those
who won. It takes a minute or two."""


def explain(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which data set: tennis.")],
    player: Annotated[str, typer.Option(metavar="NAME", help="Whose losses: a name, or an id.")],
    raw: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with the raw files; else PREFSTUDY_RAW and the cache.")
    ] = None,
    simulated: Annotated[bool, typer.Option("--simulated", help="Simulate the raw files.")] = False,
    allow_unpinned: Annotated[
        bool, typer.Option("--allow-unpinned", help="Accept raw files with another sha256.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the values and drawings of them.")] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of everything random.")] = 0,
) -> None:
    """Explain the matches that one player lost."""
    from tasks.duels.kept_explanations import ExplainConfig
    from tasks.duels.losses import SETTINGS, explain_losses, find_player
    from tasks.runs.run_folder import check_output

    if name not in SETTINGS:
        raise UsageError(f"{name}: the losses of a player can be explained of {', '.join(SETTINGS)}.")
    refuse_both(raw, simulated=simulated)
    with console.err.status("Reading the matches ..."):
        table = _table(name, raw, simulated=simulated, allow_unpinned=allow_unpinned, seed=seed)
    find_player(table, player)  # a wrong name is told before the minutes that follow
    if out is not None:
        check_output(out)
    with console.err.status("Fitting and explaining; this takes a minute or two ..."):
        losses = explain_losses(table, player, config=ExplainConfig(), seed=seed)
    _say(losses, simulated=table.manifest.simulated)
    if out is not None:
        _keep(losses, out)
        console.say(f"\nValues and drawings: {console.shown(out)}")


def _table(name: str, raw: Path | None, *, simulated: bool, allow_unpinned: bool, seed: int) -> PairwiseTable:
    from tempfile import TemporaryDirectory

    from data_adapters.catalogue import adapter
    from data_adapters.source.build import build
    from data_adapters.source.locate import locate
    from data_adapters.source.simulation import simulate

    source = adapter(name)
    with TemporaryDirectory() as folder:
        if simulated:
            raw = Path(folder)
            simulate(source, raw, seed=seed, users=None)
        tables = build(source, locate(source, raw, allow_unpinned=allow_unpinned))
    return next(table for table in tables if table.name == name)


def _say(losses: Losses, *, simulated: bool) -> None:
    found = losses.by_items.explanation
    console.say(f"{losses.player} lost {len(found.values):,} of {losses.matches:,} matches.")
    if simulated:
        console.say("SIMULATED DATA: the player is invented.")
    console.say("\nWhat the two are like, and whom it speaks for:")
    console.out.print(_features(found))
    console.say("\nWhere they played, and how far that speaks for the winner:")
    console.out.print(_places(losses))
    console.say(
        "\nSize is the mean of the absolute contributions to the preference for the winner,\n"
        "mean that of the contributions, both in log-odds. Smoothing hides "
        f"{np.abs(found.gap).mean():.3f} of a\npreference, of {np.abs(found.score).mean():.3f}, on average."
    )


def _features(found: PreferenceExplanation) -> Table:
    lines = console.table("Feature", "Size", "Mean", "Speaks for the one with", numbers=["Size", "Mean"])
    sizes = np.abs(found.values).mean(axis=0)
    for at in np.argsort(-sizes, kind="stable"):
        towards_more = float(found.values[:, at] @ np.sign(np.nan_to_num(found.data[:, at])))
        side = "more" if towards_more > 0 else "less" if towards_more < 0 else ""
        name = found.players[at].replace("_", " ")
        lines.add_row(name, f"{sizes[at]:.3f}", f"{found.values[:, at].mean():+.3f}", side)
    return lines


def _places(losses: Losses) -> Table:
    """A line a kind of place, the most frequent first."""
    found = losses.by_contexts.explanation
    names = [name.replace("_", " ") for name in found.players]
    lines = console.table("Place", "Matches lost", *names, numbers=["Matches lost", *names])
    places = np.array(losses.contexts)
    for place, n in Counter(losses.contexts).most_common():
        lines.add_row(place, f"{n:,}", *(f"{mean:+.3f}" for mean in found.values[places == place].mean(axis=0)))
    return lines


def _keep(losses: Losses, out: Path) -> None:
    """The values as Parquet, and two drawings. Raises OutputError."""
    from reports.duels.explanation import explanation_picture
    from reports.figures.beeswarm import PlayerValues
    from reports.page.html import standalone_svg
    from tasks.duels.kept_explanations import write_explanations

    try:
        out.mkdir(parents=True, exist_ok=True)
        explained = [losses.by_items, losses.by_contexts]
        write_explanations(explained, out)
        for one in explained:
            found = one.explanation
            order = np.argsort(-np.abs(found.values).mean(axis=0), kind="stable")
            players = [
                PlayerValues(found.players[at].replace("_", " "), found.values[:, at], found.data[:, at])
                for at in order
            ]
            picture = explanation_picture(one.name, one.model, players, of=one.of)
            (out / f"{one.name}.svg").write_text(standalone_svg(picture), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror}. Choose another folder with --out.") from error
