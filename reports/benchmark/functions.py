"""The functions that stand for decision makers, and how rugged they are (dt-pbo, Table 3)."""

from __future__ import annotations

from models.benchmarks.functions import benchmark_function
from models.records.studies.benchmark_results import (
    ERROR,
    FUNCTION,
    MEAN,
    P95,
    PUBLISHED_MEAN,
    PUBLISHED_P95,
    RUGGEDNESS,
)
from reports.benchmark.results import Results, number, title
from reports.page.blocks import Block, Column, Definitions, Prose, Row, Section, Table

NO_DATA = "functions, no data: the decision makers are eight known functions, whose values answer every question"


def function_section(results: Results) -> Section:
    """Each function with its maximum, and its ruggedness beside the published one, from the most rugged on."""
    found = results.run.table(RUGGEDNESS, (FUNCTION, MEAN, P95, ERROR, PUBLISHED_MEAN, PUBLISHED_P95))
    rows = []
    for row in found.sort_values(MEAN, ascending=False, kind="stable").to_dict("records"):
        function = benchmark_function(str(row[FUNCTION]))
        numbers = [number(float(row[name])) for name in (MEAN, PUBLISHED_MEAN, P95, PUBLISHED_P95)]
        rows.append(Row((title(function.name), number(function.maximum), *numbers)))
    about = Prose(
        [
            "The functions are those of Surjanovic and Bingham’s library, scaled to the unit cube and turned upside "
            "down, so that the best point has the greatest utility. Ruggedness is the mean absolute second difference "
            "in a random direction, of the function standardised to variance 1. The paper does not state the steps; "
            "here they are 0.005, 0.01 and 0.02, so the order can be compared and the numbers only roughly."
        ]
    )
    table = Table(
        "The functions, from the most rugged on, with their ruggedness.",
        [
            Column("", "left"), Column("maximum"), Column("found", group="Mean"), Column("paper", group="Mean"),
            Column("found", group="95th percentile"), Column("paper", group="95th percentile"),
        ],
        rows,
        note="Paper: dt-pbo, Table 3.",
    )  # fmt: skip
    return Section("The functions", [about, table])


def no_data() -> Block:
    """What stands in the place of a data card."""
    return Definitions([("Data", NO_DATA[:1].upper() + NO_DATA[1:] + ".")])
