"""The loop that asks: pairs of a Latin hypercube first, then the pairs that a model chooses (dt-pbo Algorithm 1).

Any number of runs advance together: a step is one question in each, so that twenty runs cost little more than one. A
run depends on its own seed and answers alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats.qmc import LatinHypercube
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.box.oracle import Oracle
from models.numerics.hashing import HashArray, mix
from models.numerics.validation import check_integers
from models.records.arrays import BoolArray, FloatArray, IntArray

_ANSWER = -1  # the key of the lots for answers that waver; questions have keys from 0

_LOOP: dict[str, list[Any]] = {
    "n_features": [Interval(Integral, 1, None, closed="left")],
    "n_initial": [Interval(Integral, 1, None, closed="left")],
    "n_questions": [Interval(Integral, 0, None, closed="left")],
}


class Choice(NamedTuple):
    """What a model recommends in each of t runs among the n points compared so far.

    recommended: (t,) rows of points; tied: (t, n) whether a point shares the greatest mean.
    """

    recommended: IntArray
    tied: BoolArray


class Learner(Protocol):
    """A model of t runs that learns comparison by comparison. It depends on its seeds and on the comparisons alone."""

    def learn(self, points: FloatArray) -> None:
        """Learn from all comparisons so far, points (t, 2n, d): rows 2i and 2i + 1 were compared, preferred first.

        Comparisons of an earlier call are the first of the next one.
        """

    def recommend(self) -> Choice:
        """The point of greatest mean utility among those compared."""

    def next_pair(self) -> FloatArray:
        """The two points to compare next in each run, (t, 2, d)."""

    def predict(self, points: FloatArray) -> FloatArray:
        """The mean utility of points (c, d) of the unit cube in each run, (t, c)."""


class BoxModel(Protocol):
    """A kind of model with its settings."""

    def start(self, n_features: int, seeds: HashArray) -> Learner:
        """A learner of t runs that knows no comparison yet; seeds: (t,)."""


@dataclass(frozen=True, eq=False)
class BoxCourse:
    """What happened in t runs of q questions after n initial ones.

    points: (t, 2 (n + q), d): points 2i and 2i + 1 were compared, the preferred one first.
    recommended: (q + 1, t) rows of points; tied: (q + 1, t, 2 (n + q)) whether a point shared the greatest mean.
    seconds: (q + 1,) processor time of learning and of choosing the next pair, over all runs. Of everything here, it
    alone differs from one machine to the next.
    """

    points: FloatArray
    recommended: IntArray
    tied: BoolArray
    seconds: FloatArray


def ask_in_box(
    model: BoxModel,
    oracle: Oracle,
    n_features: int,
    seeds: ArrayLike,
    *,
    n_initial: int = 20,
    n_questions: int = 200,
) -> BoxCourse:
    """Ask n_initial pairs of a Latin hypercube, then n_questions that the model chooses.

    seeds: (t,) integers, one per run. Only points that were compared are recommended.
    Raises ValueError for settings out of range.

    >>> from models.asking.box.oracle import UtilityOracle
    >>> from models.asking.box.tree import TreeInBox
    >>> oracle = UtilityOracle(lambda x: -np.abs(x[:, 0] - 0.3))
    >>> course = ask_in_box(TreeInBox(), oracle, 1, [1, 2], n_initial=5, n_questions=30)
    >>> best = course.points[[0, 1], course.recommended[-1], 0]  # the recommended point of each run
    >>> bool((np.abs(best - 0.3) < 0.1).all())
    True
    """
    validate_parameter_constraints(_LOOP, locals(), "ask_in_box")
    keys = check_seeds(seeds)
    points = np.zeros((len(keys), 2 * (n_initial + n_questions), n_features))
    lots = mix(mix(keys, _ANSWER)[:, None], np.arange(n_initial + n_questions))
    pairs = initial_pairs(n_features, keys, n_initial)
    points[:, : 2 * n_initial] = preferred_first(oracle, pairs, lots[:, :n_initial])
    learner = model.start(n_features, keys)
    recommended = np.zeros((n_questions + 1, len(keys)), dtype=np.int64)
    tied = np.zeros((n_questions + 1, *points.shape[:2]), dtype=bool)
    seconds = np.zeros(n_questions + 1)
    for question in range(n_questions + 1):
        known, start = 2 * (n_initial + question), time.process_time()
        learner.learn(points[:, :known])
        recommended[question], tied[question, :, :known] = learner.recommend()
        pair = learner.next_pair() if question < n_questions else None
        seconds[question] = time.process_time() - start
        if pair is not None:
            own = lots[:, n_initial + question, None]
            points[:, known : known + 2] = preferred_first(oracle, pair[:, None], own)
    return BoxCourse(points, recommended, tied, seconds)


def check_seeds(seeds: ArrayLike) -> HashArray:
    """Seeds as (t,) uint64, one a run. Raises ValueError for other seeds, or none.

    >>> check_seeds([3])
    array([3], dtype=uint64)
    """
    found = check_integers(seeds, "seeds").astype(np.uint64)
    if not len(found):
        raise ValueError("seeds must hold one integer for each run, found none")
    return found


def initial_pairs(n_features: int, seeds: HashArray, n_pairs: int) -> FloatArray:
    """Pairs of points of a Latin hypercube for each of t runs, (t, n_pairs, 2, d).

    >>> initial_pairs(3, check_seeds([1, 2]), 5).shape
    (2, 5, 2, 3)
    """
    drawn = [LatinHypercube(n_features, rng=int(seed)).random(2 * n_pairs) for seed in seeds]
    return np.stack(drawn).reshape(len(seeds), n_pairs, 2, n_features)


def preferred_first(oracle: Oracle, pairs: FloatArray, lots: HashArray) -> FloatArray:
    """The points of pairs (t, n, 2, d) as the oracle answers, (t, 2n, d): of each pair, the preferred one first."""
    first = oracle(pairs, lots)[..., None, None]
    return np.where(first, pairs, pairs[:, :, ::-1]).reshape(len(pairs), -1, pairs.shape[-1])
