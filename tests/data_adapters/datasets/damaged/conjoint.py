"""Damaged files of the wide layout."""

from __future__ import annotations

from tests.data_adapters.datasets.damaged import Account, Damage, field, line, lines

FILE = "flats.csv"
ACCOUNT: Account = {"comparisons": lambda read: read[FILE]}

DAMAGED = (
    Damage("column of one side missing", FILE, line(1, lambda text: text.replace("B_rent", "B.rent")),
           r"header: there is no column 'B_rent' \(attributes.rent of conjoint.toml\)"),
    Damage("unknown choice", FILE, lines(lambda found: [text.replace(",neither,", ",none,") for text in found]),
           r"line \d+: column answer: expected 'A' or 'B' or '' or 'neither' \(wide.left, .*\), found 'none'"),
    Damage("task twice", FILE, field(3, 1, "1", ","),
           "line 3: column question: expected a new task of this respondent, found '1'"),
    Damage("unknown level on the right", FILE, field(4, 10, "4", ","),
           "line 4: column B_noise: expected one of '1', '2', '3' .* found '4'"),
    Damage("unknown age group", FILE, field(4, 13, "80", ","),
           r"line 4: column age_group: .* \(respondents.age_group.levels, missing of conjoint.toml\), found '80'"),
    Damage("two ages of one respondent", FILE, field(5, 13, "18-29", ","),
           r"line 5: column age_group: expected the same as in the respondent's line 2 \(.*\), found '18-29'"),
)  # fmt: skip
