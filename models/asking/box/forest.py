"""A forest of preference trees as the model of a utility over the unit cube.

One greedy tree ties many points at its top and is sure of its splits. Here each tree is grown from a bootstrap sample
of the comparisons, so that the uncertainty of the splits enters qEUBO, and hardly two points tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.active_learning import best_by_lot, near_greatest
from models.asking.box.compared_points import ComparedPoints
from models.asking.box.forest_candidates import CandidatePoints, candidate_points, one_coordinate_anew
from models.asking.box.forest_trees import Forest, LeavesFrom
from models.asking.box.loop import Choice
from models.asking.box.tree import TREE_CONSTRAINTS
from models.asking.qeubo import qeubo
from models.numerics.hashing import HashArray, mix
from models.numerics.validation import words_of
from models.records.arrays import FloatArray
from models.trees.growth.grow import Growth

_TREE, _PAIR, _CANDIDATE = 0, 1, 2  # keys of the hashes for bootstrap samples, ties between pairs, and candidates

Against = Literal["best", "any"]
Recommend = Literal["unbeaten", "mean"]
_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: TREE_CONSTRAINTS[name] for name in ("max_depth", "ratio")},
    "n_trees": [Interval(Integral, 1, None, closed="left")],
    "regrow_every": [Interval(Integral, 1, None, closed="left")],
    "challenge_every": [Interval(Integral, 1, None, closed="left"), None],
    "redraw_every": [Interval(Integral, 1, None, closed="left"), None],
    "leaves_from": [words_of(LeavesFrom)],
    "against": [words_of(Against)],
    "recommend": [words_of(Recommend)],
    "candidates": [CandidatePoints],
    "steps": [tuple, list, None],
}


_USUAL = CandidatePoints()


@dataclass(frozen=True)
class ForestInBox:
    """Trees of bootstrapped comparisons; the next question is the one of greatest qEUBO among candidate points.

    n_trees: trees of each run. Each tree counts a comparison a Poisson(1) number of times, drawn once: the online
    bootstrap. leaves_from: its leaves are fitted to "all" comparisons, each once, or to those of the "bootstrap".
    regrow_every: comparisons after which a tree is grown again; the trees take turns.
    challenge_every: after so many comparisons, one asks about the recommended point and a rival, if there is one: of
    the other points that were never beaten, the one of greatest mean. A forest smooths, so it misjudges a good point
    among bad ones until that is compared with the best. None for no such questions.
    redraw_every: after so many comparisons, one asks about the recommended point as it is and with one coordinate drawn
    anew, unless a rival is due. None for no such questions.
    against: all other questions compare the "best" point, the recommended one, with a candidate, or "any" two
    candidates. Comparisons with the best one tell what is better still.
    recommend: of the compared points, the one of greatest mean over trees: of all ("mean"), or of those that were never
    beaten ("unbeaten"; of all if each was beaten), which suits answers that seldom waver.
    candidates: see `CandidatePoints`. max_depth and ratio: as for `PreferenceTree`.
    steps: (d,) equal steps of each coordinate, for features that are set in steps; None for any value.
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
    redraw_every: int | None = 4
    against: Against = "best"
    recommend: Recommend = "unbeaten"
    candidates: CandidatePoints = _USUAL
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
        mean = self._forest.at_compared_points()
        self._standing = mean
        if self._settings.recommend == "unbeaten":
            unbeaten = np.take_along_axis(self._seen.unbeaten, self._seen.first, axis=1)
            self._standing = np.where(unbeaten | ~unbeaten.any(axis=1, keepdims=True), mean, -np.inf)
        run, self._holder = np.arange(len(mean)), self._standing.argmax(axis=1)
        self._mean = mean.copy()
        self._mean[run, self._seen.first[run, self._holder]] = np.inf  # first of the good points

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`."""
        return Choice(self._holder, near_greatest(self._standing))

    def next_pair(self) -> FloatArray:
        """A rival of the recommended point or a redrawn one where it is due, else the greatest qEUBO, (t, 2, d)."""
        n_pairs = self._points.shape[1] // 2
        lots = mix(self._seeds, 2 * n_pairs)
        draws = mix(lots, _CANDIDATE)
        run = np.arange(len(lots))
        best = self._points[run, self._holder]
        if _due(self._settings.redraw_every, n_pairs):
            anew = one_coordinate_anew(best[:, None], draws, self._settings.steps)
            pair = np.concatenate([best[:, None], anew], axis=1)
        else:
            pair = self._of_greatest_qeubo(lots, draws)
        if _due(self._settings.challenge_every, n_pairs):
            standing = np.where(self._seen.unbeaten, self._mean, -np.inf)
            standing[run, self._seen.first[run, self._holder]] = -np.inf
            rival = standing.argmax(axis=1)
            challenge = np.stack([best, self._points[run, rival]], axis=1)
            pair = np.where(np.isfinite(standing[run, rival])[:, None, None], challenge, pair)
        return pair

    def _of_greatest_qeubo(self, lots: HashArray, draws: HashArray) -> FloatArray:
        """The pair of greatest qEUBO among candidates that are drawn anew; ties are broken at random."""
        settings = self._settings
        points = candidate_points(settings.candidates, self._points, self._seen, self._mean, draws, settings.steps)
        kept, mean, covariance = self._forest.most_promising(points, settings.candidates.kept)
        first, second = np.triu_indices(mean.shape[1], 1)
        if settings.against == "best":
            first, second = np.zeros(mean.shape[1] - 1, dtype=np.int64), np.arange(1, mean.shape[1])
        value = qeubo(mean, covariance, first, second)
        best = best_by_lot(value, mix(mix(lots, _PAIR)[:, None], np.arange(len(first))))
        run = np.arange(len(points))
        chosen = np.stack([kept[run, first[best]], kept[run, second[best]]], axis=1)
        return np.asarray(points[run[:, None], chosen])

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`."""
        return self._forest.mean_at(np.broadcast_to(points, (len(self._seeds), *points.shape)))


def _due(every: int | None, n_pairs: int) -> bool:
    return every is not None and n_pairs % every == 0
