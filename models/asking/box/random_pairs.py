"""Questions about random pairs of points, for comparison: what a model learns without choosing its questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.asking.box.forest import ForestInBox
from models.asking.box.loop import Choice, Learner
from models.asking.box.tree import TreeInBox
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray

_QUESTION = 3  # the key of the lots for the points asked about


_FOREST = ForestInBox()


@dataclass(frozen=True)
class RandomPairsInBox:
    """Asks about pairs of uniform points; `learns` is the model that learns from the answers and recommends.

    Raises ValueError for a model that is neither a tree nor a forest.

    >>> learner = RandomPairsInBox(learns=TreeInBox()).start(1, mix(0, np.arange(2)))
    >>> learner.learn(np.array([[[0.9], [0.1]], [[0.2], [0.8]]]))
    >>> learner.next_pair().shape
    (2, 2, 1)
    """

    learns: TreeInBox | ForestInBox = _FOREST

    def __post_init__(self) -> None:
        """Check the model."""
        if not isinstance(self.learns, TreeInBox | ForestInBox):
            raise ValueError(f"learns must be a TreeInBox or a ForestInBox, found {type(self.learns).__name__}")

    def start(self, n_features: int, seeds: HashArray) -> RandomPairsLearner:
        """See `models.asking.box.loop.BoxModel`."""
        return RandomPairsLearner(self.learns.start(n_features, seeds), seeds)


class RandomPairsLearner:
    """A learner of t runs whose questions do not depend on the answers: see `models.asking.box.loop.Learner`."""

    def __init__(self, learner: Learner, seeds: HashArray) -> None:
        """Start without a comparison."""
        self._learner, self._seeds = learner, seeds

    def learn(self, points: FloatArray) -> None:
        """See `models.asking.box.loop.Learner`."""
        self._learner.learn(points)
        self._shape = points.shape

    def recommend(self) -> Choice:
        """See `models.asking.box.loop.Learner`."""
        return self._learner.recommend()

    def next_pair(self) -> FloatArray:
        """Two uniform points in each run, (t, 2, d)."""
        _, n_points, d = self._shape
        lots = mix(mix(mix(self._seeds, _QUESTION), n_points)[:, None], np.arange(2 * d))
        return np.asarray((lots >> np.uint64(11)).reshape(-1, 2, d) * 2.0**-53, dtype=np.float64)

    def predict(self, points: FloatArray) -> FloatArray:
        """See `models.asking.box.loop.Learner`."""
        return self._learner.predict(points)
