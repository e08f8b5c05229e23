"""Damaged files of the long layout without an opt-out."""

from __future__ import annotations

from tests.data_adapters.datasets.damaged import Account, Damage, field, lines

FILE = "presidential.csv"
ACCOUNT: Account = {"comparisons": lambda read: read[FILE] // 2, "users": lambda read: read[FILE] // (2 * 30)}

DAMAGED = (
    Damage("candidate missing", FILE, lines(lambda found: found[:-1]),
           r"line 2400: column profile: expected one row for each of 1, 2 in task 30 of respondent 140, found 1"),
    Damage("three candidates", FILE, lines(lambda found: [*found, found[-1]]), "line 2402: column profile: .* 1, 2, 2"),
    Damage("unknown level", FILE, field(2, 3, "man", ","), "line 2: column gender: .*'male', 'female'"),
    Damage("unknown age", FILE, field(2, 4, "35", ","), "line 2: column age: .* 36, 45, 54, 63, 72 .* found '35'"),
    Damage("quote open", FILE, field(2400, 3, '"male', ","), "line .*: unexpected end of data"),
    Damage("no UTF-8", FILE, lambda found: found.replace(b"lawyer", b"l\xe4wyer", 1), "line .*: expected UTF-8"),
)  # fmt: skip
