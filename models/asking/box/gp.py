"""A preferential Gaussian process as the model of a utility over the unit cube (dt-pbo section 2.2, F.1 and F.3).

What BoTorch's PairwiseGP and analytic EUBO do, for many runs at once: Laplace's approximation of the probit
likelihood, hyperparameters of greatest evidence after each question, and the pair of points of greatest qEUBO.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from models.asking.active_learning import near_greatest
from models.asking.box.loop import Choice
from models.asking.box.pair_climb import best_pairs
from models.gaussian.difference_belief import DifferenceBelief
from models.gaussian.difference_evidence import ComparedPoints, EvidenceClimb
from models.gaussian.stationary import KernelName
from models.numerics.box_minimiser import minimise_in_box
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray

Curvature = Literal["mode", "average"]

SCALES = (0.01, 10.0)
"""Bounds of a length scale, as a share of the box's width."""
STARTS = ((0.52, 1.0),)
"""Length scale and variance from which the search for hyperparameters starts."""
FIRST_STEPS, NEXT_STEPS, SETTLED = 30, 5, 1e-4

_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(get_args(KernelName)))],
    "curvature": [StrOptions(set(get_args(Curvature)))],
    "largest_variance": [Interval(Real, 1.0, None, closed="neither")],
    "refit_every": [Interval(Integral, 1, None, closed="left")],
    "restart_every": [Interval(Integral, 1, None, closed="left")],
    "n_candidates": [Interval(Integral, 1, None, closed="left")],
    "n_starts": [Interval(Integral, 1, None, closed="left")],
}


@dataclass(frozen=True)
class GaussianProcessInBox:
    """A Gaussian process a run; the next pair is the one of greatest qEUBO over all pairs of points of the box.

    kernel: its kernel, with one length scale a dimension. largest_variance: upper bound of its variance in units of
    sigma_noise^2; where answers do not waver, the evidence asks for more and more. refit_every: comparisons from one
    search for hyperparameters to the next; each starts from the latest values, and every restart_every-th from several
    fixed ones, which forgets what was before. n_starts: pairs from which the search for the greatest qEUBO starts.
    The recommended point is the compared one with the greatest mean.
    Raises ValueError for settings out of range.

    >>> learner = GaussianProcessInBox().start(1, mix(0, np.arange(2)))
    >>> learner.learn(np.tile([[0.9], [0.1], [0.8], [0.3], [0.7], [0.2]], (2, 1, 1)))
    >>> bool((np.diff(learner.predict(np.array([[0.1], [0.9]]))) > 0).all())
    True
    """

    kernel: KernelName = "rbf"
    curvature: Curvature = "mode"
    largest_variance: float = 100.0
    refit_every: int = 1
    restart_every: int = 20
    n_candidates: int = 256
    n_starts: int = 3

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "GaussianProcessInBox")

    def start(self, n_features: int, seeds: HashArray) -> GaussianProcessLearner:
        """See `models.asking.box.loop.BoxModel`."""
        return GaussianProcessLearner(self, n_features, seeds)


class GaussianProcessLearner:
    """The processes of t runs: see `models.asking.box.loop.Learner`.

    Between two restarts a search starts where the one before ended. Comparisons that come together are learned as if
    they had come one by one since the latest restart, so that the hyperparameters depend on the comparisons alone.
    """

    def __init__(self, settings: GaussianProcessInBox, n_features: int, seeds: HashArray) -> None:
        """Start without a comparison."""
        self._settings, self._seeds, self._n_pairs = settings, seeds, -1
        self._lower = np.log([*[SCALES[0]] * n_features, 1.0 / settings.largest_variance])
        self._upper = np.log([*[SCALES[1]] * n_features, settings.largest_variance])

    def learn(self, points: FloatArray) -> None:
        """See `models.asking.box.loop.Learner`."""
        n_pairs, every = points.shape[1] // 2, self._settings.refit_every
        block = every * self._settings.restart_every
        first = max(n_pairs - n_pairs % block, 1)
        for n in range(max(self._n_pairs + 1, first), n_pairs + 1):
            compared = ComparedPoints(points[:, : 2 * n : 2], points[:, 1 : 2 * n : 2])
            if n == first:
                self._belief = self._latest = self._restart(compared)
            elif n % every == 0:
                self._belief = self._latest = self._continue(compared, NEXT_STEPS)
            elif n == n_pairs:
                self._belief = self._continue(compared, 0)
        if self._settings.curvature == "average":
            self._belief = self._belief.with_average_curvature()
        self._points, self._n_pairs = points, n_pairs
        self._mean = self._belief.mean(points)

    def _restart(self, compared: ComparedPoints) -> DifferenceBelief:
        """Search for hyperparameters from fixed values and take the best."""
        t, n, d = compared.winners.shape
        starts = np.log([[*[scale] * d, variance] for scale, variance in STARTS])
        run = np.repeat(np.arange(t), len(starts))
        climb = EvidenceClimb(self._settings.kernel, compared.of(run), np.zeros((len(run), n)))
        found = minimise_in_box(
            climb, np.tile(starts, (t, 1)), self._lower, self._upper, max_steps=FIRST_STEPS, settled=SETTLED
        )
        best = climb.value.reshape(t, -1).argmin(axis=1) + np.arange(t) * len(starts)
        self._inverse = found.inverse[best]
        return DifferenceBelief(
            self._settings.kernel, compared, climb.theta[best], climb.pull[best], climb.reduction[best]
        )

    def _continue(self, compared: ComparedPoints, steps: int) -> DifferenceBelief:
        """Fit anew, after so many steps of the search that the latest belief ended."""
        latest = self._latest
        pull = np.zeros(compared.winners.shape[:2])
        pull[:, : latest.pull.shape[1]] = latest.pull
        climb = EvidenceClimb(self._settings.kernel, compared, pull)
        found = minimise_in_box(
            climb, latest.theta, self._lower, self._upper, max_steps=steps, settled=SETTLED, inverse=self._inverse
        )
        self._inverse = found.inverse
        return DifferenceBelief(self._settings.kernel, compared, climb.theta, climb.pull, climb.reduction)

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`."""
        return Choice(np.asarray(self._mean.argmax(axis=1)), near_greatest(self._mean))

    def next_pair(self) -> FloatArray:
        """The pair of greatest qEUBO that gradient steps from the best of many candidates reach."""
        lots = mix(self._seeds, self._n_pairs)
        return best_pairs(self._belief, lots, self._settings.n_candidates, self._settings.n_starts)

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`."""
        return self._belief.mean(np.broadcast_to(points, (len(self._seeds), *points.shape)))
