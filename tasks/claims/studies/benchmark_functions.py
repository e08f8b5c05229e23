"""What dt-pbo claims of simulated decision makers: eight functions whose maximum is searched by comparisons."""

from __future__ import annotations

from tasks.claims.computed import COMPUTED, LARGEST, OWN_STEPS, P95, RHO_REGRET, RUGGEDNESS, STRICT, TIES_ALLOWED
from tasks.claims.declared import Claim, Number, Order, Pair, Place, StudyClaims, not_testable

TABLE_3 = "dt-pbo, Table 3"
NO_STUDY = "no study searches these functions; SkewGP, the other side of the comparison, is not part of this project"
OWN_TIMES = "times are those of the authors' machine, and SkewGP is not part of this project"

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
SECONDS = {
    "Rosenbrock 5D": (11.66, 308.23, 2461.15),
    "Hartmann 6D": (11.49, 436.43, 4371.08),
    "Branin 2D": (15.33, 246.50, 1194.08),
    "Levy 2D": (14.27, 273.81, 1345.60),
    "Michalewicz 5D": (11.31, 394.72, 2870.25),
    "Schwefel 5D": (12.19, 271.44, 2086.21),
    "Hölder 2D": (16.91, 95.52, 1252.26),
    "De Jong 2D": (15.71, 195.34, 1091.30),
}
"""Seconds of 200 questions with the tree, a Gaussian process and SkewGP."""


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


def _name(function: str) -> str:
    return function.lower().replace(" ", "_").replace("ö", "o")


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
            "dt-pbo, Figure 2",
            NO_STUDY,
            {
                "smooth": "On Rosenbrock and Hartmann, which are smooth, the tree ends with more regret than SkewGP, "
                "by over one standard deviation.",
                "between": "On Branin, Levy and Michalewicz, the tree is within one standard deviation of the others.",
                "rugged": "On De Jong, Hölder and Schwefel, the tree ends with less regret than both processes.",
            },
        ),
        *not_testable(
            "dt-pbo, Figure 8", "it is a judgement by eye",
            {"all_learn": "From 256 random comparisons, every model comes close to the true function."},
        ),
        *not_testable(
            "dt-pbo, Figures 9 and 10",
            NO_STUDY,
            {
                "kernels_same": "Whichever of four kernels the processes have, the tree is ahead on Schwefel, Hölder "
                "and De Jong.",
                "kernels_none": "No kernel is the best on all functions.",
            },
        ),
        *not_testable(
            "dt-pbo, Figure 11", NO_STUDY,
            {"ratio": "The ratio of noise to prior changes the final regret little, save at its extremes."},
        ),
        *not_testable(
            "dt-pbo, Table 5",
            OWN_TIMES,
            {
                f"seconds_{_name(function)}": f"200 questions about {function} take {tree:.2f} s with the tree, "
                f"{gp:.2f} s with a Gaussian process and {skew:,.2f} s with SkewGP."
                for function, (tree, gp, skew) in SECONDS.items()
            },
        ),
        *not_testable(
            "dt-pbo, section 4.1", OWN_TIMES, {"faster": "The tree is 10 to 400 times as fast as the processes."}
        ),
        *not_testable(
            "dt-pbo, Figure 13",
            NO_STUDY,
            {
                "dimensions_worse": "On Rosenbrock and Levy, the tree falls behind beyond seven or eight dimensions.",
                "dimensions_same": "On Schwefel and Michalewicz, all models do alike in every dimension.",
            },
        ),
        *not_testable(
            "dt-pbo, Figure 14", NO_STUDY,
            {"noise": "With noisy answers, the tree is as good as the processes or better, save on Hartmann."},
        ),
        *not_testable(
            "dt-pbo, Figure 15",
            NO_STUDY,
            {"depth": "A depth of 4 to 6 is enough for the least regret on every function but Michalewicz."},
        ),
    ),
)  # fmt: skip
