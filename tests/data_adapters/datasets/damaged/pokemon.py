"""Damaged files of Weedle's Cave, and how many battles there are."""

from __future__ import annotations

from tests.data_adapters.datasets.damaged import Account, Damage, field, line, lines

ITEMS, COMBATS, TESTS = "pokemon.csv", "combats.csv", "tests.csv"

ACCOUNT: Account = {"items": lambda read: read[ITEMS], "comparisons": lambda read: read[COMBATS] + read[TESTS]}

DAMAGED = (
    Damage("another header", ITEMS, lines(lambda found: [found[0].lower(), *found[1:]]), "line 1: expected the header"),
    Damage("Pokemon missing", ITEMS, lines(lambda found: [*found[:9], *found[10:]]), "line 10: column #: .*'10'"),
    Damage("field missing", ITEMS, line(3, lambda text: text.rpartition(",")[0]), "line 3: expected 12 fields"),
    Damage("unknown type", ITEMS, field(3, 2, "Sound", ","), "line 3: column Type 1: expected one of .*'Sound'"),
    Damage("no first type", ITEMS, field(3, 2, "", ","), "line 3: column Type 1: .* found ''"),
    Damage("one type twice", ITEMS, line(3, lambda text: ",".join([*text.split(",")[:3], *text.split(",")[2:3],
           *text.split(",")[4:]])), "line 3: column Type 2: expected another type than the first"),
    Damage("stat too high", ITEMS, field(4, 9, "256", ","), "line 4: column Speed: .*0 to 255, found '256'"),
    Damage("stat no number", ITEMS, field(4, 5, "", ","), "line 4: column Attack: .*whole number.* found ''"),
    Damage("generation 0", ITEMS, field(4, 10, "0", ","), "line 4: column Generation"),
    Damage("legendary or not", ITEMS, field(4, 11, "TRUE", ","), "line 4: column Legendary: expected one of .*'TRUE'"),
    Damage("header without winner", COMBATS, lines(lambda found: ["First_pokemon,Second_pokemon", *found[1:]]),
           "line 1: expected the header First_pokemon, Second_pokemon, Winner"),
    Damage("no battle", COMBATS, lines(lambda found: found[:1]), "expected battles, found none"),
    Damage("a third wins", COMBATS, line(5, lambda text: ",".join([*text.split(",")[:2], other_than(text)])),
           "line 5: column Winner: expected one of the two that fought"),
    Damage("nobody wins", COMBATS, field(5, 2, "", ","), "line 5: column Winner: .* found ''"),
    Damage("fights itself", COMBATS, line(5, lambda text: ",".join([text.split(",")[0]] * 3)),
           "line 5: column Second_pokemon: expected another Pokemon than the first"),
    Damage("unknown Pokemon", COMBATS, field(6, 0, "41", ","), "line 6: column First_pokemon: .*1 to 40, found '41'"),
    Damage("cut off in a line", COMBATS, lambda content: content[: content.rfind(b",")], "expected 3 fields"),
    Damage("tests with an outcome", TESTS, lines(lambda found: [f"{text},1" for text in found]), "line 1: expected"),
    Damage("tests cut off", TESTS, lambda content: content[:-1], "expected a line break after"),
)  # fmt: skip


def other_than(text: str) -> str:
    return next(number for number in ("1", "2", "3") if number not in text.split(",")[:2])
