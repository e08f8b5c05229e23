"""A skew Gaussian process as the model of a utility over the unit cube: the Hallucination Believer.

Takeno, Nomura and Karasuyama (2023), Towards Practical Preferential Bayesian Optimization with Skew Gaussian Processes,
with expected improvement, as in dt-pbo F.1. Each comparison is a linear inequality on the utility, with little noise.
One Gibbs sample of all compared differences is taken for true; what remains is an ordinary Gaussian process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from models.asking.active_learning import near_greatest
from models.asking.box.loop import Choice
from models.asking.box.opponent import OpponentSearch, best_opponent
from models.gaussian.skew.hallucination import Differences, with_new_row
from models.gaussian.skew.kernels import difference_covariance
from models.gaussian.skew.length_scales import EvidenceName, choose_length_scales
from models.gaussian.skew.orthant import Chain, sample_negative
from models.gaussian.stationary import KernelName
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray

Champion = Literal["last_winner", "greatest_mean"]
Recommended = Literal["averaged", "hallucinated", "last_winner"]

_CHAIN, _CANDIDATE = 0, 1  # keys of the hashes for Gibbs samples and for the points from which climbs start

_COUNT = [Interval(Integral, 1, None, closed="left")]
_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(get_args(KernelName)))],
    "evidence": [StrOptions(set(get_args(EvidenceName)))],
    "champion": [StrOptions(set(get_args(Champion)))],
    "recommend": [StrOptions(set(get_args(Recommended)))],
    "noise": [Interval(Real, 0, None, closed="neither")],
    "lengths": [tuple, list],
    "refit_every": _COUNT,
    "sweeps": _COUNT,
    "search": [OpponentSearch],
}


@dataclass(frozen=True)
class SkewGaussianProcessInBox:
    """Utilities under a Gaussian process of unit amplitude; a comparison holds for them up to little noise.

    kernel: with one length scale per feature, all chosen by the evidence whenever the number of comparisons is a
    multiple of `refit_every`; before, they are the geometric mean of `lengths`, their bounds as a share of the box's
    width. evidence: by Laplace's approximation, as in the implementation of Takeno et al., or by expectation
    propagation ("ep"), which is closer to the truth and as fast.
    noise: standard deviation of the noise in each utility, in units of the prior's.
    sweeps: Gibbs sweeps after each comparison. The chain goes on from where the previous comparison left it. In the
    implementation of Takeno et al. it starts anew from zero with 1,000 sweeps.
    champion: the first point of a question. "last_winner" is that of the implementation of Takeno et al.: the winner of
    the last question, or the point of greatest hallucinated mean if the last pair did not contain a point compared
    before, as after the initial comparisons. "greatest_mean": that point always. search: how its opponent is found.
    recommend: the point of greatest mean, given the differences averaged over the later half of the sweeps ("averaged")
    or the hallucinated ones ("hallucinated"), or the champion "last_winner", whose regret Takeno et al. report.
    The default bounds and noise are those of their implementation. Raises ValueError for settings out of range.

    >>> learner = SkewGaussianProcessInBox().start(1, mix(0, np.arange(2)))
    >>> learner.learn(np.array([[[0.9], [0.1]], [[0.2], [0.8]]]))
    >>> learner.predict(np.array([[0.1], [0.9]])).argmax(axis=1).tolist()
    [1, 0]
    """

    kernel: KernelName = "rbf"
    evidence: EvidenceName = "laplace"
    champion: Champion = "last_winner"
    recommend: Recommended = "averaged"
    noise: float = 0.01
    lengths: tuple[float, float] = (0.1, 0.5)
    refit_every: int = 10
    sweeps: int = 25
    search: OpponentSearch = field(default_factory=OpponentSearch)

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "SkewGaussianProcessInBox")
        if not self.noise < np.inf:
            raise ValueError(f"noise must be finite, found {self.noise}")
        if len(self.lengths) != 2 or not 0 < self.lengths[0] <= self.lengths[1] < np.inf:
            raise ValueError(f"lengths must be two positive numbers, the smaller first, found {self.lengths}")

    def start(self, n_features: int, seeds: HashArray) -> SkewLearner:
        """See `models.asking.box.loop.BoxModel`."""
        return SkewLearner(self, n_features, seeds)


class SkewLearner:
    """The skew Gaussian processes of t runs: see `models.asking.box.loop.Learner`.

    Length scales and chain take one step for each comparison, in their order, so that they depend on the seeds and the
    comparisons alone: comparisons learnt one by one or all at once leave the same state.
    """

    def __init__(self, settings: SkewGaussianProcessInBox, n_features: int, seeds: HashArray) -> None:
        """Start without a comparison."""
        self._settings, self._seeds, n_runs = settings, seeds, len(seeds)
        lengths = np.full((n_runs, n_features), np.sqrt(settings.lengths[0] * settings.lengths[1]))
        nothing = np.zeros((n_runs, 0))
        self._process = Differences(
            settings.kernel, np.zeros((n_runs, 0, 2, n_features)), lengths, np.zeros((n_runs, 0, 0))
        )
        self._chain = Chain(nothing, nothing)

    def learn(self, points: FloatArray) -> None:
        """See `models.asking.box.loop.Learner`."""
        self._points = points
        pairs = points.reshape(len(points), -1, 2, points.shape[2])
        for n in range(self._process.pairs.shape[1] + 1, pairs.shape[1] + 1):
            self._add(pairs[:, :n])
        self._hallucinated = self._process.mean(points, self._chain.sample)
        self._averaged = self._process.mean(points, self._chain.mean)
        met = (points[:, :-2, None] == points[:, None, -2:]).all(axis=3).any(axis=(1, 2))
        self._last_winner = np.where(met, points.shape[1] - 2, self._hallucinated.argmax(axis=1))

    def _add(self, pairs: FloatArray) -> None:
        """Take in the last of pairs (t, n, 2, d): choose the length scales if it is their turn, then sweep."""
        settings, n = self._settings, pairs.shape[1]
        kernel, lengths, noise = settings.kernel, self._process.lengths, 2.0 * settings.noise**2
        if n % settings.refit_every == 0:
            lengths = choose_length_scales(kernel, settings.evidence, pairs, settings.noise, settings.lengths, lengths)
            covariance, _ = difference_covariance(kernel, pairs, pairs, lengths)
            precision = np.asarray(np.linalg.inv(covariance + noise * np.eye(n)), dtype=np.float64)
        else:
            row = difference_covariance(kernel, pairs[:, -1:], pairs, lengths)[0][:, 0]
            precision = with_new_row(self._process.precision, row[:, :-1], row[:, -1] + noise)
        self._process = Differences(kernel, pairs, lengths, precision)
        start = np.pad(self._chain.sample, ((0, 0), (0, 1)))
        self._chain = sample_negative(precision, start, mix(mix(self._seeds, n), _CHAIN), settings.sweeps)

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`."""
        if self._settings.recommend == "last_winner":
            return Choice(self._last_winner, self._last_winner[:, None] == np.arange(self._points.shape[1]))
        mean = self._averaged if self._settings.recommend == "averaged" else self._hallucinated
        return Choice(np.asarray(mean.argmax(axis=1)), near_greatest(mean))

    def next_pair(self) -> FloatArray:
        """The champion and the point of greatest expected improvement over it, both under the hallucination."""
        last = self._settings.champion == "last_winner"
        place = self._last_winner if last else self._hallucinated.argmax(axis=1)
        champion = self._points[np.arange(len(place)), place]
        lots = mix(mix(self._seeds, self._points.shape[1] // 2), _CANDIDATE)
        opponent = best_opponent(self._process, self._chain.sample, champion, lots, self._settings.search)
        return np.stack([champion, opponent], axis=1)

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`. The mean given the averaged differences."""
        return self._process.mean(np.broadcast_to(points, (len(self._seeds), *points.shape)), self._chain.mean)
