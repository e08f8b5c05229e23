"""Damaged files of the long layout with an opt-out."""

from __future__ import annotations

from tests.data_adapters.datasets.damaged import Account, Damage, field, line, lines

FILE = "bela.csv"
ACCOUNT: Account = {"comparisons": lambda read: read[FILE] // 3, "users": lambda read: read[FILE] // (3 * 18)}

DAMAGED = (
    Damage("empty", FILE, lambda _: b"", "expected a header, found an empty file"),
    Damage("empty line alone", FILE, lambda _: b"\n", "expected a header, found an empty line"),
    Damage("header alone", FILE, lines(lambda found: found[:1]), "expected choices, found none"),
    Damage("no header", FILE, lines(lambda found: found[1:]), "header: the column '1' appears"),
    Damage("column missing", FILE, line(1, lambda text: text.replace("cost", "costs")),
           r"header: there is no column 'cost' \(attributes.cost of bela.toml\). Did you mean costs\?"),
    Damage("column twice", FILE, line(1, lambda text: text.replace("cost", "combined")), "header: .* 'combined'"),
    Damage("cut off in a row", FILE, lambda found: found[:-30], r"line \d+: expected 14 fields .* found"),
    Damage("alternative missing", FILE, lines(lambda found: [*found[:5], *found[6:]]),
           "line 6: column alternative: expected one row for each of 1, 2, optout in task 2 of respondent 101, "
           "found 1, optout"),
    Damage("alternative twice", FILE, field(6, 2, "1", ","), "line 7: column alternative: .* found 1, 1, optout"),
    Damage("unknown alternative", FILE, field(6, 2, "3", ","),
           r"line 6: column alternative: expected '1' or '2' or 'optout' \(long.left, right, opt_out of bela.toml\), "
           "found '3'"),
    Damage("neither chosen nor not", FILE, field(6, 13, "yes", ","), "line 6: column chosen: .* found 'yes'"),
    Damage("nobody", FILE, field(6, 0, "", ","), "line 6: column respondent: expected a text, found ''"),
    Damage("unknown level", FILE, field(3, 3, "pigeon", ","),
           r"line 3: column invitation: .* 'letter', 'phone' \(attributes.invitation.levels, missing of bela.toml\), "
           "found 'pigeon'"),
    Damage("level missing", FILE, field(3, 3, "", ","), "line 3: column invitation: .* found ''"),
    Damage("number of no level", FILE, field(3, 6, "30", ","),
           r"line 3: column travel_time: expected one of the numbers 20, 40, 60, 90 .* found '30'"),
    Damage("no number", FILE, field(3, 12, "free", ","), "line 3: column cost: .* found 'free'"),
)  # fmt: skip
