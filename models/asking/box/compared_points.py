"""Which of the compared points are the same, and which of them were never beaten."""

from __future__ import annotations

import numpy as np

from models.records.arrays import BoolArray, FloatArray, IntArray


class ComparedPoints:
    """The points of t runs as they are compared, rows 2i (preferred) and 2i + 1; a point may be compared many times.

    first: (t, n) the first row with the same point; new: (t, n) whether that is the row itself; unbeaten: (t, n)
    whether a new point was preferred whenever it was compared.

    >>> seen = ComparedPoints(1)
    >>> seen.learn(np.array([[[0.5], [0.1], [0.9], [0.5]]]))
    >>> seen.first.tolist(), seen.unbeaten.tolist()
    ([[0, 1, 2, 0]], [[False, False, True, False]])
    """

    def __init__(self, n_runs: int) -> None:
        self.first: IntArray = np.zeros((n_runs, 0), dtype=np.int64)

    def learn(self, points: FloatArray) -> None:
        """Take all points so far, (t, n, d); those of an earlier call are the first of the next one."""
        n = points.shape[1]
        first = np.zeros((len(points), n), dtype=np.int64)
        known = min(self.first.shape[1], n)
        first[:, :known] = self.first[:, :known]
        for row in range(known, n):
            first[:, row] = (points[:, : row + 1] == points[:, row, None]).all(axis=2).argmax(axis=1)
        beaten = np.zeros((len(points), n), dtype=bool)
        np.put_along_axis(beaten, first[:, 1::2], True, axis=1)
        self.first = first
        self.new: BoolArray = first == np.arange(n)
        self.unbeaten: BoolArray = self.new & ~beaten

    def best(self, mean: FloatArray, n: int) -> IntArray:
        """Rows of the n different points of greatest mean (t, points), best first; fewer if there are no more: (t, k).

        In a run with fewer different points, rows repeat its best ones.
        """
        order = np.argsort(-np.where(self.new, mean, -np.inf), axis=1, kind="stable")
        n_different = self.new.sum(axis=1, keepdims=True)
        return np.take_along_axis(order, np.arange(n) % n_different, axis=1)
