"""`prefstudy explain`: explains why one player loses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli import console
from flows.cli.config import refuse_both
from flows.cli.options import FLAG, Raw, Unpinned
from models.records.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from data_adapters.table.pairwise_table import PairwiseTable
    from models.records.duel_results import PlayerSummary
    from tasks.duels.lost_matches import Losses

EXAMPLES = """Examples:
  prefstudy explain tennis --player "Novak Djokovic"
  prefstudy explain tennis --player "Novak Djokovic" --out djokovic

Fits a preference model with contexts to all matches. PREF-SHAP then shows
which features of the two players, and of the place, spoke for the winners.
Takes a minute or two."""


def explain(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Data set: tennis.")],
    player: Annotated[str, typer.Option(metavar="NAME", help="Player whose losses to explain: a name or an id.")],
    raw: Raw = None,
    simulated: Annotated[bool, typer.Option("--simulated", metavar=FLAG, help="Simulate the raw files.")] = False,
    allow_unpinned: Unpinned = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the values and two drawings.")] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Random seed.")] = 0,
) -> None:
    """Explain the matches that one player lost."""
    from data_adapters.files.whole_folder import refuse_foreign
    from tasks.duels.explanation_settings import ExplainConfig
    from tasks.duels.lost_matches import SETTINGS, explain_losses, find_player
    from tasks.runs.run_folder import check_output

    if name not in SETTINGS:
        raise UsageError(f"{name}: losses can be explained for these data sets: {', '.join(SETTINGS)}.")
    refuse_both(raw, simulated=simulated)
    with console.err.status("Reading the matches ..."):
        table = _table(name, raw, simulated=simulated, allow_unpinned=allow_unpinned, seed=seed)
    find_player(table, player)  # a wrong name is refused before the slow fit
    if out is not None:
        refuse_foreign(out, *_ours())
        check_output(out.parent)
    with console.err.status("Fitting and explaining; this takes a minute or two ..."):
        losses = explain_losses(table, player, config=ExplainConfig(), seed=seed)
    _print(losses, simulated=table.manifest.simulated)
    if out is not None:
        _write(losses, out)
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


def _print(losses: Losses, *, simulated: bool) -> None:
    found = losses.by_items.explanation
    console.say(f"{losses.player} lost {len(found.values):,} of {losses.matches:,} matches.")
    if simulated:
        console.say("SIMULATED DATA: the player is invented.")
    console.say("\nFeatures of the two players, and the player they speak for:")
    console.out.print(_features(losses.features))
    console.say("\nPlaces, and how much they speak for the winner:")
    console.out.print(_places(losses))
    console.say(
        "\nSize is the mean absolute contribution to the preference for the winner, Mean the\n"
        f"mean contribution, both in log-odds. Smoothing leaves {losses.gap.gap:.3f} of a preference\n"
        f"unexplained on average; the mean size of a preference is {losses.gap.preference:.3f}.\n"
        "The numbers describe one fit and have no intervals; those that the tennis study reports have some."
    )


def _features(features: Sequence[PlayerSummary]) -> Table:
    lines = console.table("Feature", "Size", "Mean", "Speaks for the one with", numbers=["Size", "Mean"])
    for each in features:
        name = each.player.replace("_", " ")
        lines.add_row(name, f"{each.importance:.3f}", f"{each.mean:+.3f}", each.favours or "")
    return lines


def _places(losses: Losses) -> Table:
    names = [name.replace("_", " ") for name in losses.by_contexts.explanation.players]
    lines = console.table("Place", "Matches lost", *names, numbers=["Matches lost", *names])
    for place in losses.places:
        lines.add_row(place.words, f"{place.losses:,}", *(f"{mean:+.3f}" for mean in place.means))
    return lines


def _write(losses: Losses, out: Path) -> None:
    """Write the values as Parquet, and two drawings, all or nothing. Raises OutputError."""
    from data_adapters.files.whole_folder import whole_folder
    from reports.duels.explanation import explanation_picture, player_values
    from reports.page.html import standalone_svg
    from tasks.duels.explanation_results import write_explanations

    explained = [losses.by_items, losses.by_contexts]
    marker, ours = _ours()
    with whole_folder(out, marker=marker, ours=ours) as aside:
        write_explanations(explained, aside)
        for one in explained:
            found, players = one.explanation, []
            for summary in one.summary().players:
                at = found.players.index(summary.player)
                players.append(player_values(summary, found.values[:, at], found.data[:, at]))
            picture = explanation_picture(one.name, one.model, players, of=one.of)
            (aside / f"{one.name}.svg").write_text(standalone_svg(picture), encoding="utf-8")


def _ours() -> tuple[str, tuple[str, ...]]:
    """The file that shows that this command wrote a folder, and all files that it writes."""
    from models.records.duel_results import EXPLAINED, EXPLAINED_DUELS, EXPLANATIONS
    from tasks.duels.lost_matches import BY_CONTEXTS, BY_ITEMS

    marker = f"{EXPLAINED}.json"
    tables = (f"{EXPLANATIONS}.parquet", f"{EXPLAINED_DUELS}.parquet")
    return marker, (marker, *tables, f"{BY_ITEMS}.svg", f"{BY_CONTEXTS}.svg")
