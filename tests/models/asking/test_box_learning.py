"""The loop over a box: what it asks about, what it recommends, and that runs do not touch each other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from models.asking.box_learning import BoxCourse, ask_in_box
from models.numerics.hashing import mix
from models.records.arrays import FloatArray
from models.trees.growth.growing_tree import GrowingTree
from models.trees.growth.splits import TieBreak
from models.trees.preference_tree import PreferenceTree


def _peak(points: FloatArray) -> FloatArray:
    return np.asarray(-((points - [0.3, 0.8, 0.5]) ** 2).sum(axis=1))


def _course(seeds: list[int], recommend: str = "first") -> BoxCourse:
    keys = mix(0, np.array(seeds))
    return ask_in_box(_peak, 3, keys, n_initial=6, n_questions=15, recommend=recommend)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("rule", ["random", "most_wins"])
def test_other_rules_recommend_another_of_the_same_ties_and_ask_the_same(course: BoxCourse, rule: str) -> None:
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
    course = ask_in_box(_peak, 3, mix(4, np.arange(10)), n_questions=60)
    utility = _peak(course.points.reshape(-1, 3)).reshape(10, -1)
    at = np.arange(10)
    assert utility[at, course.recommended[-1]].mean() > utility[at, course.recommended[0]].mean()
    assert np.where(course.tied[-1], utility, -np.inf).max(axis=1).mean() > -0.02


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_features", 0),
        ("n_initial", 0),
        ("n_questions", -1),
        ("tie_break", "nonsense"),
        ("max_depth", -5),
        ("ratio", 0.0),
        ("ratio", np.nan),
        ("recommend", "best"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    settings = {"n_features": 3, "n_initial": 2, "n_questions": 1} | {name: value}
    with pytest.raises(ValueError, match=f"The '{name}' parameter of ask_in_box must be"):
        ask_in_box(_peak, seeds=mix(0, np.arange(1)), **settings)  # type: ignore[arg-type]


def test_seeds_and_utilities_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="seeds must be integers"):
        ask_in_box(_peak, 3, np.array([0.5]), n_initial=2, n_questions=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"utility must give a number for each of 4 points, found shape \(4,\), 4 NaN"):
        ask_in_box(lambda x: np.full(len(x), np.nan), 3, mix(0, np.arange(1)), n_initial=2, n_questions=0)
    with pytest.raises(ValueError, match=r"found shape \(4, 1\)"):
        ask_in_box(lambda x: x[:, :1], 3, mix(0, np.arange(1)), n_initial=2, n_questions=0)
