"""Damaged sushi files."""

from __future__ import annotations

from tests.data_adapters.datasets.damaged import Account, Damage, field, line, lines

ITEMS, USERS, ORDER_A, ORDER_B = "sushi3.idata", "sushi3.udata", "sushi3a.5000.10.order", "sushi3b.5000.10.order"


ACCOUNT: Account = {
    "items": lambda read: read[ITEMS],
    "users": lambda read: read[USERS],
    "comparisons": lambda read: 45 * sum(rows for file, rows in read.items() if file in {ORDER_A, ORDER_B}),
}


def flip(text: str, position: int) -> str:
    fields = text.split("\t")
    fields[position] = str(1 - int(fields[position]))
    return "\t".join(fields)


DAMAGED = (
    Damage("no header", ORDER_A, lines(lambda found: found[1:]), "line 1: expected the header 10, 1"),
    Damage("cut off in a line", ORDER_A, lines(lambda found: [*found[:19], found[19][:19]]),
           r"line 20: expected 10 items, found 7 \(user \d+\)"),
    Damage("cut off after a line", ORDER_B, lines(lambda found: found[:20]), "expected 40 orders.* found 19"),
    Damage("too many lines", ORDER_B, lines(lambda found: [*found, found[-1]]), "expected 40 orders.* found 41"),
    Damage("empty line", ORDER_A, line(5, lambda _: ""), "line 5: expected 10 items, found 0"),
    Damage("eleven items", ORDER_A, line(5, lambda text: text + " 3"), "line 5: expected 10 items, found 11"),
    Damage("two spaces", ORDER_A, line(5, lambda text: text.replace(" ", "  ", 1)), "line 5: .* found 11"),
    Damage("wrong length", ORDER_A, field(5, 1, "9", " "), "line 5: column length: expected 10, found '9'"),
    Damage("wrong start", ORDER_A, field(5, 0, "1", " "), "line 5: column start: expected 0, found '1'"),
    Damage("unknown item", ORDER_B, field(7, 3, "100", " "), "line 7: column rank 2: .* 0 to 99, found '100'"),
    Damage("no number", ORDER_A, field(7, 3, "x", " "), "line 7: column rank 2: .*whole number.* found 'x'"),
    Damage("repeated item", ORDER_A, line(9, lambda text: " ".join([*text.split()[:-1], text.split()[2]])),
           "line 9: expected 10 different items, found . twice"),
    Damage("item missing", ITEMS, lines(lambda found: found[:-1]), "expected 100 items, found 99"),
    Damage("items out of order", ITEMS, lines(lambda found: found[::-1]), "line 1: column item_id"),
    Damage("field missing", ITEMS, line(3, lambda text: text.rpartition("\t")[0]), "line 3: expected 9 fields"),
    Damage("another name in set A", ITEMS, field(27, 1, "tekkamaki", "\t"), "line 27: column name: .*'tekkamaki'"),
    Damage("name twice", ITEMS, field(12, 1, "ebi", "\t"), r"line 12: column name: .*\(line 1 has this one\)"),
    Damage("no name", ITEMS, field(12, 1, " ", "\t"), "line 12: column name: expected a text"),
    Damage("too light", ITEMS, field(2, 5, "4.5", "\t"), r"line 2: column oiliness: .*\[0, 4\], found '4.5'"),
    Damage("not finite", ITEMS, field(2, 7, "nan", "\t"), "line 2: column normalised_price: .* found 'nan'"),
    Damage("groups disagree", ITEMS, field(1, 3, "1", "\t"), "line 1: column major_group"),
    Damage("user twice", USERS, lines(lambda found: [*found[:-1], found[0]]), "line 40: column user_id"),
    Damage("unknown age", USERS, field(4, 2, "6", "\t"), "line 4: column age: .* 0 to 5, found '6'"),
    Damage("region elsewhere", USERS, field(4, 5, "11", "\t"), "line 4: column region_child"),
    Damage("half elsewhere", USERS, line(1, lambda text: flip(text, 9)), "line 1: column east_west_now"),
    Damage("moved or not", USERS, line(1, lambda text: flip(text, 10)), "line 1: column moved"),
)  # fmt: skip
