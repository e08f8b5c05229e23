"""How close a set of matches is to a ranking: SpecR and cyclic triads (pref-shap section 4 and its reference [24])."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvals
from scipy.sparse import csr_array
from scipy.special import ndtri
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.numerics.match_counts import count_matches
from models.numerics.validation import check_comparisons, check_rows
from models.records.arrays import FloatArray, IntArray

KEPT = 0.8
"""Share of the comparisons in a sample for SpecR's error."""
_RESAMPLES: dict[str, list[Any]] = {"resamples": [Interval(Integral, 2, None, closed="left")]}
_LEVEL: dict[str, list[Any]] = {"level": [Interval(Real, 0, 1, closed="neither")]}


class Rankability(NamedTuple):
    """SpecR, which is 1 for a complete ranking, and its standard error."""

    spec_r: float
    sd: float


class Triads(NamedTuple):
    """Counts of complete triads, three items of which one in each pair dominates, and of the cyclic ones among them."""

    complete: int
    cyclic: int

    @property
    def share(self) -> float:
        """Share of cyclic triads; 1/4 is expected of coin tosses. NaN if there are no complete triads."""
        return self.cyclic / self.complete if self.complete else float("nan")


def dominance(comparisons: IntArray, n_items: int) -> csr_array:
    """The dominance matrix (n, n): 1 where the row item beat the column item more often than it lost to it.

    comparisons: (m, 2), winner first. Raises ValueError for comparisons that are no rows of n items.

    >>> dominance(np.array([[0, 1], [0, 1], [1, 0]]), 2).toarray()
    array([[0., 1.],
           [0., 0.]])
    """
    matches = count_matches(check_comparisons(comparisons, n_items), n_items)
    ahead, behind = matches.wins > matches.losses, matches.wins < matches.losses
    winner = np.concatenate([matches.first[ahead], matches.second[behind]])
    loser = np.concatenate([matches.second[ahead], matches.first[behind]])
    return csr_array((np.ones(len(winner)), (winner, loser)), shape=(n_items, n_items))


def spec_r(beats: csr_array) -> float:
    """SpecR of a dominance matrix (n, n): 1 - (d(eigenvalues of L, s) + d(out-degrees, s)) / (2 (n - 1)).

    d is the Hausdorff distance, L = diag(out-degrees) - beats, and s = {n - 1, ..., 0}, the value of both sets for a
    complete ranking. Raises ValueError for fewer than two items.

    >>> spec_r(dominance(np.array([[0, 1], [0, 2], [1, 2]]), 3))
    1.0
    """
    n = beats.shape[0]
    if n < 2:
        raise ValueError(f"there is nothing to rank among {n} items")
    degrees = np.asarray(beats.sum(axis=1), dtype=np.float64)
    ranking = np.arange(n, dtype=np.float64)
    spectrum = np.asarray(eigvals(np.diag(degrees) - beats.toarray(), check_finite=False), dtype=np.complex128)
    return float(1.0 - (_hausdorff(spectrum, ranking) + _hausdorff(degrees, ranking)) / (2 * (n - 1)))


def _hausdorff(a: FloatArray | NDArray[np.complex128], b: FloatArray) -> float:
    distance = np.abs(np.subtract.outer(a, b))
    return float(max(distance.min(axis=1).max(), distance.min(axis=0).max()))


def spec_r_interval(found: Rankability, *, level: float = 0.95) -> tuple[float, float]:
    """Normal interval of SpecR from its standard error.

    Raises ValueError unless 0 < level < 1.

    >>> low, high = spec_r_interval(Rankability(spec_r=0.5, sd=0.1))
    >>> round(low, 3), round(high, 3)
    (0.304, 0.696)
    """
    validate_parameter_constraints(_LEVEL, {"level": level}, "spec_r_interval")
    reach = float(ndtri((1 + level) / 2)) * found.sd
    return found.spec_r - reach, found.spec_r + reach


def rankability(comparisons: IntArray, n_items: int, *, resamples: int, seed: int) -> Rankability:
    """SpecR of comparisons (m, 2) among n items, and its standard error over other comparisons among the same items.

    The error is the standard deviation over samples without replacement of `KEPT` of the comparisons, times
    sqrt(KEPT / (1 - KEPT)). A bootstrap tells too small an error: it misses a third of the comparisons, so that fewer
    pairs meet and SpecR varies less.
    Raises ValueError for fewer than two resamples or items, or comparisons that are no rows of n items.

    >>> rankability(np.array([[0, 1], [1, 2], [2, 0]]), 3, resamples=20, seed=0).spec_r
    0.5
    """
    validate_parameter_constraints(_RESAMPLES, {"resamples": resamples}, "rankability")
    comparisons = check_comparisons(comparisons, n_items)
    rng = np.random.default_rng(seed)
    kept = round(KEPT * len(comparisons))
    drawn = [
        spec_r(dominance(comparisons[rng.permutation(len(comparisons))[:kept]], n_items)) for _ in range(resamples)
    ]
    error = float(np.std(drawn, ddof=1)) * np.sqrt(KEPT / (1 - KEPT))
    return Rankability(spec_r(dominance(comparisons, n_items)), float(error))


def mean_rankability(comparisons: IntArray, n_items: int, group: IntArray, *, resamples: int, seed: int) -> Rankability:
    """Mean SpecR over groups of comparisons, such as tournaments, and its standard deviation over resampled groups.

    group: (m,) of each comparison. SpecR of a group is among the items that play in it.
    Raises ValueError as `rankability` does, for other groups, and where there are no comparisons.

    >>> comparisons, tournament = np.array([[0, 1], [2, 1], [3, 4]]), np.array([7, 7, 8])
    >>> mean_rankability(comparisons, 5, tournament, resamples=20, seed=0).spec_r
    0.75
    """
    validate_parameter_constraints(_RESAMPLES, {"resamples": resamples}, "mean_rankability")
    comparisons = check_comparisons(comparisons, n_items)
    if not len(comparisons):
        raise ValueError("there are no comparisons to rank by")
    group = check_rows(group, "group", np.iinfo(np.int64).max, len(comparisons))
    found = []
    for at in np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1]):
        items, rows = np.unique(comparisons[at], return_inverse=True)
        if len(items):
            found.append(spec_r(dominance(rows.reshape(-1, 2), len(items))))
    values = np.array(found)
    rng = np.random.default_rng(seed)
    drawn = values[rng.integers(len(values), size=(resamples, len(values)))].mean(axis=1)
    return Rankability(float(values.mean()), float(drawn.std(ddof=1)))


def triads(beats: csr_array) -> Triads:
    """Count the complete and the cyclic triads of a dominance matrix (n, n).

    >>> triads(dominance(np.array([[0, 1], [1, 2], [2, 0]]), 3))
    Triads(complete=1, cyclic=1)
    """
    met = beats + beats.T
    complete = round((met @ met).multiply(met).sum() / 6)
    return Triads(complete, round((beats @ beats).multiply(beats.T).sum() / 3))
