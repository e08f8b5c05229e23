"""The loop over a box: what it asks about, what it recommends, and that runs do not touch each other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from models.box_learning import BoxCourse, _leaves, ask_in_box
from models.hashing import mix
from models.preference_tree import numeric_columns
from models.records import FloatArray
from models.tree_surrogate import PAPERS

COLUMNS = numeric_columns(["x", "y", "z"])


def _peak(points: FloatArray) -> FloatArray:
    return np.asarray(-((points - [0.3, 0.8, 0.5]) ** 2).sum(axis=1))


def _course(seeds: list[int], recommend: str = "first") -> BoxCourse:
    keys = mix(0, np.array(seeds))
    return ask_in_box(_peak, COLUMNS, keys, n_initial=6, n_questions=15, recommend=recommend)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def course() -> BoxCourse:
    return _course([1, 2, 3])


def test_every_pair_has_its_winner_first_and_lies_in_the_cube(course: BoxCourse) -> None:
    told = _peak(course.points.reshape(-1, 3)).reshape(3, -1, 2)
    assert (told[..., 0] > told[..., 1]).all()
    assert ((course.points >= 0) & (course.points < 1)).all()


def test_the_initial_points_are_a_latin_hypercube(course: BoxCourse) -> None:
    for run in course.points[:, :12]:
        assert (np.sort((run * 12).astype(int), axis=0) == np.arange(12)[:, None]).all()


def test_only_compared_points_of_the_greatest_mean_are_recommended(course: BoxCourse) -> None:
    for question, (recommended, tied) in enumerate(zip(course.recommended, course.tied, strict=True)):
        assert tied[np.arange(3), recommended].all()
        assert not tied[:, 2 * (6 + question) :].any()


@pytest.mark.parametrize("rule", ["random", "most_wins"])
def test_other_rules_recommend_another_of_the_same_ties_and_ask_the_same(course: BoxCourse, rule: str) -> None:
    other = _course([1, 2, 3], rule)
    assert (other.points == course.points).all()
    assert other.tied[np.arange(16)[:, None], np.arange(3), other.recommended].all()


def test_a_run_does_not_depend_on_the_others(course: BoxCourse) -> None:
    alone = _course([3])
    assert_allclose(alone.points[0], course.points[2])
    assert (alone.recommended[:, 0] == course.recommended[:, 2]).all()


def test_the_leaves_boxes_part_the_cube_and_hold_their_points(course: BoxCourse) -> None:
    leaves = _leaves(course.points, COLUMNS, mix(0, np.arange(3)), PAPERS, 0.25)
    volume = np.prod(leaves.upper - leaves.lower, axis=2)
    assert_allclose(volume.sum(axis=1), 1.0)
    run = np.arange(3)[:, None]
    assert (course.points >= leaves.lower[run, leaves.of_point]).all()
    assert (course.points <= leaves.upper[run, leaves.of_point]).all()


def test_asking_comes_near_the_maximum() -> None:
    course = ask_in_box(_peak, COLUMNS, mix(4, np.arange(10)), n_questions=60)
    told = _peak(course.points.reshape(-1, 3)).reshape(10, -1)
    at = np.arange(10)
    assert told[at, course.recommended[-1]].mean() > told[at, course.recommended[0]].mean()
    assert np.where(course.tied[-1], told, -np.inf).max(axis=1).mean() > -0.02
