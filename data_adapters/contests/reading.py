"""Strict reading of contests: every error names file, line, column, value and what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from data_adapters.contests.tables import PREFIXES, ContestTables
from data_adapters.source import strict
from data_adapters.source.description import Dataset
from data_adapters.source.faults import read_all
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Columns, Reading
from data_adapters.table.side import coin_of
from models.records.errors import RawDataError
from models.records.features import Feature, FeatureKind
from models.records.plain_text import escaped

Ids = NDArray[np.object_]


def read_contests(dataset: Dataset, tables: ContestTables, raw: RawFolder) -> tuple[Reading, ...]:
    """Read items, matches and their contexts into one table of the data set's name. Raises RawDataError."""
    matches = _read_table(raw, tables.matches, tables.match_columns(dataset), tables)
    matches.rows.require_some("matches")
    rows_read = {tables.matches: len(matches.rows.lines)}
    read_items = partial(_items_of_matches, matches, dataset, tables)
    if tables.items is not None:
        listed = _read_table(raw, tables.items, tables.item_columns(dataset), tables)
        read_items = partial(_listed_items, listed, matches, dataset, tables)
        rows_read = {tables.items: len(listed.rows.lines), **rows_read}
    found = read_all({
        "comparisons": partial(_comparisons, matches, dataset, tables),
        "items": read_items,
        "contexts": partial(_contexts, matches, dataset, tables),
    })  # fmt: skip
    comparisons, items, (contexts, context_id) = found.values()
    return (
        Reading(
            name=dataset.name,
            items=items,
            contexts=contexts,
            comparisons=comparisons if context_id is None else {**comparisons, "context_id": context_id},
            rows_read=rows_read,
        ),
    )


def _read_table(raw: RawFolder, file: str, names: Sequence[str], tables: ContestTables) -> strict.Columns:
    """The columns of a file, in any order; a byte order mark is not part of the first name."""
    rows = strict.read_rows(raw.file(file), separator=tables.separator, quoted=True, encoding="UTF-8-SIG")
    header = rows.fields[0] if rows.fields else []
    read = [name for name in header if name not in tables.ignored or name in names]
    if sorted(read) != sorted(names):
        found = escaped(_difference(read, names)) + rows.separator_hint()
        raise RawDataError(f"{file}, line 1: expected the header {', '.join(names)}, {found}.")
    return rows.after_header(header).columns(header, final_break=tables.final_break)


def _difference(found: Sequence[str], expected: Sequence[str]) -> str:
    """How a header differs from the columns expected, in any order."""
    missing = [name for name in expected if name not in found]
    unknown = [name for name in found if name not in expected]
    twice = sorted({name for name in found if found.count(name) > 1} - set(unknown))
    parts = {"without": missing, "with the unknown": unknown, "with twice the": twice}
    return "found one " + " and ".join(
        f"{word} {', '.join(map(repr, names))}" for word, names in parts.items() if names
    )


def _ids(columns: strict.Columns, column: str) -> Ids:
    return np.array(columns.names(column), dtype=object)


def _values(columns: strict.Columns, column: str, feature: Feature, tables: ContestTables) -> Any:
    """The values of one feature in a column, (n,); a label is written as the name of its level."""
    if feature.kind is FeatureKind.NUMERIC:
        lowest = -np.inf if feature.minimum is None else feature.minimum
        highest = np.inf if feature.maximum is None else feature.maximum
        return columns.numbers_or_missing(column, missing=tables.missing, minimum=lowest, maximum=highest)
    levels = feature.levels or ()
    is_binary = feature.kind is FeatureKind.BINARY
    meaning: dict[str, str | bool | None] = dict(zip(levels, (False, True) if is_binary else levels, strict=True))
    return columns.labels(column, meaning | dict.fromkeys(set(tables.missing) - set(levels)))


def _listed_items(listed: strict.Columns, matches: strict.Columns, dataset: Dataset, tables: ContestTables) -> Columns:
    """The items of their own file; it must list all that met."""
    columns = {
        feature.name: partial(_values, listed, tables.column(feature), feature, tables) for feature in dataset.items
    }
    found = read_all({
        "item_id": partial(_ids, listed, tables.item),
        "unique": partial(listed.require_unique, tables.item),
        **columns,
    })  # fmt: skip
    known = {column: np.isin(_ids(matches, column), found["item_id"]) for column in tables.outcome}
    expected = f"an item of {tables.items}"
    read_all({column: partial(matches.require, column, known[column], expected) for column in known})
    return {name: values for name, values in found.items() if name != "unique"}


def _items_of_matches(matches: strict.Columns, dataset: Dataset, tables: ContestTables) -> Columns:
    """The items in the order in which they first occur; each has the same features in all its matches."""
    ids = {side: _ids(matches, column) for side, column in zip(PREFIXES, tables.outcome, strict=True)}
    met = np.stack(list(ids.values()), axis=1).ravel()
    first = {item: at for at, item in reversed(list(enumerate(met)))}
    rows = sorted(first.values())

    def read(feature: Feature) -> Any:
        columns = {side: prefix + tables.column(feature) for side, prefix in PREFIXES.items()}
        values = read_all(
            {side: partial(_values, matches, column, feature, tables) for side, column in columns.items()}
        )
        texts = np.stack([np.array(matches.texts[column], dtype=object) for column in columns.values()], axis=1).ravel()
        for side, column in columns.items():
            agrees = texts[[first[item] for item in ids[side]]] == np.array(matches.texts[column], dtype=object)
            matches.require(column, agrees, "the same as in this item's first match")
        return np.stack(list(values.values()), axis=1).ravel()[rows]

    return {"item_id": met[rows], **read_all({feature.name: partial(read, feature) for feature in dataset.items})}


def _contexts(matches: strict.Columns, dataset: Dataset, tables: ContestTables) -> tuple[Columns | None, Ids | None]:
    """The different contexts in the order in which they first occur, and the id of each match's context, (n,)."""
    if not dataset.contexts:
        return None, None
    columns = {feature.name: tables.column(feature) for feature in dataset.contexts}
    keys = list(zip(*(matches.texts[column] for column in columns.values()), strict=True))
    first = {key: at for at, key in reversed(list(enumerate(keys)))}
    rows = sorted(first.values())
    names = {keys[at]: f"context-{number}" for number, at in enumerate(rows, 1)}
    found = read_all({
        feature.name: partial(_values, matches, columns[feature.name], feature, tables) for feature in dataset.contexts
    })  # fmt: skip
    values = {name: of_matches[rows] for name, of_matches in found.items()}
    return {"context_id": list(names.values()), **values}, np.array([names[key] for key in keys], dtype=object)


def _comparisons(matches: strict.Columns, dataset: Dataset, tables: ContestTables) -> Columns:
    winner, loser = _winners_and_losers(matches, tables)
    comparison_id = pa.array([f"match-{number}" for number in range(1, len(winner) + 1)], pa.string())
    if dataset.side == "presented" and tables.sides is not None:
        left_wins = winner == _ids(matches, tables.sides[0])
    else:
        left_wins = coin_of(comparison_id)
    return {
        "comparison_id": comparison_id,
        "left_id": np.where(left_wins, winner, loser),
        "right_id": np.where(left_wins, loser, winner),
        "left_wins": left_wins,
    }


def _winners_and_losers(matches: strict.Columns, tables: ContestTables) -> tuple[Ids, Ids]:
    winner = _ids(matches, tables.winner)
    if tables.sides is None:
        loser = _ids(matches, str(tables.loser))
        matches.require(str(tables.loser), winner != loser, "another item than the winner")
        return winner, loser
    one, other = (_ids(matches, column) for column in tables.sides)
    matches.require(tables.sides[1], one != other, "another item than the first")
    matches.require(tables.winner, (winner == one) | (winner == other), "one of the two that met")
    return winner, np.where(winner == one, other, one)
