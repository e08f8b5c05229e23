"""Random pairs: uniform, the same whatever is answered, and learnt from."""

from __future__ import annotations

import numpy as np
import pytest

from models.asking.box.forest import ForestInBox
from models.asking.box.loop import ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.asking.box.random_pairs import RandomPairsInBox
from models.asking.box.tree import TreeInBox
from models.numerics.hashing import mix
from models.records.arrays import FloatArray


def _peak(points: FloatArray) -> FloatArray:
    return np.asarray(-np.abs(points - 0.3).sum(axis=1))


def test_questions_do_not_depend_on_the_answers_or_on_what_learns_and_cover_the_box() -> None:
    forest = RandomPairsInBox(ForestInBox(n_trees=2))
    courses = [
        ask_in_box(model, UtilityOracle(utility), 2, mix(0, np.arange(2)), n_initial=3, n_questions=40)
        for model, utility in (
            (RandomPairsInBox(TreeInBox()), _peak),
            (RandomPairsInBox(TreeInBox()), lambda x: -_peak(x)),
            (forest, _peak),
        )
    ]
    first, *others = (np.sort(course.points[:, 6:].reshape(2, 40, 2, 2), axis=2) for course in courses)
    assert all((first == other).all() for other in others)
    assert (first[0] != first[1]).any()
    assert first.mean() == pytest.approx(0.5, abs=0.05)
    assert first.std() == pytest.approx(12**-0.5, abs=0.05)


def test_the_forest_recommends_a_good_point_of_those_compared() -> None:
    model = RandomPairsInBox(ForestInBox(n_trees=8))
    course = ask_in_box(model, UtilityOracle(_peak), 2, mix(1, np.arange(2)), n_initial=5, n_questions=40)
    best = course.points[[0, 1], course.recommended[-1]]
    utility = _peak(course.points.reshape(-1, 2)).reshape(2, -1)
    assert (_peak(best) >= np.quantile(utility, 0.9, axis=1)).all()


def test_a_model_that_is_no_tree_or_forest_is_refused() -> None:
    with pytest.raises(ValueError, match="learns must be a TreeInBox or a ForestInBox, found int"):
        RandomPairsInBox(5)  # type: ignore[arg-type]
