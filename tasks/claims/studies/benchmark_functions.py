"""What dt-pbo says of the eight functions themselves: how rugged they are, and how long models took to search them.

What it claims of the models that search them is in `benchmark.py`, for a study tests it.
"""

from __future__ import annotations

from models.benchmarks.functions import benchmark_function
from models.records.studies.benchmark_results import GP, SKEW_GP, TREE
from tasks.claims.computed import COMPUTED, LARGEST, OWN_STEPS, P95, RHO_REGRET, RUGGEDNESS, STRICT, TIES_ALLOWED
from tasks.claims.declared import Claim, Number, Order, Pair, Place, StudyClaims, not_testable

TABLE_3 = "dt-pbo, Table 3"

PUBLISHED_RUGGEDNESS = {
    "de_jong_5": (1162.28, 8611.07),
    "holder_table": (703.40, 2355.97),
    "michalewicz": (488.89, 1842.49),
    "levy": (259.45, 913.48),
    "schwefel": (230.98, 495.63),
    "branin": (24.45, 84.38),
    "rosenbrock": (11.37, 31.57),
    "hartmann": (7.76, 30.19),
}
"""Mean and 95th percentile of each function."""
PUBLISHED_SECONDS = {
    function: dict(zip((TREE, GP, SKEW_GP), seconds, strict=True))
    for function, seconds in {
        "rosenbrock": (11.66, 308.23, 2461.15),
        "hartmann": (11.49, 436.43, 4371.08),
        "branin": (15.33, 246.50, 1194.08),
        "levy": (14.27, 273.81, 1345.60),
        "michalewicz": (11.31, 394.72, 2870.25),
        "schwefel": (12.19, 271.44, 2086.21),
        "holder_table": (16.91, 95.52, 1252.26),
        "de_jong_5": (15.71, 195.34, 1091.30),
    }.items()
}
"""Seconds of 200 questions with each model (Table 5), on the machine of the authors."""


_largest = Place(model=RHO_REGRET, variant=TIES_ALLOWED, metric=LARGEST, split=COMPUTED)


def _place(function: str, metric: str) -> Place:
    return Place(model=function, variant="", metric=metric, split=COMPUTED, protocol=OWN_STEPS)


def _ruggedness(function: str, mean: float, p95: float) -> tuple[Claim, Claim]:
    """The claims about one function of Table 3."""
    name = {"de_jong_5": "De Jong", "holder_table": "Hölder"}.get(function, function.capitalize())
    return (
        Claim(
            name=f"{RUGGEDNESS}_{function}",
            source=TABLE_3,
            words=f"The mean ruggedness of {name} is {mean:,.2f}.",
            test=Number(value=mean, decimals=2, places=(_place(function, RUGGEDNESS),)),
        ),
        Claim(
            name=f"{P95}_{function}",
            source=TABLE_3,
            words=f"The 95th percentile of the ruggedness of {name} is {p95:,.2f}.",
            test=Number(value=p95, decimals=2, places=(_place(function, P95),)),
        ),
    )


def _more_rugged(function: str, other: str, words: str) -> Claim:
    """The claim that one group of functions is more rugged, tested on the two functions that are the nearest."""
    pair = Pair(first=_place(function, RUGGEDNESS), second=_place(other, RUGGEDNESS))
    return Claim(
        name=f"{function}_above_{other}",
        source="dt-pbo, appendix F.2",
        words=words,
        test=Order(pairs=(pair,), side="above"),
    )


CLAIMS = StudyClaims(
    study=None,
    claims=(
        Claim(
            name="largest_regret", source="dt-pbo, appendix G.1",
            words="The ρ-regret of a ranking of ten items is at most 4.57.",
            test=Number(
                value=4.57, decimals=2,
                places=(_largest, _largest.but(variant=STRICT, protocol="predictions without ties")),
            ),
        ),
        *(claim for function, values in PUBLISHED_RUGGEDNESS.items() for claim in _ruggedness(function, *values)),
        _more_rugged("michalewicz", "levy", "De Jong, Hölder and Michalewicz are more rugged than all others."),
        _more_rugged("schwefel", "branin", "Levy and Schwefel are more rugged than Branin, Rosenbrock and Hartmann."),
        *not_testable(
            "dt-pbo, Figure 8", "it is a judgement by eye",
            {"all_learn": "From 256 random comparisons, every model comes close to the true function."},
        ),
        *not_testable(
            "dt-pbo, Table 5",
            "times are those of the authors' machine",
            {
                f"seconds_{function}": f"200 questions about {benchmark_function(function).title} take "
                f"{seconds[TREE]:.2f} s with the tree, {seconds[GP]:.2f} s with a Gaussian process and "
                f"{seconds[SKEW_GP]:,.2f} s with SkewGP."
                for function, seconds in PUBLISHED_SECONDS.items()
            },
        ),
    ),
)  # fmt: skip
