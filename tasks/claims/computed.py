"""Published numbers about functions and measures, which need no data: computed anew, not read from a run."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import ndtri

from models.asking.regret import rho_regret
from models.benchmarks.functions import benchmark_function
from models.benchmarks.ruggedness import STEPS, ruggedness
from models.scores.comparing import Difference
from models.scores.intervals import LEVEL
from models.scores.ranks import competition_ranks
from tasks.claims.declared import Place

COMPUTED = "computed"
"""Split of a place whose number is computed here."""
RUGGEDNESS, P95, LARGEST = "ruggedness", "ruggedness_p95", "largest_value"
"""Metrics: mean and 95th percentile of a function's second differences, and the largest value of a measure."""
RHO_REGRET = "rho_regret"
TIES_ALLOWED, STRICT = "ties_allowed", "strict"
"""Variants of predicted rankings."""
N_POINTS = 10_000
OWN_STEPS = f"steps of {', '.join(map(str, STEPS))}; the paper states none"
OTHER_POINTS = "other random points"


def compute(place: Place) -> Difference:
    """The number of a place whose split is `computed`, with its interval where it has one.

    place.model: a benchmark function, or `rho_regret`. Raises ValueError for another metric.

    >>> compute(Place(model="rho_regret", variant="ties_allowed", metric="largest_value", split="computed")).estimate
    6.0
    """
    if place.metric in {RUGGEDNESS, P95}:
        mean, p95 = _ruggedness(place.model)
        return mean if place.metric == RUGGEDNESS else p95
    if (place.model, place.metric) == (RHO_REGRET, LARGEST):
        return Difference(estimate=_largest_regret(place.variant), over="")
    raise ValueError(f"nothing computes {place.metric} of {place.model}")


@cache
def _ruggedness(function: str) -> tuple[Difference, Difference]:
    found = ruggedness(benchmark_function(function), n_points=N_POINTS)
    reach = float(ndtri((1 + LEVEL) / 2)) * found.error
    return (
        Difference(estimate=found.mean, lower=found.mean - reach, upper=found.mean + reach, over=OTHER_POINTS),
        Difference(estimate=found.p95, over=OTHER_POINTS),
    )


@cache
def _largest_regret(variant: str, n_items: int = 10) -> float:
    """The largest rho-regret of ten items: over all predictions with two levels, or of the reversed ranking."""
    true = np.arange(1, n_items + 1)
    if variant == STRICT:
        utility = true[None].astype(np.float64)
    else:
        utility = ((np.arange(2**n_items)[:, None] >> np.arange(n_items)) & 1).astype(np.float64)
    return float(rho_regret(true, competition_ranks(utility)).max().round(9))
