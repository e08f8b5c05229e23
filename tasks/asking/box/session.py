"""A session of questions about settings of numeric features: answers so far, the next pair, and what was learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from models.asking.box.forest import ForestInBox
from models.asking.box.loop import initial_pairs
from models.numerics.hashing import mix
from models.records.arrays import FloatArray
from models.records.base import Record
from models.records.features import Column, FeatureKind
from models.trees.preference_tree import PreferenceTree
from tasks.asking.box.settings import BoxSettings, Levels

Answer = Literal["first", "second", "skip"]
TREE_DEPTH = 4
"""Depth of the tree that is shown: a person can read sixteen leaves."""
TRIES = 8
"""Draws of a pair before one that was asked before is asked again."""


class Asked(Record):
    """A question and its answer."""

    first: tuple[Annotated[int, Field(ge=0)], ...]
    second: tuple[Annotated[int, Field(ge=0)], ...]
    answer: Answer


class Pair(NamedTuple):
    """Two settings to compare."""

    first: Levels
    second: Levels


class BoxSession:
    """Questions about settings of numeric features, chosen by a forest of preference trees.

    The next pair depends on the settings and the answers alone, so a session goes on where it was left. A question
    without a preference teaches the forest nothing, and another pair is asked.

    >>> from tasks.asking.box.settings import BoxFeature
    >>> session = BoxSession(BoxSettings(features=(BoxFeature(name="sugar", lower=0, upper=20, step=1, unit="g"),)))
    >>> for _ in range(12):  # someone who likes 6 g best
    ...     first, second = session.next_pair()
    ...     session.answer("first" if abs(first[0] - 6) < abs(second[0] - 6) else "second")
    >>> abs(session.recommended()[0] - 6) < 3
    True
    """

    def __init__(self, settings: BoxSettings, asked: Sequence[Asked] = ()) -> None:
        self.settings = settings
        self.asked = list(asked)
        self._steps = np.array([feature.n_steps for feature in settings.features])
        self._model = ForestInBox(steps=tuple(self._steps.tolist()))
        self._next: Pair | None = None

    @property
    def n_answers(self) -> int:
        """Number of questions answered with a preference."""
        return sum(one.answer != "skip" for one in self.asked)

    @property
    def n_skipped(self) -> int:
        """Number of questions answered without a preference."""
        return len(self.asked) - self.n_answers

    def next_pair(self) -> Pair:
        """The two settings to compare next: always different, and not asked before unless all draws were."""
        if self._next is None:
            self._next = self._choose()
        return self._next

    def answer(self, answer: Answer) -> None:
        """Record the answer to the pair of `next_pair`."""
        first, second = self.next_pair()
        self.asked.append(Asked(first=first, second=second, answer=answer))
        self._next = None

    def undo(self) -> bool:
        """Take back the last answer, so that its pair is asked again. Returns whether there was one."""
        if not self.asked:
            return False
        last = self.asked.pop()
        self._next = Pair(last.first, last.second)
        return True

    def recommended(self) -> Levels:
        """The compared setting of greatest mean utility. Raises ValueError without an answer."""
        points = self._points()
        if not len(points):
            raise ValueError("there is no answer to learn from")
        learner = self._model.start(len(self._steps), mix(self.settings.seed, np.zeros(1, dtype=np.int64)))
        learner.learn(points[None])
        return self._levels(points[int(learner.recommend().recommended[0])])

    def tree(self) -> PreferenceTree:
        """One tree of all answers, to read: splits are in the features' own units."""
        lower = np.array([feature.lower for feature in self.settings.features])
        step = np.array([feature.step for feature in self.settings.features])
        items = lower + step * np.rint(self._points() * self._steps)
        columns = [
            Column(name=feature.name, feature=feature.name, kind=FeatureKind.NUMERIC, unit=feature.unit or None)
            for feature in self.settings.features
        ]
        pairs = np.arange(len(items)).reshape(-1, 2)
        return PreferenceTree(columns, max_depth=TREE_DEPTH, tie_break="widest_gap").fit(items, pairs)

    def _points(self) -> FloatArray:
        """The compared settings in the unit cube, the preferred one of each pair first, (2 n_answers, d)."""
        won = [
            (one.first, one.second) if one.answer == "first" else (one.second, one.first)
            for one in self.asked
            if one.answer != "skip"
        ]
        return np.array(won, dtype=np.float64).reshape(-1, len(self._steps)) / self._steps

    def _levels(self, point: FloatArray) -> Levels:
        return tuple(np.rint(point * self._steps).astype(np.int64).tolist())

    def _choose(self) -> Pair:
        before = {frozenset((one.first, one.second)) for one in self.asked}
        drawn = [self._draw(0)]
        while len(drawn) < TRIES and (drawn[-1].first == drawn[-1].second or frozenset(drawn[-1]) in before):
            drawn.append(self._draw(len(drawn)))
        if drawn[-1].first != drawn[-1].second and frozenset(drawn[-1]) not in before:
            return drawn[-1]
        different = [pair for pair in drawn if pair.first != pair.second]
        return different[0] if different else self._neighbours(drawn[0].first)

    def _draw(self, attempt: int) -> Pair:
        """A pair; another one for each attempt, and after each question without a preference."""
        number, settings, d = len(self.asked), self.settings, len(self._steps)
        points = self._points()
        if number < settings.n_initial:
            pair = initial_pairs(d, mix(settings.seed, np.array([attempt])), settings.n_initial)[0, number]
        elif not len(points):
            pair = initial_pairs(d, mix(settings.seed, np.array([number * TRIES + attempt])), 1)[0, 0]
        else:
            learner = self._model.start(d, mix(settings.seed, np.array([self.n_skipped * TRIES + attempt])))
            learner.learn(points[None])
            pair = learner.next_pair()[0]
        return Pair(*(self._levels(point) for point in pair))

    def _neighbours(self, levels: Levels) -> Pair:
        """A setting and the one a step away in the first feature."""
        return Pair(levels, (levels[0] + 1 if levels[0] < self._steps[0] else levels[0] - 1, *levels[1:]))
