"""The tables of a data set of contests: files, columns, separator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from data_adapters.source.description import Dataset
from models.records.features import Feature

PREFIXES = {"winner": "winner_", "loser": "loser_"}
"""Prefixes of the columns that hold the items' features in the file of matches."""


@dataclass(frozen=True, kw_only=True)
class ContestTables:
    """One delimited file of matches and, unless it has the items' features too, one of items.

    matches: the file with one row per match.
    winner: its column with the id of the winner.
    loser: its column with the id of the loser; None if `sides` is given.
    sides: its columns with the ids of the two that met, the first of them on the left where the data presents sides.
    items: the file with one row per item; None if each match has the features of both, as winner_NAME and loser_NAME.
    item: the column of `items` with the id.
    columns: by feature, its column if that has another name.
    ignored: further columns that the files may have, and that are not read.
    missing: the texts that mean a missing feature value.
    final_break: whether a complete file ends in a line break; one without it then counts as cut off.
    """

    matches: str
    winner: str
    loser: str | None = None
    sides: tuple[str, str] | None = None
    items: str | None = None
    item: str = "item"
    columns: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    missing: tuple[str, ...] = ("",)
    separator: str = ","
    final_break: bool = True

    @property
    def outcome(self) -> tuple[str, ...]:
        """The columns of the matches that say who met and who won."""
        return (self.winner, self.loser) if self.loser is not None else (*(self.sides or ()), self.winner)

    def column(self, feature: Feature) -> str:
        """The column of a feature, without the prefix of a side."""
        return self.columns.get(feature.name, feature.name)

    def match_columns(self, dataset: Dataset) -> tuple[str, ...]:
        """The columns that the file of matches has to have."""
        features = [self.column(feature) for feature in dataset.items] if self.items is None else []
        of_sides = [prefix + column for prefix in PREFIXES.values() for column in features]
        return (*self.outcome, *of_sides, *map(self.column, dataset.contexts or ()))

    def item_columns(self, dataset: Dataset) -> tuple[str, ...]:
        """The columns that the file of items has to have."""
        return (self.item, *map(self.column, dataset.items))
