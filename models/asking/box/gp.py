"""A preferential Gaussian process as the model of a utility over the unit cube (dt-pbo section 2.2, F.1 and F.3).

What BoTorch's PairwiseGP and analytic EUBO do, for many runs at once: Laplace's approximation of the probit
likelihood, hyperparameters of greatest evidence after each question, and the pair of points of greatest qEUBO.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from models.asking.active_learning import near_greatest
from models.asking.box.loop import Choice
from models.asking.box.pair_climb import best_pairs, candidate_points
from models.gaussian.difference_belief import DifferenceBelief
from models.gaussian.difference_evidence import ComparedPoints, EvidenceClimb
from models.gaussian.stationary import KernelName
from models.numerics.box_minimiser import minimise_in_box
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray
SCALES = (0.01, 10.0)
"""Bounds of a length scale, as a share of the box's width."""
STARTS = ((0.15, 10.0), (0.5, 10.0), (1.5, 10.0))
"""Length scale and variance from which the search for hyperparameters starts."""
FIRST_STEPS, NEXT_STEPS, SETTLED = 30, 5, 1e-4

_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(get_args(KernelName)))],
    "largest_variance": [Interval(Real, 1.0, None, closed="neither")],
    "refit_every": [Interval(Integral, 1, None, closed="left")],
    "restart_every": [Interval(Integral, 1, None, closed="left")],
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
    largest_variance: float = 100.0
    refit_every: int = 1
    restart_every: int = 20
    n_starts: int = 6

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
        known = max(self._n_pairs + 1, n_pairs - n_pairs % block)
        for n in range(known, n_pairs + 1):
            if n % every == 0 or n == n_pairs:
                self._fit(points[:, : 2 * n], restart=n % block == 0, refit=n % every == 0)
        self._points, self._n_pairs = points, n_pairs
        self._mean = self._belief.mean(points)

    def _fit(self, points: FloatArray, *, restart: bool, refit: bool) -> None:
        """The processes of all runs given points (t, 2n, d), winners in even rows."""
        compared = ComparedPoints(points[:, ::2], points[:, 1::2])
        t, n = compared.winners.shape[:2]
        if restart:
            starts = np.log([[*[scale] * points.shape[2], variance] for scale, variance in STARTS])
            run = np.repeat(np.arange(t), len(starts))
            climb = EvidenceClimb(self._settings.kernel, compared.of(run), np.zeros((len(run), n)))
            found = minimise_in_box(
                climb, np.tile(starts, (t, 1)), self._lower, self._upper, max_steps=FIRST_STEPS, settled=SETTLED
            )
            best = climb.value.reshape(t, -1).argmin(axis=1) + np.arange(t) * len(starts)
            self._inverse = found.inverse[best]
        else:
            pull = np.zeros((t, n))
            pull[:, : self._belief.pull.shape[1]] = self._belief.pull
            climb, best = EvidenceClimb(self._settings.kernel, compared, pull), np.arange(t)
            found = minimise_in_box(
                climb, self._belief.theta, self._lower, self._upper, max_steps=NEXT_STEPS if refit else 0,
                settled=SETTLED, inverse=self._inverse,
            )  # fmt: skip
            self._inverse = found.inverse
        self._belief = DifferenceBelief(
            self._settings.kernel, compared, climb.theta[best], climb.pull[best], climb.reduction[best]
        )

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`."""
        return Choice(np.asarray(self._mean.argmax(axis=1)), near_greatest(self._mean))

    def next_pair(self) -> FloatArray:
        """The pair of greatest qEUBO that gradient steps from the best of many candidates reach."""
        candidates = candidate_points(self._points, self._mean, mix(self._seeds, self._n_pairs))
        return best_pairs(self._belief, candidates, self._settings.n_starts)

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`."""
        return self._belief.mean(np.broadcast_to(points, (len(self._seeds), *points.shape)))
