"""The forest in a box: it finds planted optima, runs do not touch one another, and beliefs add up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from models.asking.box.compared_points import ComparedPoints
from models.asking.box.forest import ForestInBox
from models.asking.box.forest_candidates import CandidatePoints, candidate_points
from models.asking.box.forest_trees import Forest, TreesOfRuns
from models.asking.box.loop import ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.benchmarks.functions import benchmark_function
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import mix
from models.records.arrays import FloatArray
from models.trees.growth.grow import Growth
from models.trees.leaf_fit import prior_factor


def test_it_finds_the_maximum_of_branin_within_60_questions_in_most_runs() -> None:
    branin = benchmark_function("branin")
    course = ask_in_box(ForestInBox(), UtilityOracle(branin), 2, mix(0, np.arange(3)), n_questions=60)
    regret = branin.maximum - branin(course.points[np.arange(3), course.recommended[-1]])
    assert np.median(regret) < 0.1


def test_the_recommendation_is_a_compared_point_and_pairs_hold_the_winner_first() -> None:
    levy = benchmark_function("levy")
    course = ask_in_box(ForestInBox(), UtilityOracle(levy), 2, mix(1, np.arange(2)), n_initial=6, n_questions=10)
    assert course.points.shape == (2, 32, 2)
    assert course.recommended.shape == (11, 2)
    assert ((course.points >= 0) & (course.points <= 1)).all()
    utility = levy(course.points)
    assert (utility[:, ::2] >= utility[:, 1::2]).all()
    for question in range(11):
        known = 2 * (6 + question)
        assert (course.recommended[question] < known).all()
        assert not course.tied[question, :, known:].any()
        assert course.tied[question, np.arange(2), course.recommended[question]].all()


def test_a_run_depends_on_its_own_seed_alone() -> None:
    branin, seeds = benchmark_function("branin"), mix(2, np.arange(3))
    together = ask_in_box(ForestInBox(), UtilityOracle(branin), 2, seeds, n_initial=8, n_questions=12)
    alone = ask_in_box(ForestInBox(), UtilityOracle(branin), 2, seeds[1:2], n_initial=8, n_questions=12)
    assert alone.points[0] == pytest.approx(together.points[1], abs=1e-9)
    assert not np.allclose(together.points[0], together.points[1])


def _winners_first(pairs: FloatArray, utility: FloatArray) -> FloatArray:
    """Pairs (t, n, 2, d) as points (t, 2n, d), the one of greater utility first."""
    first = (utility[..., 0] > utility[..., 1])[..., None, None]
    return np.where(first, pairs, pairs[:, :, ::-1]).reshape(len(pairs), -1, pairs.shape[-1])


def _compared(n_runs: int = 2, n_pairs: int = 20) -> FloatArray:
    pairs = np.random.default_rng(3).random((n_runs, n_pairs, 2, 2))
    return _winners_first(pairs, benchmark_function("branin")(pairs))


def _forest(n_trees: int = 5, regrow_every: int = 1, ratio: float = 0.25) -> Forest:
    growth = Growth(max_categories=None, tie_break="random")
    return Forest(mix(mix(4, np.arange(2))[:, None], np.arange(n_trees)), regrow_every, growth, ratio, "all")


def test_beliefs_at_compared_points_agree_with_beliefs_at_the_same_places() -> None:
    points, forest = _compared(), _forest()
    forest.learn(points)
    kept, mean, covariance = forest.most_promising(points, 40)
    at_points = forest.at_compared_points()
    assert mean == pytest.approx(np.take_along_axis(at_points, kept, axis=1))
    assert forest.mean_at(points) == pytest.approx(at_points)
    assert covariance == pytest.approx(np.swapaxes(covariance, 1, 2))
    assert np.linalg.eigvalsh(covariance).min() > -1e-9
    promise = mean + np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    assert (kept[:, 0] == 0).all()
    assert (np.diff(promise[:, 1:], axis=1) <= 1e-9).all()


def test_the_course_follows_from_the_comparisons_alone_however_they_were_learnt() -> None:
    points = _compared(n_pairs=40)
    one_by_one, at_once = (ForestInBox(n_trees=8).start(2, mix(5, np.arange(2))) for _ in range(2))
    for known in range(20, 80, 2):
        one_by_one.learn(points[:, : known + 2])
    at_once.learn(points)
    assert (one_by_one.next_pair() == at_once.next_pair()).all()
    assert (one_by_one.predict(points[0]) == at_once.predict(points[0])).all()


def test_until_a_tree_is_grown_again_its_leaves_move_nearly_as_a_new_fit_would() -> None:
    points = _compared(n_runs=2, n_pairs=30)
    trees = TreesOfRuns(points, 27, mix(6, np.arange(8).reshape(2, 4)), Growth(max_categories=None), 0.25, "all")
    before = trees.mean.copy()
    for pair in range(27, 30):
        trees.add(points[:, 2 * pair : 2 * pair + 2])
    leaf = trees.leaf_of_point
    counted = count_pairs(np.repeat(np.arange(8), 30), leaf[:, ::2].ravel(), leaf[:, 1::2].ravel(), 8, len(before[0]))
    mode = laplace_mode(counted, prior_factor(0.25))
    assert np.abs(trees.mean - mode).max() < 0.25 * np.abs(before - mode).max()
    assert trees.covariance == pytest.approx(laplace_covariance(counted, mode, prior_factor(0.25)), abs=0.3)


def test_a_good_point_among_bad_ones_is_compared_with_the_recommended_one() -> None:
    """A needle in the plain, seen in one comparison: a smoothing model alone would pass over it."""
    needle = np.array([0.9, 0.9])

    def utility(x: FloatArray) -> FloatArray:
        plain = -np.abs(x - 0.2).sum(axis=-1)
        return np.asarray(np.where(np.abs(x - needle).max(axis=-1) < 1e-9, 1.0, plain))

    pairs = np.random.default_rng(7).random((1, 8, 2, 2))
    pairs[:, 0, 0] = needle
    points = _winners_first(pairs, utility(pairs))
    asked = {
        every: _asked_about(needle, ForestInBox(n_trees=8, challenge_every=every, redraw_every=None), points, utility)
        for every in (1, None)
    }
    assert asked[1] >= 1 > asked[None]


def _asked_about(
    place: FloatArray, model: ForestInBox, points: FloatArray, utility: Callable[[FloatArray], FloatArray]
) -> int:
    """In how many of 12 questions a place is one of the two."""
    learner, asked = model.start(2, mix(8, np.arange(1))), 0
    for _ in range(12):
        learner.learn(points)
        pair = learner.next_pair()[:, None]
        asked += int((pair[0, 0] == place).all(axis=1).any())
        points = np.concatenate([points, _winners_first(pair, utility(pair))], axis=1)
    return asked


def test_candidates_are_as_many_as_asked_for_and_lie_in_the_box() -> None:
    points = np.random.default_rng(5).random((2, 30, 3))
    points[:, 20:] = points[:, :1]  # one point was compared again and again
    seen, mean = ComparedPoints(2), points.sum(axis=2)
    seen.learn(points)
    settings = CandidatePoints(uniform=10, good=2, redrawn=2, near=6, crossed=4, along=5)
    found = candidate_points(settings, points, seen, mean, mix(6, np.arange(2)))
    assert found.shape == (2, 2 + 10 + 2 + 6 + 4 + 5, 3)
    assert ((found >= 0) & (found <= 1)).all()
    best = points[0, mean[0].argmax()]
    assert found[0, 0].tolist() == best.tolist()
    assert found[0, 1].tolist() != best.tolist()
    assert (found[0, 12] != best).sum() == 1
    near = found[0, 14:17]
    assert (near != best).any(axis=1).all()
    for crossed in found[0, 20:24]:
        assert all(crossed[k] in points[0, :, k] for k in range(3))


def test_every_setting_asked_about_lies_on_the_steps_of_its_feature() -> None:
    points = np.rint(_compared() * [4, 10]) / [4, 10]
    learner = ForestInBox(n_trees=4, steps=(4, 10)).start(2, mix(9, np.arange(2)))
    learner.learn(points)
    levels = learner.next_pair() * [4, 10]
    assert levels == pytest.approx(np.rint(levels), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_trees", 0),
        ("n_trees", 1.5),
        ("max_depth", -5),
        ("ratio", 0.0),
        ("ratio", np.nan),
        ("candidates", 5),
        ("regrow_every", 0),
        ("challenge_every", 0),
        ("redraw_every", -1),
        ("leaves_from", "some"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of ForestInBox must be"):
        ForestInBox(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"uniform": -1}, "The 'uniform' parameter of CandidatePoints must be"),
        ({"good": 0}, "The 'good' parameter of CandidatePoints must be"),
        ({"near": 2.5}, "The 'near' parameter of CandidatePoints must be"),
        (
            {"uniform": 0, "redrawn": 0, "near": 0, "crossed": 0, "along": 0},
            "a question needs a candidate that was not compared yet",
        ),
        ({"reach": (0.0, 0.1)}, "reach must be two positive numbers, the smaller first"),
        ({"reach": (0.2, 0.1)}, "reach must be two positive numbers, the smaller first"),
        ({"reach": (0.1,)}, "reach must be two positive numbers, the smaller first"),
    ],
)
def test_candidates_that_are_too_few_or_have_no_reach_are_refused(settings: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        CandidatePoints(**settings)


def test_steps_that_do_not_fit_the_box_are_refused() -> None:
    with pytest.raises(ValueError, match="steps must be positive whole numbers"):
        ForestInBox(steps=(0, 1))
    with pytest.raises(ValueError, match="steps are of 2 features, the box has 3"):
        ForestInBox(steps=(5, 1)).start(3, mix(0, np.arange(1)))


def test_of_the_points_never_beaten_the_one_of_greatest_mean_is_recommended() -> None:
    points = _compared(n_pairs=30)
    seen = ComparedPoints(2)
    seen.learn(points)
    learner = ForestInBox(n_trees=8).start(2, mix(10, np.arange(2)))
    learner.learn(points)
    choice, mean = learner.recommend(), np.stack([learner.predict(own)[run] for run, own in enumerate(points)])
    for run in range(2):
        recommended = choice.recommended[run]
        assert seen.unbeaten[run, recommended]
        assert mean[run, recommended] == pytest.approx(mean[run, seen.unbeaten[run]].max())
        assert choice.tied[run, recommended]


def test_where_every_point_was_beaten_all_may_be_recommended() -> None:
    points = np.tile([[0.9], [0.1], [0.1], [0.9]], (1, 1, 1))
    learner = ForestInBox(n_trees=4).start(1, mix(11, np.arange(1)))
    learner.learn(points)
    assert learner.recommend().recommended.tolist() == [0]


@pytest.mark.parametrize("against", ["best", "any"])
def test_questions_compare_the_recommended_point_where_that_is_asked_for(against: str) -> None:
    points = _compared(n_pairs=25)
    model = ForestInBox(n_trees=8, against=against, challenge_every=None, redraw_every=None)  # type: ignore[arg-type]
    learner = model.start(2, mix(12, np.arange(2)))
    learner.learn(points)
    best = points[np.arange(2), learner.recommend().recommended]
    asked = (learner.next_pair() == best[:, None]).all(axis=2).any(axis=1)
    assert asked.all() or against == "any"
