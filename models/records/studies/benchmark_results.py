"""Results of the benchmark study: names of models, parts, columns and files that its writers and readers share."""

from __future__ import annotations

from collections.abc import Mapping

STUDY = "benchmark"

TREE, FOREST, GP, SKEW_GP, RANDOM_PAIRS = "tree", "forest", "gp", "skew_gp", "random_pairs"
"""The models."""
MODELS: Mapping[str, str] = {
    TREE: "the tree",
    FOREST: "the forest",
    GP: "the Gaussian process",
    SKEW_GP: "SkewGP",
    RANDOM_PAIRS: "random pairs",
}
"""The models in the order of tables and pictures, in words."""

CONVERGENCE, SURFACES, KERNELS, RATIO = "convergence", "surfaces", "kernels", "ratio"
DIMENSIONS, NOISE, DEPTH = "dimensions", "noise", "depth"
FIGURES: Mapping[str, str] = {
    CONVERGENCE: "Figures 2 and 12, Table 5",
    SURFACES: "Figure 8",
    KERNELS: "Figures 9 and 10",
    RATIO: "Figure 11",
    DIMENSIONS: "Figure 13",
    NOISE: "Figure 14",
    DEPTH: "Figure 15",
}
"""The parts of the study, with the figures and tables of dt-pbo that each of them makes again."""

PART, FUNCTION, N_DIMENSIONS, MODEL, SETTING = "part", "function", "n_dimensions", "model", "setting"
RUN, QUESTION, REGRET, TIED = "run", "question", "regret", "tied"
MEAN, SD, LOWER, UPPER, OVER, N_RUNS = "mean", "sd", "lower", "upper", "over", "runs"
"""Columns. setting: what a part varies, as text; empty where it varies nothing. tied: points that share the greatest
mean. lower, upper: the 95% interval of the mean."""
BASE, BASE_SETTING, ESTIMATE = "base", "base_setting", "estimate"
IN_SDS, IN_SDS_LOWER, IN_SDS_UPPER = "in_sds", "in_sds_lower", "in_sds_upper"
"""Columns of the table of differences: the final regret of a model in a setting minus that of `base` in `base_setting`,
paired over runs, as it is and in standard deviations."""
X, Y, UTILITY = "x", "y", "utility"
"""Columns of the learned surfaces: the place, and the rank of its utility among all places (0 to 1)."""
P95, ERROR, PUBLISHED_MEAN, PUBLISHED_P95 = "p95", "error", "published_mean", "published_p95"
"""Columns of the ruggedness of the functions, beside `mean`."""

COURSES, FINALS, GAPS = "regret_courses", "final_regrets", "regret_gaps"
SURFACE_RANKS, SURFACE_AGREEMENT, RUGGEDNESS = "surface_ranks", "surface_agreement", "ruggedness"
"""Files of results, without their ending. surface_agreement: Kendall's tau of each model with the truth over places."""

UNLIMITED, BEST = "none", "best"
"""Settings: no limit of depth; in a comparison, the setting of the other model with the lowest mean regret."""
ALL_FUNCTIONS, WITHOUT_SMOOTH = "all_functions", "all_but_hartmann"
"""In place of a function: the mean over all of them, or over all but `SMOOTH`."""
SMOOTH = ("hartmann",)
"""The function on which dt-pbo F.6 says that noise leaves the tree behind."""
TRUTH = "truth"
"""What stands in the place of the model for the function itself."""
FINAL_REGRET, GAP, GAP_IN_SDS, SPEED = "regret", "regret_gap", "regret_gap_in_sds", "times_as_fast"
"""Metrics: the regret after the last question; the difference between two of them, as it is and in standard deviations;
and how many times as fast a model is as another (from the times in `run.json`)."""
OTHER_STARTS = "other first questions"
OTHER_FUNCTIONS = "other functions"
"""What intervals are over."""


def variant(function: str, part: str, setting: str) -> str:
    """A function in a setting of a part, as the variant of a metric.

    >>> variant("branin", "convergence", ""), variant("branin", "depth", "4")
    ('branin', 'branin_depth_4')
    """
    return f"{function}_{part}_{setting}" if setting else function


def against(variant: str, base: str) -> str:
    """The variant of a metric that compares with `base`.

    >>> against("branin", "gp")
    'branin_against_gp'
    """
    return f"{variant}_against_{base}"
