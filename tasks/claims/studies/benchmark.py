"""What dt-pbo claims of models that search eight functions by comparisons (section 4.1 and appendix F)."""

from __future__ import annotations

from collections.abc import Iterator

from models.benchmarks.functions import benchmark_function
from models.records.studies.benchmark_results import (
    ALL_FUNCTIONS,
    BEST,
    DEPTH,
    DIMENSIONS,
    GAP,
    GAP_IN_SDS,
    GP,
    KERNELS,
    NOISE,
    RATIO,
    SKEW_GP,
    SPEED,
    STUDY,
    TREE,
    UNLIMITED,
    WITHOUT_SMOOTH,
    against,
    variant,
)
from tasks.claims.declared import Claim, Order, Pair, Place, StudyClaims, not_testable

QUESTIONS = 200
RIVALS = {GP: "the Gaussian process", SKEW_GP: "SkewGP"}
RATIO_USED = "0.25"
NEAR_RATIOS = ("0.0625", "1")
DEEP_ENOUGH = "6"
MANY = "10"
"""Dimensions at which the claims beyond seven or eight are tested."""
NOISY = ("1", "2")


def _place(variant_of_metric: str, metric: str) -> Place:
    return Place(model=TREE, variant=variant_of_metric, metric=metric, split="asked", at=QUESTIONS)


def _order(variant_of_metric: str, metric: str, side: str, bound: float = 0.0) -> Order:
    """The tree's regret minus another one, on a side of a bound."""
    return Order.model_validate(
        {"pairs": [Pair(first=_place(variant_of_metric, metric))], "side": side, "bound": bound}
    )


def _title(function: str) -> str:
    return benchmark_function(function).title.rpartition(" ")[0]


def _figure_2() -> Iterator[Claim]:
    source = "dt-pbo, Figure 2"
    for function in ("rosenbrock", "hartmann"):
        yield Claim(
            name=f"smooth_{function}", source=source,
            words=f"On {_title(function)}, which is smooth, the tree ends with more regret than SkewGP, by over one "
            "standard deviation.",
            test=_order(against(function, SKEW_GP), GAP_IN_SDS, "above", 1.0),
        )  # fmt: skip
    for function in ("branin", "levy", "michalewicz"):
        for base, words in RIVALS.items():
            yield Claim(
                name=f"between_{function}_{base}", source=source,
                words=f"On {_title(function)}, the tree ends within one standard deviation of {words}.",
                test=_order(against(function, base), GAP_IN_SDS, "within", 1.0),
            )  # fmt: skip
    for function in ("de_jong_5", "holder_table", "schwefel"):
        for base, words in RIVALS.items():
            yield Claim(
                name=f"rugged_{function}_{base}", source=source,
                words=f"On {_title(function)}, the tree ends with less regret than {words}.",
                test=_order(against(function, base), GAP, "below"),
            )  # fmt: skip


def _kernels() -> Iterator[Claim]:
    for function in ("schwefel", "holder_table", "de_jong_5"):
        for base, words in RIVALS.items():
            yield Claim(
                name=f"kernels_{function}_{base}", source="dt-pbo, Figures 9 and 10",
                words=f"On {_title(function)}, the tree ends with less regret than {words}, whichever of four kernels "
                "it has.",
                test=_order(against(function, variant(base, KERNELS, BEST)), GAP, "below"),
            )  # fmt: skip


def _ratios() -> Iterator[Claim]:
    for ratio in NEAR_RATIOS:
        yield Claim(
            name=f"ratio_{ratio.replace('.', '_')}", source="dt-pbo, Figure 11",
            words=f"With a ratio of noise to prior of {ratio} instead of {RATIO_USED}, the final regret changes by "
            "less than one standard deviation (mean over functions).",
            test=_order(
                against(variant(ALL_FUNCTIONS, RATIO, ratio), variant(TREE, RATIO, RATIO_USED)), GAP_IN_SDS, "within",
                1.0,
            ),
        )  # fmt: skip


def _dimensions() -> Iterator[Claim]:
    for function in ("rosenbrock", "levy"):
        for base, words in RIVALS.items():
            yield Claim(
                name=f"dimensions_{function}_{base}", source="dt-pbo, Figure 13",
                words=f"On {_title(function)} in {MANY} dimensions, the tree ends with more regret than {words}.",
                test=_order(
                    against(variant(function, DIMENSIONS, MANY), variant(base, DIMENSIONS, MANY)), GAP, "above"
                ),
            )  # fmt: skip
    for function in ("schwefel", "michalewicz"):
        for base, words in RIVALS.items():
            yield Claim(
                name=f"dimensions_{function}_{base}", source="dt-pbo, Figure 13",
                words=f"On {_title(function)} in {MANY} dimensions, the tree ends within one standard deviation of "
                f"{words}.",
                test=_order(
                    against(variant(function, DIMENSIONS, MANY), variant(base, DIMENSIONS, MANY)), GAP_IN_SDS, "within",
                    1.0,
                ),
            )  # fmt: skip


def _noise() -> Iterator[Claim]:
    for noise in NOISY:
        for base, words in RIVALS.items():
            yield Claim(
                name=f"noise_{noise}_{base}", source="dt-pbo, Figure 14",
                words=f"With noise of {noise} times the median difference, the tree ends with at most as much regret "
                f"as {words}, save on Hartmann (mean over the other functions, in standard deviations).",
                test=_order(
                    against(variant(WITHOUT_SMOOTH, NOISE, noise), variant(base, NOISE, noise)), GAP_IN_SDS, "below"
                ),
            )  # fmt: skip


def _depths() -> Iterator[Claim]:
    for function in ("rosenbrock", "hartmann", "branin", "levy", "schwefel", "holder_table", "de_jong_5"):
        yield Claim(
            name=f"depth_{function}", source="dt-pbo, Figure 15",
            words=f"On {_title(function)}, a tree of depth {DEEP_ENOUGH} ends with at most one standard deviation more "
            "regret than one without a limit.",
            test=_order(_deep(function), GAP_IN_SDS, "below", 1.0),
        )  # fmt: skip
    yield Claim(
        name="depth_michalewicz", source="dt-pbo, Figure 15",
        words=f"On Michalewicz, trees deeper than {DEEP_ENOUGH} end with less regret.",
        test=_order(_deep("michalewicz"), GAP, "above"),
    )  # fmt: skip


def _deep(function: str) -> str:
    return against(variant(function, DEPTH, DEEP_ENOUGH), variant(TREE, DEPTH, UNLIMITED))


def _speed() -> Iterator[Claim]:
    for base, words in RIVALS.items():
        place = Place(model=TREE, variant=base, metric=SPEED, split="timed")
        for side, bound, word in (("above", 10.0, "at least 10"), ("below", 400.0, "at most 400")):
            yield Claim(
                name=f"faster_{side}_{base}", source="dt-pbo, section 4.1",
                words=f"The tree is {word} times as fast as {words} (geometric mean over functions, on one machine).",
                test=Order.model_validate({"pairs": [Pair(first=place)], "side": side, "bound": bound}),
            )  # fmt: skip


CLAIMS = StudyClaims(
    study=STUDY,
    settings={"runs": 20, "initial": 20, "questions": QUESTIONS},
    claims=(
        *_figure_2(),
        *_kernels(),
        *not_testable(
            "dt-pbo, Figures 9 and 10", "the runs do not decide on each function which of two close kernels is better",
            {"kernels_none": "No kernel is the best on all functions."},
        ),
        *_ratios(),
        *_dimensions(),
        *_noise(),
        *_depths(),
        *_speed(),
    ),
)  # fmt: skip
