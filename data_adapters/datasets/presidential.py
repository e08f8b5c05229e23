"""Candidates for President: 30 tasks of two candidates each, with 4 to 20 attributes shown to a respondent.

The place and the columns of the published file are not known here. Unless the user gives a mapping, the adapter uses
choice/mappings/presidential.toml, which has the twenty attributes of dt-pbo, Table 13.
"""

from __future__ import annotations

from data_adapters.choice.adapter import choice_adapter
from data_adapters.choice.simulator import Design
from data_adapters.source.planted import Rule

DESIGN = Design(
    respondents=300,
    tasks=30,
    shown=(4, 20),
    types={
        "party": (
            Rule(feature="party", prefers="low"),
            Rule(feature="health_care", prefers="low"),
            Rule(feature="abortion", prefers="low"),
        ),
        "tradition": (
            Rule(feature="abortion", prefers="high"),
            Rule(feature="gay_marriage", prefers="high"),
            Rule(feature="religious_activity", cut=2, prefers="high"),
        ),
        "biography": (
            Rule(feature="military_service", prefers="high"),
            Rule(feature="age", cut=60, prefers="low"),
            Rule(feature="income", prefers="low"),
        ),
    },
)

STEPS = (
    "Find the data of Bansak, Hainmueller, Hopkins and Yamamoto (2018), https://doi.org/10.1017/pan.2017.40, in the "
    "Harvard Dataverse; two studies of the same kind are doi:10.7910/DVN/JYC2TH and doi:10.7910/DVN/TISLDL",
    "Write a mapping of its columns after data_adapters/choice/mappings/presidential.toml; "
    "data_adapters/choice/README.md shows how",
    "Run the study with --raw DIR --mapping FILE.toml",
)

ADAPTER = choice_adapter("presidential", design=DESIGN, fetch_by_hand=STEPS)
