"""Damaged files of the synthetic matches, beyond what every description of contest tables is tested with."""

from __future__ import annotations

from tests.data_adapters.datasets.damaged import Damage, field, line, lines

ITEMS, MATCHES = "items.csv", "matches.csv"

DAMAGED = (
    Damage("another header", ITEMS, lines(lambda found: [found[0].upper(), *found[1:]]), "line 1: expected the header"),
    Damage("no value", ITEMS, field(3, 2, "", ","), "line 3: column between_ab: expected a number, found ''"),
    Damage("no match", MATCHES, lines(lambda found: found[:1]), "expected matches, found none"),
    Damage("a third wins", MATCHES, line(5, lambda text: ",".join([*text.split(",")[:2], other_than(text)])),
           "line 5: column winner: expected one of the two that met"),
    Damage("matches cut off in a line", MATCHES, lambda content: content[: content.rfind(b",")], "expected 3 fields"),
)  # fmt: skip


def other_than(text: str) -> str:
    return next(number for number in ("1", "2", "3") if number not in text.split(",")[:2])
