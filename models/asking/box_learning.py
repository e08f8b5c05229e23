"""Learning the maximum of a utility over the unit cube by asking about points (dt-pbo Algorithm 1, section 4.1).

Any number of runs advance together: a step is one question in each, so that twenty runs cost little more than one. A
run depends on its own seed and answers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats.qmc import LatinHypercube
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from models.asking.active_learning import Recommendation, best_by_lot, near_greatest
from models.asking.qeubo import qeubo
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import HashArray, mix
from models.numerics.validation import check_integers
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.trees.growth.growing_tree import GrowingTree, Regions
from models.trees.growth.splits import TieBreak
from models.trees.leaf_fit import prior_factor

_PAIR, _PLACE, _RECOMMENDING = 0, 1, 2  # keys of the lots for the pair of leaves, for the points, for ties

BOX_CONSTRAINTS: dict[str, list[Any]] = {
    "n_features": [Interval(Integral, 1, None, closed="left")],
    "n_initial": [Interval(Integral, 1, None, closed="left")],
    "n_questions": [Interval(Integral, 0, None, closed="left")],
    "tie_break": [StrOptions(set(get_args(TieBreak)))],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "ratio": [Interval(Real, 0, None, closed="neither")],
    "recommend": [StrOptions(set(get_args(Recommendation)))],
}
"""Valid settings of `ask_in_box`."""

Utility = Callable[[FloatArray], FloatArray]
"""The utilities (k,) of points (k, d) of the unit cube; only comparisons of two utilities are learnt from."""


@dataclass(frozen=True, eq=False)
class BoxCourse:
    """What happened in t runs of q questions after n initial ones.

    points: (t, 2 (n + q), d): points 2i and 2i + 1 were compared, the preferred one first.
    recommended: (q + 1, t) rows of points; tied: (q + 1, t, 2 (n + q)) whether a point shared the greatest mean.
    """

    points: FloatArray
    recommended: IntArray
    tied: BoolArray


@dataclass(frozen=True, eq=False)
class _Leaves:
    """The leaves of t trees, padded to the size of the largest, and the leaf of each point, (t, points)."""

    mean: FloatArray
    covariance: FloatArray
    of_point: IntArray
    lower: FloatArray
    upper: FloatArray
    real: BoolArray


def ask_in_box(
    utility: Utility,
    n_features: int,
    seeds: ArrayLike,
    *,
    n_initial: int = 20,
    n_questions: int = 200,
    tie_break: TieBreak = "lowest",
    max_depth: int | None = None,
    ratio: float = 0.25,
    recommend: Recommendation = "first",
) -> BoxCourse:
    """Ask n_initial pairs of a Latin hypercube, then n_questions chosen by qEUBO over all pairs of leaves.

    seeds: (t,) integers, one per run; tie_break and max_depth: as for `PreferenceTree`; ratio: sigma_noise^2 /
    sigma_prior^2; recommend: as for `Strategy`. A question is a point drawn uniformly from each of the two leaves'
    boxes. Only points that were compared are recommended.
    Raises ValueError for settings out of range, and for utilities of another shape or NaN.

    >>> course = ask_in_box(lambda x: -np.abs(x[:, 0] - 0.3), 1, np.array([1, 2]), n_initial=5, n_questions=30)
    >>> best = course.points[[0, 1], course.recommended[-1], 0]  # the recommended point of each run
    >>> bool((np.abs(best - 0.3) < 0.1).all())
    True
    """
    validate_parameter_constraints(BOX_CONSTRAINTS, locals(), "ask_in_box")
    seeds = check_seeds(seeds)
    points = np.zeros((len(seeds), 2 * (n_initial + n_questions), n_features))
    points[:, : 2 * n_initial] = initial_points(utility, n_features, seeds, n_initial)
    trees = [
        GrowingTree(own, tie_break=tie_break, max_depth=max_depth, seed=int(seed.astype(np.int64)))
        for own, seed in zip(points, seeds, strict=True)
    ]
    recommended = np.zeros((n_questions + 1, len(seeds)), dtype=np.int64)
    tied = np.zeros((n_questions + 1, *points.shape[:2]), dtype=bool)
    new = range(n_initial)
    for question in range(n_questions + 1):
        for tree in trees:
            for pair in new:
                tree.add(pair)
        leaves = _leaves([tree.regions() for tree in trees], ratio)
        known, lots = 2 * (n_initial + question), mix(seeds, question)
        tied[question, :, :known] = near_greatest(np.take_along_axis(leaves.mean, leaves.of_point, axis=1))
        recommended[question] = _recommend(tied[question, :, :known], lots, recommend)
        if question < n_questions:
            pair_of_points = _next_points(leaves, lots)
            points[:, known : known + 2] = winners_first(utility, pair_of_points[:, None])[:, 0]
            new = range(n_initial + question, n_initial + question + 1)
    return BoxCourse(points, recommended, tied)


def check_seeds(seeds: ArrayLike) -> HashArray:
    """Seeds as (t,) uint64, one a run. Raises ValueError for other seeds, or none.

    >>> check_seeds([3])
    array([3], dtype=uint64)
    """
    found = check_integers(seeds, "seeds").astype(np.uint64)
    if not len(found):
        raise ValueError("seeds must hold one integer for each run, found none")
    return found


def initial_points(utility: Utility, n_features: int, seeds: HashArray, n_pairs: int) -> FloatArray:
    """Pairs of a Latin hypercube for each run, (t, 2 n_pairs, d): the preferred point of each pair first."""
    first = np.stack([LatinHypercube(n_features, rng=int(seed)).random(2 * n_pairs) for seed in seeds])
    return winners_first(utility, first.reshape(len(seeds), n_pairs, 2, n_features)).reshape(first.shape)


def winners_first(utility: Utility, pairs: FloatArray) -> FloatArray:
    """Pairs of points (t, n, 2, d), the preferred one first.

    >>> winners_first(lambda x: -x[:, 0], np.array([[[[0.9], [0.1]]]])).tolist()
    [[[[0.1], [0.9]]]]
    """
    points = pairs.reshape(-1, pairs.shape[-1])
    found = np.asarray(utility(points), dtype=np.float64)
    if found.shape != (len(points),) or np.isnan(found).any():
        raise ValueError(
            f"utility must give a number for each of {len(points)} points, "
            f"found shape {found.shape}, {int(np.isnan(found).sum())} NaN"
        )
    found = found.reshape(pairs.shape[:3])
    return np.where((found[..., 0] > found[..., 1])[..., None, None], pairs, pairs[:, :, ::-1])


def _leaves(regions: Sequence[Regions], ratio: float) -> _Leaves:
    """The leaf values of all runs, solved together (Eq. 9-10)."""
    n_runs, sizes = len(regions), np.array([len(run.lower) for run in regions])
    of_point = np.stack([run.of_point for run in regions])
    winner, loser = of_point[:, ::2], of_point[:, 1::2]
    run_of_pair = np.repeat(np.arange(n_runs), winner.shape[1])
    pairs = count_pairs(run_of_pair, winner.ravel(), loser.ravel(), n_runs, int(sizes.max()))
    factor = prior_factor(ratio)
    mean = laplace_mode(pairs, factor)
    corners = np.zeros((2, n_runs, pairs.n_values, regions[0].lower.shape[1]))
    for run, (lower, upper, _) in enumerate(regions):
        corners[:, run, : len(lower)] = lower, upper
    real = np.arange(pairs.n_values) < sizes[:, None]
    return _Leaves(mean, laplace_covariance(pairs, mean, factor), of_point, corners[0], corners[1], real)


def _next_points(leaves: _Leaves, lots: HashArray) -> FloatArray:
    """A point from each leaf of the best pair, (t, 2, d); both from the same leaf if there is only one."""
    n_runs, n_leaves = leaves.mean.shape
    first, second = np.triu_indices(n_leaves, 1)
    chosen = np.zeros((n_runs, 2), dtype=np.int64)
    if n_leaves > 1:
        both = leaves.real[:, first] & leaves.real[:, second]
        value = np.where(both, qeubo(leaves.mean, leaves.covariance, first, second), -np.inf)
        best = best_by_lot(value, mix(mix(lots, _PAIR)[:, None], np.arange(len(first))))
        several = leaves.real.sum(axis=1) > 1
        chosen = np.where(several[:, None], np.stack([first[best], second[best]], axis=1), 0)
    run = np.arange(n_runs)[:, None]
    lower, upper = leaves.lower[run, chosen], leaves.upper[run, chosen]
    drawn = mix(mix(lots, _PLACE)[:, None], np.arange(2 * lower.shape[2])).reshape(lower.shape)
    return np.asarray(lower + (upper - lower) * (drawn >> np.uint64(11)) * 2.0**-53)


def _recommend(tied: BoolArray, lots: HashArray, rule: Recommendation) -> IntArray:
    """One of the tied points of each run, (t,). Each point was compared once: even rows won, odd rows lost."""
    n_points = tied.shape[1]
    if rule == "random":
        own = mix(mix(lots, _RECOMMENDING)[:, None], np.arange(n_points))
        return best_by_lot(tied.astype(np.float64), own)
    won = np.arange(n_points) % 2 == 0 if rule == "most_wins" else 0.0
    return np.asarray(np.where(tied, 1.0 + won, 0.0).argmax(axis=1))
