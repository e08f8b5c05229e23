"""A forest of preference trees as the model of a utility over the unit cube.

One greedy tree ties many points at its top and is sure of its splits. Here each tree is grown from a bootstrap sample
of the comparisons, so that the uncertainty of the splits enters qEUBO, and hardly two points tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, get_args

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.active_learning import best_by_lot, near_greatest
from models.asking.box.compared_points import ComparedPoints
from models.asking.box.forest_candidates import CandidatePoints, candidate_points
from models.asking.box.forest_trees import Forest, LeavesFrom
from models.asking.box.loop import Choice
from models.asking.box.tree import TREE_CONSTRAINTS
from models.asking.qeubo import qeubo
from models.numerics.hashing import HashArray, mix
from models.numerics.validation import words_of
from models.records.arrays import FloatArray
from models.trees.growth.grow import Growth

_TREE, _PAIR, _CANDIDATE = 0, 1, 2  # keys of the hashes for bootstrap samples, ties between pairs, and candidates

_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: TREE_CONSTRAINTS[name] for name in ("max_depth", "ratio")},
    "n_trees": [Interval(Integral, 1, None, closed="left")],
    "regrow_every": [Interval(Integral, 1, None, closed="left")],
    "challenge_every": [Interval(Integral, 1, None, closed="left"), None],
    "leaves_from": [words_of(LeavesFrom)],
    "candidates": [CandidatePoints],
    "steps": [tuple, list, None],
}


@dataclass(frozen=True)
class ForestInBox:
    """Trees of bootstrapped comparisons; the next pair is the one of greatest qEUBO among candidate points.

    n_trees: trees of each run. Each tree counts a comparison a Poisson(1) number of times, drawn once: the online
    bootstrap. leaves_from: its leaves are fitted to "all" comparisons, each once, or to those of the "bootstrap".
    regrow_every: comparisons after which a tree is grown again; the trees take turns.
    challenge_every: after so many comparisons, one asks about the recommended point and a rival, if there is one: of
    the other points that were never beaten, the one of greatest mean. A forest smooths, so it misjudges a good point
    among bad ones until the point is compared with the best. None for no such questions.
    candidates: see `CandidatePoints`. max_depth and ratio: as for `PreferenceTree`.
    steps: (d,) equal steps of each coordinate, for features that are set in steps; None for any value.
    The recommended point is the compared one with the greatest mean over trees.
    Raises ValueError for settings out of range.

    >>> learner = ForestInBox(n_trees=4).start(1, mix(0, np.arange(2)))
    >>> learner.learn(np.tile([[0.9], [0.1], [0.8], [0.3], [0.7], [0.2]], (2, 1, 1)))
    >>> bool((np.diff(learner.predict(np.array([[0.1], [0.9]]))) > 0).all())
    True
    """

    n_trees: int = 16
    leaves_from: LeavesFrom = "all"
    regrow_every: int = 4
    challenge_every: int | None = 2
    candidates: CandidatePoints = CandidatePoints()
    max_depth: int | None = None
    ratio: float = 0.25
    steps: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "ForestInBox")
        if self.steps is not None and not all(isinstance(n, Integral) and n > 0 for n in self.steps):
            raise ValueError(f"steps must be positive whole numbers, found {self.steps}")

    def start(self, n_features: int, seeds: HashArray) -> ForestLearner:
        """See `models.asking.box.loop.BoxModel`. Raises ValueError for steps of another number of features."""
        if self.steps is not None and len(self.steps) != n_features:
            raise ValueError(f"steps are of {len(self.steps)} features, the box has {n_features}")
        return ForestLearner(self, seeds)


class ForestLearner:
    """The forests of t runs: see `models.asking.box.loop.Learner`."""

    def __init__(self, settings: ForestInBox, seeds: HashArray) -> None:
        """Start without a comparison."""
        self._settings, self._seeds = settings, seeds
        growth = Growth(max_categories=None, tie_break="random", max_depth=settings.max_depth)
        trees = mix(mix(seeds, _TREE)[:, None], np.arange(settings.n_trees))
        self._forest = Forest(trees, settings.regrow_every, growth, settings.ratio, settings.leaves_from)
        self._seen = ComparedPoints(len(seeds))

    def learn(self, points: FloatArray) -> None:
        """See `models.asking.box.loop.Learner`."""
        self._points = points
        self._seen.learn(points)
        self._forest.learn(points)
        self._mean = self._forest.at_compared_points()

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`."""
        return Choice(np.asarray(self._mean.argmax(axis=1)), near_greatest(self._mean))

    def next_pair(self) -> FloatArray:
        """A challenge where it is due and there is a rival; else the pair of greatest qEUBO among candidates.

        Candidates are drawn anew for each question; ties between pairs are broken at random.
        """
        settings, n_pairs = self._settings, self._points.shape[1] // 2
        lots = mix(self._seeds, 2 * n_pairs)
        points = candidate_points(
            settings.candidates, self._points, self._seen, self._mean, mix(lots, _CANDIDATE), settings.steps
        )
        kept, mean, covariance = self._forest.most_promising(points, settings.candidates.kept)
        first, second = np.triu_indices(mean.shape[1], 1)
        value = qeubo(mean, covariance, first, second)
        best = best_by_lot(value, mix(mix(lots, _PAIR)[:, None], np.arange(len(first))))
        run = np.arange(len(points))
        chosen = np.stack([kept[run, first[best]], kept[run, second[best]]], axis=1)
        pair = points[run[:, None], chosen]
        if settings.challenge_every is not None and n_pairs % settings.challenge_every == 0:
            return self._challenge(pair)
        return pair

    def _challenge(self, pair: FloatArray) -> FloatArray:
        """The recommended point and its rival in the runs that have one; elsewhere `pair`, (t, 2, d)."""
        run, holder = np.arange(len(pair)), self._mean.argmax(axis=1)
        standing = np.where(self._seen.unbeaten, self._mean, -np.inf)
        standing[run, self._seen.first[run, holder]] = -np.inf
        rival = standing.argmax(axis=1)
        there_is_one = np.isfinite(standing[run, rival])
        both = self._points[run[:, None], np.stack([holder, rival], axis=1)]
        return np.where(there_is_one[:, None, None], both, pair)

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`."""
        return self._forest.mean_at(np.broadcast_to(points, (len(self._seeds), *points.shape)))
