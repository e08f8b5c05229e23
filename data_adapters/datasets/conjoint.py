"""Any choice experiment with two profiles per task: the user's own file, and a mapping that describes its columns.

The default mapping is choice/mappings/conjoint.toml, the worked example: an invented study of flats to rent.
"""

from __future__ import annotations

from data_adapters.choice.adapter import choice_adapter
from data_adapters.choice.simulator import Design
from data_adapters.source.planted import Rule

DESIGN = Design(
    respondents=150,
    tasks=14,
    types={
        "thrifty": (Rule(feature="rent", cut=700, prefers="low"), Rule(feature="size", prefers="high")),
        "comfort": (Rule(feature="size", cut=60, prefers="high"), Rule(feature="noise", prefers="low")),
        "outdoors": (Rule(feature="balcony", prefers="high"), Rule(feature="rent", prefers="low")),
    },
)

STEPS = (
    "Write a mapping of the columns of your file after data_adapters/choice/mappings/conjoint.toml; "
    "data_adapters/choice/README.md shows how",
    "Try it: prefstudy data build conjoint --raw DIR --mapping FILE.toml",
    "Run the study with --raw DIR --mapping FILE.toml",
)

ADAPTER = choice_adapter("conjoint", design=DESIGN, fetch_by_hand=STEPS)
