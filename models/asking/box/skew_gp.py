"""A skew Gaussian process as the model of a utility over the unit cube: Hallucination Believer with expected improvement.

Takeno, Nomura and Karasuyama (2023), Towards Practical Preferential Bayesian Optimization with Skew Gaussian Processes.
Each comparison is a linear inequality on the utility, with little noise. One Gibbs sample of all compared differences is
taken for true, and what remains is an ordinary Gaussian process.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from models.asking.active_learning import near_greatest
from models.asking.box.loop import Choice
from models.asking.expected_improvement import log_expected_improvement
from models.gaussian.skew.evidence import evidence_of_differences
from models.gaussian.skew.hallucination import Differences, with_new_row
from models.gaussian.skew.kernels import KernelName, covariance_slope, difference_covariance
from models.gaussian.skew.orthant import Chain, sample_negative
from models.numerics.box_minimiser import minimise_in_box
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray, IntArray

First = Literal["last_winner", "greatest_mean"]
Recommended = Literal["averaged", "hallucinated", "last_winner"]

_CHAIN, _CANDIDATE = 0, 1  # keys of the hashes for Gibbs samples and for starting points
_FIRST_LENGTHS = 4  # length scales from which the evidence is climbed: the best of so many, or those of the last time
_SMALLEST_VARIANCE = 1e-12

_COUNT = [Interval(Integral, 1, None, closed="left")]
_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(get_args(KernelName)))],
    "first": [StrOptions(set(get_args(First)))],
    "recommend": [StrOptions(set(get_args(Recommended)))],
    "noise": [Interval(Real, 0, None, closed="neither")],
    "lengths": [tuple, list],
    "refit_every": _COUNT,
    "sweeps": _COUNT,
    "candidates": _COUNT,
    "starts": _COUNT,
}


@dataclass(frozen=True)
class SkewGaussianProcessInBox:
    """see below"""

    kernel: KernelName = "rbf"
    first: First = "last_winner"
    recommend: Recommended = "averaged"
    noise: float = 0.01
    lengths: tuple[float, float] = (0.1, 0.5)
    refit_every: int = 10
    sweeps: int = 25
    candidates: int = 256
    starts: int = 8

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "SkewGaussianProcessInBox")
        if len(self.lengths) != 2 or not 0 < self.lengths[0] <= self.lengths[1] < np.inf:
            raise ValueError(f"lengths must be two positive numbers, the smaller first, found {self.lengths}")

    def start(self, n_features: int, seeds: HashArray) -> SkewLearner:
        """See `models.asking.box.loop.BoxModel`."""
        return SkewLearner(self, n_features, seeds)


class SkewLearner:
    def __init__(self, settings: SkewGaussianProcessInBox, n_features: int, seeds: HashArray) -> None:
        """Start without a comparison."""
        self._settings, self._seeds = settings, seeds
        t = len(seeds)
        low, high = settings.lengths
        self._theta = np.full((t, n_features), 0.5 * np.log(low * high))
        self._process = Differences(settings.kernel, np.zeros((t, 0, 2, n_features)), np.exp(self._theta), np.zeros((t, 0, 0)))
        self._chain = Chain(np.zeros((t, 0)), np.zeros((t, 0)))

    def learn(self, points: FloatArray) -> None:
        """See `models.asking.box.loop.Learner`. The chain takes its sweeps after each comparison, also if many are new."""
        self._points = points
        pairs = points.reshape(len(points), -1, 2, points.shape[2])
        for n in range(self._process.pairs.shape[1] + 1, pairs.shape[1] + 1):
            self._add(pairs[:, :n])
        process = self._process
        self._hallucinated = process.mean(points, self._chain.sample)
        self._averaged = process.mean(points, self._chain.mean)
        met = (points[:, :-2, None] == points[:, None, -2:]).all(axis=3).any(axis=(1, 2))
        self._last_winner = np.where(met, points.shape[1] - 2, self._hallucinated.argmax(axis=1))

    def _add(self, pairs: FloatArray) -> None:
        """Take in the last of the pairs (t, n, 2, d): hyperparameters if it is their turn, then the chain."""
        settings, n = self._settings, pairs.shape[1]
        noise = 2.0 * settings.noise**2
        if n % settings.refit_every == 0 or n==1:
            self._theta = _climb_evidence(settings, pairs, self._theta)
            lengths = np.exp(self._theta)
            covariance, _ = difference_covariance(settings.kernel, pairs, pairs, lengths)
            precision = np.linalg.inv(covariance + noise * np.eye(n))
        else:
            lengths = self._process.lengths
            row, _ = difference_covariance(settings.kernel, pairs[:, -1:], pairs, lengths)
            precision = with_new_row(self._process.precision, row[:, 0, :-1], row[:, 0, -1] + noise)
        self._process = Differences(settings.kernel, pairs, lengths, precision)
        start = np.pad(self._chain.sample, ((0, 0), (0, 1)))
        self._chain = sample_negative(precision, start, mix(mix(self._seeds, n), _CHAIN), settings.sweeps)

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`."""
        mean = self._hallucinated if self._settings.recommend == "hallucinated" else self._averaged
        if self._settings.recommend == "last_winner":
            return Choice(self._last_winner, np.arange(mean.shape[1]) == self._last_winner[:, None])
        return Choice(np.asarray(mean.argmax(axis=1)), near_greatest(mean))

    def next_pair(self) -> FloatArray:
        first = self._last_winner if self._settings.first == "last_winner" else self._hallucinated.argmax(axis=1)
        run = np.arange(len(first))
        champion = self._points[run, first]
        lots = mix(mix(self._seeds, self._points.shape[1] // 2), _CANDIDATE)
        opponent = _opponent(self._process, self._chain.sample, champion, self._hallucinated[run, first], lots, self._settings, self._points, self._hallucinated)
        return np.stack([champion, opponent], axis=1)

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`."""
        return self._process.mean(np.broadcast_to(points, (len(self._seeds), *points.shape)), self._chain.mean)


def _climb_evidence(settings: SkewGaussianProcessInBox, pairs: FloatArray, theta: FloatArray) -> FloatArray:
    t, n = pairs.shape[:2]
    scale = np.sqrt(2.0) * settings.noise
    jitter = 1e-8 * np.eye(n)
    pulls = np.zeros((t, n))

    def descend(theta: FloatArray, runs: IntArray) -> tuple[FloatArray, FloatArray]:
        lengths = np.exp(theta)
        covariance, slopes = difference_covariance(settings.kernel, pairs[runs], pairs[runs], lengths)
        found = evidence_of_differences(covariance + jitter, scale, pulls[runs])
        pulls[runs] = found.pull
        STAT[0] += len(runs)
        return -found.log_evidence, -covariance_slope(found.slope, slopes, pairs[runs], lengths)

    low, high = np.log(settings.lengths)
    starts = [np.full_like(theta, at) for at in np.linspace(low, high, _FIRST_LENGTHS + 1)[1:]] + [theta]
    values = np.stack([descend(start, np.arange(t))[0] for start in starts])
    start = np.stack(starts)[values.argmin(axis=0), np.arange(t)]
    d = theta.shape[1]
    return minimise_in_box(descend, start, np.full(d, low), np.full(d, high), max_steps=15, settled=1e-3, longest=1.0).point
STAT=[0,0,0]

def _opponent(process, v, champion, best, lots, settings, points, means):
    t, d = champion.shape
    rngs = [np.random.default_rng(int(lot)) for lot in lots]
    wide = np.stack([rng.random((settings.candidates, d)) for rng in rngs])
    near = np.stack([rng.normal(size=(32, d))*np.exp(rng.uniform(np.log(0.003),np.log(0.1),size=(32,1))) for rng in rngs])
    x = np.concatenate([wide, np.clip(champion[:, None] + near, 0, 1)], axis=1)
    value = _log_ei(process, v, best, x, np.arange(t))[0]
    top = np.argsort(-value, axis=1, kind="stable")[:, : settings.starts]
    start = np.take_along_axis(x, top[..., None], axis=1).reshape(-1, d)
    s = settings.starts

    def descend(x: FloatArray, number: IntArray):
        run, place = np.divmod(number, s)
        runs, counts = np.unique(run, return_counts=True)
        width = counts.max()
        row = np.repeat(np.arange(len(runs)), counts)
        col = np.arange(len(run)) - np.repeat(np.cumsum(counts) - counts, counts)
        padded = np.zeros((len(runs), width, d))
        padded[row, col] = x
        value, slope = _log_ei(process, v, best, padded, runs)
        STAT[1] += len(runs)*width
        STAT[2]+=1
        return -value[row, col], -slope[row, col]

    found = minimise_in_box(descend, start, np.zeros(d), np.ones(d), max_steps=30, longest=0.2)
    win = found.value.reshape(t, s).argmin(axis=1)
    return found.point.reshape(t, s, d)[np.arange(t), win]

def _log_ei(process, v, best, x, runs):
    b = process.beliefs(x, v, slice(None) if len(runs)==len(v) else runs)
    ei = log_expected_improvement(b.mean, np.maximum(b.variance, _SMALLEST_VARIANCE), best[runs][:, None])
    return ei.value, ei.by_mean[..., None] * b.mean_slope + ei.by_variance[..., None] * b.variance_slope
