"""A session of questions about settings of numeric features: answers so far, the next pair, and what was learnt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from models.asking.box.forest import ForestInBox
from models.asking.box.loop import initial_pairs
from models.numerics.hashing import HashArray, mix
from models.records.arrays import FloatArray
from models.records.base import Record
from models.records.features import Column, FeatureKind
from models.trees.preference_tree import PreferenceTree
from tasks.asking.box.settings import BoxSettings, Levels

Answer = Literal["first", "second", "skip"]
TREE_DEPTH = 4
"""Depth of the tree that is shown: a person can read sixteen leaves."""
TRIES, ANYWHERE = 4, 64
"""Draws of a pair by the forest, then from everywhere, before a pair is asked again."""


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
        learner = self._model.start(len(self._steps), self._seed(0))
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
        return np.asarray(np.array(won, dtype=np.float64).reshape(-1, len(self._steps)) / self._steps)

    def _levels(self, point: FloatArray) -> Levels:
        return tuple(np.rint(point * self._steps).astype(np.int64).tolist())

    def _choose(self) -> Pair:
        """The first draw of a pair of two settings that was not asked before; else of any two settings."""
        before = {frozenset((one.first, one.second)) for one in self.asked}
        drawn: list[Pair] = []
        for pair in chain(map(self._draw, range(TRIES)), self._anywhere()):
            if pair.first != pair.second:
                drawn.append(pair)
                if frozenset(pair) not in before:
                    return pair
        return drawn[0]

    def _anywhere(self) -> Iterator[Pair]:
        """Pairs of settings from everywhere; the last is of two neighbours, which differ in any case."""
        spread = initial_pairs(len(self._steps), self._seed(len(self.asked)), ANYWHERE)[0]
        for pair in spread:
            yield self._pair(pair)
        level = spread[0, 0] * self._steps
        level[0] = min(np.floor(level[0]), self._steps[0] - 1)
        beside = level + (np.arange(len(level)) == 0)
        yield self._pair(np.stack([level, beside]) / self._steps)

    def _draw(self, attempt: int) -> Pair:
        """A pair; another one for each attempt, and after each question without a preference."""
        number, settings, d = len(self.asked), self.settings, len(self._steps)
        points = self._points()
        if number < settings.n_initial:
            return self._pair(initial_pairs(d, self._seed(attempt), settings.n_initial)[0, number])
        if not len(points):
            return self._pair(initial_pairs(d, self._seed(number * TRIES + attempt), 1)[0, 0])
        # The rival of the recommended setting is the same in every draw.
        model = self._model if attempt == 0 else replace(self._model, challenge_every=None, redraw_every=None)
        learner = model.start(d, self._seed(self.n_skipped * TRIES + attempt))
        learner.learn(points[None])
        pair = learner.next_pair()[0]
        turned = int(mix(self._seed(number), attempt)[0]) % 2  # so that the best one does not always stand first
        return self._pair(pair[::-1] if turned else pair)

    def _seed(self, key: int) -> HashArray:
        return mix(self.settings.seed, np.array([key]))

    def _pair(self, points: FloatArray) -> Pair:
        return Pair(*(self._levels(point) for point in points))
