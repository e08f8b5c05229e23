"""Prints a data card in the terminal: source, dropped rows, and small bars for the values of each feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from flows.cli.console import table
from models.records.card import (
    DataCard,
    FeatureCard,
    SideBias,
    counted,
    dropped_in_words,
    missing_in_words,
    read_in_words,
    rows_in_words,
    state_in_words,
    values_in_words,
)
from models.records.plain_text import escaped

BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 12
SHOWN_OF_HASH = 12
HOW_TO_READ = (
    "Numbers: a histogram from the lowest to the highest value; the quartiles are in brackets. "
    "Labels: a bar for each, the most frequent first unless the labels are ordered."
)


def shown_card(card: DataCard) -> RenderableType:
    """The card for rich to print, at any width from 80 columns."""
    manifest = card.manifest
    parts = [
        line
        for part, features in groupby(card.features, key=lambda feature: feature.part)
        for line in _part(part, manifest.rows[part], list(features))
    ]
    reading = [Text(""), Text(HOW_TO_READ, style="dim")] if parts else []
    return Group(Text(escaped(f"{manifest.title} · {manifest.name}"), style="bold"), _facts(card), *parts, *reading)


def _facts(card: DataCard) -> Table:
    manifest = card.manifest
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in _lines(card):
        facts.add_row(name, Text(escaped(value), style="bold red" if name == "State" and manifest.simulated else ""))
    return facts


def _lines(card: DataCard) -> Iterator[tuple[str, str]]:
    manifest = card.manifest
    licence = manifest.licence
    yield "Source", manifest.citation
    yield "Licence", f"{licence.name}. {licence.terms}{f' {licence.url}' if licence.url else ''}"
    yield "State", state_in_words(manifest)
    yield "Rows", rows_in_words(manifest)
    yield "Read", read_in_words(manifest)
    yield from _named("Dropped", dropped_in_words(manifest))
    yield "Left and right", _sides(card.side_bias)
    yield from _named("Oddities", manifest.quirks)
    files = [f"{file.name}, {file.bytes:,} bytes, sha256 {file.sha256[:SHOWN_OF_HASH]}" for file in manifest.raw_files]
    yield from _named("Files", files)


def _named(name: str, values: Sequence[str]) -> Iterator[tuple[str, str]]:
    """One line for each value. Only the first line shows the name."""
    for position, value in enumerate(values):
        yield ("" if position else name), value


def _sides(bias: SideBias | None) -> str:
    if bias is None:
        return "the data has no sides; they are assigned by a hash of each comparison"
    interval = f"95% interval {bias.low:.1%} to {bias.high:.1%}"
    return f"the left item won {bias.share:.1%} of {counted(bias.comparisons, 'comparisons')} ({interval})"


# ---------------------------------------------------------------------------------------------- features


def _part(part: str, rows: int, features: Sequence[FeatureCard]) -> Iterator[RenderableType]:
    yield Text("")
    lines = table(counted(rows, part), "Missing", "", "Values", numbers=["Missing"])
    for feature in features:
        lines.add_row(
            feature.feature.name,
            missing_in_words(feature),
            _bars(feature.counts[:MOST_BARS]),
            values_in_words(feature),
        )
    yield lines


def _bars(counts: Sequence[int]) -> Text:
    """One bar for each count, relative to the largest count; blank for a count of 0."""
    most = max(counts, default=0)
    bars = [BARS[(count * len(BARS) - 1) // most] if count else " " for count in counts]
    return Text("".join(bars), style="cyan", no_wrap=True)
