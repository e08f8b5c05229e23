"""Damaged files of the synthetic matches, and how many matches there are."""

from __future__ import annotations

from tests.data_adapters.datasets.damaged import Account, Damage, field, line, lines

ITEMS, MATCHES = "items.csv", "matches.csv"

ACCOUNT: Account = {"items": lambda read: read[ITEMS], "comparisons": lambda read: read[MATCHES]}

DAMAGED = (
    Damage("another header", ITEMS, lines(lambda found: [found[0].upper(), *found[1:]]), "line 1: expected the header"),
    Damage("item twice", ITEMS, lines(lambda found: [*found[:10], found[9]]),
           r"line 11: column item: expected a new value \(line 10 has this one\), found '9'"),
    Damage("item missing", MATCHES, field(3, 1, "", ","), "line 3: column second: expected a text, found ''"),
    Damage("no number", ITEMS, field(3, 2, "high", ","), "line 3: column between_ab: expected a number, found 'high'"),
    Damage("a fourth cluster", ITEMS, field(4, 5, "D", ","), "line 4: column cluster: expected one of .*found 'D'"),
    Damage("items cut off", ITEMS, lambda content: content[:-4], "expected"),
    Damage("no match", MATCHES, lines(lambda found: found[:1]), "expected matches, found none"),
    Damage("meets itself", MATCHES, line(5, lambda text: ",".join([text.split(",")[0]] * 3)),
           "line 5: column second: expected another item than the first"),
    Damage("a third wins", MATCHES, line(5, lambda text: ",".join([*text.split(",")[:2], other_than(text)])),
           "line 5: column winner: expected one of the two that met"),
    Damage("unknown item", MATCHES, field(6, 0, "41", ","),
           "line 6: column first: expected an item of items.csv, found '41'"),
    Damage("matches cut off", MATCHES, lambda content: content[: content.rfind(b",")], "expected 3 fields"),
)  # fmt: skip


def other_than(text: str) -> str:
    return next(number for number in ("1", "2", "3") if number not in text.split(",")[:2])
