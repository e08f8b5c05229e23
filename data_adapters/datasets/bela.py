"""Breast-cancer screening in Belarus (BELA): 434 women, 18 tasks each of two screening programmes or neither.

The columns of the published file are not known here. Unless the user gives a mapping, the adapter uses
choice/mappings/bela.toml, which has the ten attributes of dt-pbo, Table 11.
"""

from __future__ import annotations

from data_adapters.choice.adapter import choice_adapter
from data_adapters.choice.simulator import Design
from data_adapters.source.description import Counts
from data_adapters.source.planted import Rule

WOMEN, REFUSERS, TASKS = 434, 6, 18

DESIGN = Design(
    respondents=WOMEN,
    tasks=TASKS,
    differing=3,
    opt_outs=0.15,
    refusers=REFUSERS / WOMEN,
    types={
        "accuracy": (
            Rule(feature="sensitivity", cut=85, prefers="high"),
            Rule(feature="modality", prefers="high"),
            Rule(feature="cost", prefers="low"),
            Rule(feature="good_doctor", prefers="high"),
            Rule(feature="travel_time", prefers="low"),
            Rule(feature="waiting_time", prefers="low"),
        ),
        "economy": (
            Rule(feature="cost", cut=30, prefers="low"),
            Rule(feature="travel_time", prefers="low"),
            Rule(feature="waiting_time", prefers="low"),
            Rule(feature="sensitivity", prefers="high"),
            Rule(feature="appointment", prefers="high"),
        ),
        "trust": (
            Rule(feature="good_doctor", prefers="high"),
            Rule(feature="information", prefers="high"),
            Rule(feature="sensitivity", prefers="high"),
            Rule(feature="cost", prefers="low"),
            Rule(feature="travel_time", prefers="low"),
            Rule(feature="waiting_time", prefers="low"),
        ),
    },
)

STEPS = (
    "Find the data of Mandrik, Yaumenenka, Herrero and Jonker (2019), https://doi.org/10.1371/journal.pone.0224667: "
    "look there for the data availability statement and the supporting information",
    "Write a mapping of its columns after data_adapters/choice/mappings/bela.toml; "
    "data_adapters/choice/README.md shows how",
    "Run the study with --raw DIR --mapping FILE.toml",
)

ADAPTER = choice_adapter("bela", design=DESIGN, fetch_by_hand=STEPS, published=Counts(users=WOMEN - REFUSERS))
