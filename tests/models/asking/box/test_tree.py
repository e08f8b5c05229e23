"""The loop over a box: what it asks about, what it recommends, and that runs do not touch each other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from models.asking.active_learning import Recommendation
from models.asking.box.loop import BoxCourse, ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.asking.box.tree import TreeInBox
from models.numerics.hashing import mix
from models.records.arrays import FloatArray
from models.trees.growth.growing_tree import GrowingTree
from models.trees.growth.splits import TieBreak
from models.trees.preference_tree import PreferenceTree


def _peak(points: FloatArray) -> FloatArray:
    return np.asarray(-((points - [0.3, 0.8, 0.5]) ** 2).sum(axis=1))


def _course(seeds: list[int], recommend: Recommendation = "first") -> BoxCourse:
    model = TreeInBox(recommend=recommend)
    return ask_in_box(model, UtilityOracle(_peak), 3, mix(0, np.array(seeds)), n_initial=6, n_questions=15)


@pytest.fixture(scope="module")
def course() -> BoxCourse:
    return _course([1, 2, 3])


def test_every_pair_has_its_winner_first_and_lies_in_the_cube(course: BoxCourse) -> None:
    utility = _peak(course.points.reshape(-1, 3)).reshape(3, -1, 2)
    assert (utility[..., 0] > utility[..., 1]).all()
    assert ((course.points >= 0) & (course.points < 1)).all()


def test_the_initial_points_are_a_latin_hypercube(course: BoxCourse) -> None:
    for run in course.points[:, :12]:
        assert (np.sort((run * 12).astype(int), axis=0) == np.arange(12)[:, None]).all()


def test_only_compared_points_of_the_greatest_mean_are_recommended(course: BoxCourse) -> None:
    for question, (recommended, tied) in enumerate(zip(course.recommended, course.tied, strict=True)):
        assert tied[np.arange(3), recommended].all()
        assert not tied[:, 2 * (6 + question) :].any()


@pytest.mark.parametrize("rule", ["random", "latest", "most_wins"])
def test_other_rules_recommend_another_of_the_same_ties_and_ask_the_same(
    course: BoxCourse, rule: Recommendation
) -> None:
    other = _course([1, 2, 3], rule)
    assert (other.points == course.points).all()
    assert other.tied[np.arange(16)[:, None], np.arange(3), other.recommended].all()


def test_a_run_does_not_depend_on_the_others(course: BoxCourse) -> None:
    alone = _course([3])
    assert_allclose(alone.points[0], course.points[2])
    assert (alone.recommended[:, 0] == course.recommended[:, 2]).all()


def _grown(points: FloatArray, tie_break: TieBreak, max_depth: int | None) -> GrowingTree:
    tree = GrowingTree(points, tie_break=tie_break, max_depth=max_depth, seed=5)
    for pair in range(len(points) // 2):
        tree.add(pair)
    return tree


@pytest.mark.parametrize("tie_break", ["lowest", "random", "widest_gap"])
@pytest.mark.parametrize("max_depth", [None, 2])
def test_a_tree_grown_pair_by_pair_is_the_tree_grown_from_all(tie_break: TieBreak, max_depth: int | None) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        points = rng.random((2 * rng.integers(3, 60), 3))
        points[:2] = [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]  # so that both measure gaps in the same unit
        comparisons = np.arange(len(points)).reshape(-1, 2)
        whole = PreferenceTree(tie_break=tie_break, max_depth=max_depth, random_state=5).fit(points, comparisons)
        regions = _grown(points, tie_break, max_depth).regions()
        assert len(regions.lower) == whole.n_leaves_
        assert (regions.of_point == whole.apply(points)).all()
        anywhere = rng.random((200, 3))
        inside = (anywhere[:, None] >= regions.lower) & (anywhere[:, None] < regions.upper)
        assert (inside.all(axis=2).argmax(axis=1) == whole.apply(anywhere)).all()


def test_the_leaves_boxes_part_the_cube_and_hold_their_points(course: BoxCourse) -> None:
    for points in course.points:
        regions = _grown(points, "lowest", None).regions()
        assert_allclose(np.prod(regions.upper - regions.lower, axis=1).sum(), 1.0)
        assert (points >= regions.lower[regions.of_point]).all()
        assert (points <= regions.upper[regions.of_point]).all()


def test_asking_comes_near_the_maximum() -> None:
    course = ask_in_box(TreeInBox(), UtilityOracle(_peak), 3, mix(4, np.arange(10)), n_questions=60)
    utility = _peak(course.points.reshape(-1, 3)).reshape(10, -1)
    at = np.arange(10)
    assert utility[at, course.recommended[-1]].mean() > utility[at, course.recommended[0]].mean()
    assert np.where(course.tied[-1], utility, -np.inf).max(axis=1).mean() > -0.02


def test_the_mean_at_compared_points_is_that_of_their_leaves(course: BoxCourse) -> None:
    learner = TreeInBox().start(3, mix(0, np.array([1])))
    learner.learn(course.points[:1])
    at_points = learner.predict(course.points[0])[0]
    tied = learner.recommend().tied[0]
    assert (at_points[tied] == at_points.max()).all()
    assert (at_points[~tied] < at_points.max()).all()
    assert learner.predict(np.ones((1, 3))).shape == (1, 1)


def test_what_is_learnt_at_once_is_what_is_learnt_pair_by_pair(course: BoxCourse) -> None:
    slowly, at_once = (TreeInBox().start(3, mix(0, np.array([1, 2, 3]))) for _ in range(2))
    for known in range(2, course.points.shape[1] + 1, 2):
        slowly.learn(course.points[:, :known])
    at_once.learn(course.points)
    assert (slowly.next_pair() == at_once.next_pair()).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("tie_break", "nonsense"), ("max_depth", -5), ("ratio", 0.0), ("ratio", np.nan), ("recommend", "best")],
)
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of TreeInBox must be"):
        TreeInBox(**{name: value})  # type: ignore[arg-type]
