"""The data card in a report: missing values and distribution of every feature, and the bias between the sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from models.records.card import DataCard, FeatureCard, counted, missing_in_words, values_in_words
from models.records.features import Feature
from reports.page import style
from reports.page.blocks import Column, Picture, Row, Table, italic
from reports.page.wording import spaced

MOST_BARS = 12
BARS_WIDTH = 20.0  # mm
_BAR, _GAP, _HEIGHT = 5.0, 1.0, 13.0
_LEAST = 0.8  # rare values stay visible


def feature_table(card: DataCard) -> Table:
    """A row for each feature, with a small picture of its distribution."""
    return Table(
        f"Features of {card.manifest.title} ({card.manifest.name}).",
        [Column("Feature", "left"), Column("Missing"), Column("", "left"), Column("Values", "left")],
        [row for part, features in groupby(card.features, key=_part) for row in _rows(card, part, list(features))],
        note="Numbers: bars from the lowest to the highest value; quartiles in brackets. Labels: one bar each, up to "
        f"{MOST_BARS}, the most frequent first unless they have an order.",
    )


def sides(card: DataCard) -> str:
    """The share of comparisons in which the left item was preferred, with its interval, if sides were presented."""
    bias = card.side_bias
    if bias is None:
        return "drawn by a hash of the comparison" if card.manifest.side == "random" else "as presented"
    return (
        f"as presented; the left item was preferred in {bias.share:.1%} of {counted(bias.comparisons, 'comparisons')} "
        f"(95% interval {bias.low:.1%} to {bias.high:.1%})"
    )


def _part(feature: FeatureCard) -> str:
    return feature.part


def _rows(card: DataCard, part: str, features: Sequence[FeatureCard]) -> Iterator[Row]:
    heading = counted(card.manifest.rows[part], part)
    for position, feature in enumerate(features):
        name = feature.feature.name
        picture = draw_bars(f"{card.manifest.name}-{part}-{name}", feature.counts[:MOST_BARS], alt=f"bars of {name}")
        cells = (
            _named(feature.feature),
            missing_in_words(feature),
            picture,
            values_in_words(feature),
        )
        yield Row(cells, group="" if position else heading)


def _named(feature: Feature) -> str:
    name = spaced(feature.name)
    return name if feature.description == name else f"{name}: {italic(feature.description)}"


def draw_bars(name: str, counts: Sequence[int], *, alt: str) -> Picture:
    """One bar for each count, relative to the largest, small enough for a row of a table."""
    most = max(counts, default=0)
    across = MOST_BARS * (_BAR + _GAP) - _GAP
    bars = "".join(
        f'<rect x="{position * (_BAR + _GAP):g}" y="{_HEIGHT - height:.2f}" width="{_BAR:g}" height="{height:.2f}"/>'
        for position, count in enumerate(counts)
        if count
        for height in [_LEAST + (_HEIGHT - _LEAST) * count / most]
    )
    line = f'<rect x="0" y="{_HEIGHT:g}" width="{across:g}" height="0.5" fill="{style.RULE}"/>'
    box = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:g} {_HEIGHT + 0.5:g}"'
    return Picture(name, f'<svg {box}><g fill="{style.ACCENT_MID}">{bars}</g>{line}</svg>', BARS_WIDTH, alt)
