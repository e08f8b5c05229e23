"""What the contract test derives from a description: damaged raw files, and the account of the rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

from data_adapters.contests.adapter import ContestAdapter
from data_adapters.contests.tables import PREFIXES
from data_adapters.source.adapter import Adapter
from models.records.features import FeatureKind
from tests.data_adapters.datasets.damaged import Account, Damage, Edit

FOREIGN = "nothing of this name"
Row = dict[str, str]


def derived_account(source: Adapter) -> Account | None:
    """A match is a comparison, and a row of the items' file an item; None for an adapter with a reader of its own."""
    if not isinstance(source, ContestAdapter):
        return None
    matches, items = source.tables.matches, source.tables.items
    account: Account = {"comparisons": lambda read: read[matches]}
    return account if items is None else {**account, "items": lambda read: read[items]}


def derived_damages(source: Adapter) -> tuple[Damage, ...]:
    """For any adapter, each file cut off; for one of contest tables also columns, ids and values gone wrong."""
    cut = (Damage(f"{file.name} cut off", file.name, cut_off, "") for file in source.dataset.raw)
    return (*cut, *(_of_contests(source) if isinstance(source, ContestAdapter) else ()))


def cut_off(content: bytes) -> bytes:
    """The first half, without the last characters of its last line."""
    half = content[: len(content) // 2].rstrip(b"\r\n")
    return half[: max(half.rfind(b","), half.rfind(b"\t"), half.rfind(b";"), 1)]


def rows(change: Callable[[list[Row]], None], separator: str) -> Edit:
    """Change the rows of a delimited file in place, each by its header; line 3 of the file is row 1."""

    def edit(content: bytes) -> bytes:
        found = list(csv.DictReader(io.StringIO(content.decode(), newline=""), delimiter=separator))
        change(found)
        written = io.StringIO(newline="")
        writer = csv.DictWriter(written, list(found[0]), delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
        return written.getvalue().encode()

    return edit


def _of_contests(source: ContestAdapter) -> list[Damage]:
    tables = source.tables
    file, winner, (first, second) = tables.matches, tables.winner, tables.outcome[:2]

    def matches(what: str, says: str, change: Callable[[list[Row]], None]) -> Damage:
        return Damage(what, file, rows(change, tables.separator), says)

    damages = [
        matches(
            "winner renamed", f"line 1: expected the header .*without '{re.escape(winner)}'",
            lambda found: found.__setitem__(slice(None), [{"x" * (key == winner) + key: row[key] for key in row}
                                                          for row in found]),
        ),
        matches("further column", f"line 1: .*unknown '{FOREIGN}'", lambda found: found[0].update({FOREIGN: "1"})),
        matches(
            "no winner", f"line 3: column {re.escape(winner)}: expected .* found ''",
            lambda found: found[1].update({winner: ""}),
        ),
        matches(
            "meets itself", f"line 3: column {re.escape(second)}: expected another item than the",
            lambda found: found[1].update({second: found[1][first]}),
        ),
    ]  # fmt: skip
    if tables.items is not None:
        unknown = f"line 3: column {re.escape(winner)}: expected (an item of|one of the two).* found '{FOREIGN}'"
        damages.append(matches("unknown winner", unknown, lambda found: found[1].update({winner: FOREIGN})))
        again = f"line 3: column {re.escape(tables.item)}: expected a new value"
        repeat = rows(lambda found: found[1].update({tables.item: found[0][tables.item]}), tables.separator)
        damages.append(Damage("item twice", tables.items, repeat, again))
    for feature in (*source.dataset.items, *(source.dataset.contexts or ())):
        in_items = tables.items is not None and feature in source.dataset.items
        prefix = "" if feature not in source.dataset.items or in_items else PREFIXES["loser"]
        column = prefix + tables.column(feature)
        kind = "a number" if feature.kind is FeatureKind.NUMERIC else "one of"
        says = f"line 3: column {re.escape(column)}: expected {kind}.* found '{FOREIGN}'"
        edit = rows(lambda found, column=column: found[1].update({column: FOREIGN}), tables.separator)
        damages.append(Damage(f"no {feature.name}", str(tables.items) if in_items else file, edit, says))
    if tables.items is None:
        column = PREFIXES["winner"] + tables.column(source.dataset.items[0])

        def another(found: list[Row]) -> None:
            found[-1][column] = next(row[column] for row in found if row[column] != found[-1][column])

        says = "column .*: expected the same as in this item's first match"
        damages.append(matches("another item's feature", says, another))
    return damages
