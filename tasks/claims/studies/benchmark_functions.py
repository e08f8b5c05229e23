"""What dt-pbo claims of simulated decision makers: eight functions whose maximum is searched by comparisons."""

from __future__ import annotations

from tasks.claims.declared import StudyClaims, not_testable

NO_STUDY = (
    "no study searches these functions: SkewGP, the other side of the comparison, is not part of this project "
    "(`ask_in_box` asks about a box with a tree; `tests/benchmarks` measures it)"
)
NO_STEPS = (
    "the paper states neither the steps nor the points (`ruggedness` computes the measure for steps of one's own)"
)
OWN_TIMES = "times are those of the authors' machine, and SkewGP is not part of this project"

RUGGEDNESS = {
    "De Jong": (1162.28, 8611.07),
    "Hölder": (703.40, 2355.97),
    "Michalewicz": (488.89, 1842.49),
    "Levy": (259.45, 913.48),
    "Schwefel": (230.98, 495.63),
    "Branin": (24.45, 84.38),
    "Rosenbrock": (11.37, 31.57),
    "Hartmann": (7.76, 30.19),
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


def _name(function: str) -> str:
    return function.lower().replace(" ", "_").replace("ö", "o")


CLAIMS = StudyClaims(
    study=None,
    claims=(
        *not_testable(
            "dt-pbo, Figure 2",
            NO_STUDY,
            {
                "smooth": "On Rosenbrock and Hartmann, which are smooth, the tree ends with more regret than SkewGP, by "
                "over one standard deviation.",
                "between": "On Branin, Levy and Michalewicz, the tree is within one standard deviation of the others.",
                "rugged": "On De Jong, Hölder and Schwefel, the tree ends with less regret than both processes.",
            },
        ),
        *not_testable(
            "dt-pbo, Figure 8", "it is a judgement by eye",
            {"all_learn": "From 256 random comparisons, every model comes close to the true function."},
        ),
        *not_testable(
            "dt-pbo, Table 3",
            NO_STEPS,
            {
                f"ruggedness_{_name(function)}": f"The ruggedness of {function} is {mean:,} on average and {p95:,} at "
                "the 95th percentile."
                for function, (mean, p95) in RUGGEDNESS.items()
            },
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
                f"seconds_{_name(function)}": f"200 questions about {function} take {tree} s with the tree, {gp} s with "
                f"a Gaussian process and {skew:,} s with SkewGP."
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
