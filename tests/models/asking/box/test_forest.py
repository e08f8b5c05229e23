"""The forest in a box: it finds planted optima, runs do not touch one another, and beliefs add up."""

from __future__ import annotations

import numpy as np
import pytest

from models.asking.box import forest as box_forest
from models.asking.box.forest import CandidatePoints, ForestInBox
from models.asking.box.loop import ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.benchmarks.functions import benchmark_function
from models.numerics.hashing import mix


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


def test_beliefs_at_compared_points_agree_with_beliefs_at_the_same_places() -> None:
    branin = benchmark_function("branin")
    rng = np.random.default_rng(3)
    pairs = rng.random((2, 20, 2, 2))
    utility = branin(pairs)
    points = np.where((utility[..., 0] > utility[..., 1])[..., None, None], pairs, pairs[:, :, ::-1]).reshape(2, 40, 2)
    weights = rng.poisson(1.0, size=(2, 5, 20))
    growth = box_forest.Growth(max_categories=None, tie_break="random")
    forest = box_forest._grow(points, weights, np.arange(10), growth, 0.25)
    mean, covariance = forest.at(points)
    assert mean == pytest.approx(forest.at_points())
    assert covariance == pytest.approx(np.swapaxes(covariance, 1, 2))
    assert np.linalg.eigvalsh(covariance).min() > -1e-9


def test_candidates_are_as_many_as_asked_for_and_lie_in_the_box() -> None:
    points = np.random.default_rng(5).random((2, 30, 3))
    rngs = [np.random.default_rng(seed) for seed in (6, 7)]
    found = box_forest._candidates(points, points.sum(axis=2), CandidatePoints(uniform=10, best=2, near=3), rngs)
    assert found.shape == (2, 10 + 2 + 6, 3)
    assert ((found >= 0) & (found <= 1)).all()
    best = points[0, points[0].sum(axis=1).argmax()]
    assert found[0, 10].tolist() == best.tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_trees", 0), ("n_trees", 1.5), ("max_depth", -5), ("ratio", 0.0), ("ratio", np.nan), ("candidates", 5)],
)
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of ForestInBox must be"):
        ForestInBox(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"uniform": -1}, "The 'uniform' parameter of CandidatePoints must be"),
        ({"near": 2.5}, "The 'near' parameter of CandidatePoints must be"),
        ({"uniform": 0, "best": 1}, "a question needs two candidates: uniform = 0, best = 1"),
        ({"reach": (0.0, 0.1)}, "reach must be two positive numbers, the smaller first"),
        ({"reach": (0.2, 0.1)}, "reach must be two positive numbers, the smaller first"),
        ({"reach": (0.1,)}, "reach must be two positive numbers, the smaller first"),
    ],
)
def test_candidates_that_are_too_few_or_have_no_reach_are_refused(settings: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        CandidatePoints(**settings)
