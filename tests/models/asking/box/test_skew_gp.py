"""The skew Gaussian process in a box: planted peaks, runs that do not touch, and a state that can be replayed."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from models.asking.box import opponent
from models.asking.box.loop import ask_in_box, check_seeds
from models.asking.box.opponent import OpponentSearch, best_opponent
from models.asking.box.oracle import UtilityOracle
from models.asking.box.skew_gp import Champion, Recommended, SkewGaussianProcessInBox
from models.benchmarks.functions import benchmark_function
from models.gaussian.skew.hallucination import Differences
from models.gaussian.skew.kernels import difference_covariance
from models.gaussian.skew.length_scales import EvidenceName, choose_length_scales
from models.gaussian.stationary import KernelName
from models.numerics.hashing import mix
from models.records.arrays import FloatArray

PEAK = np.array([0.3, 0.8])
SEARCH = OpponentSearch(uniform=64, near=8, climbs=3)


def _nearness(points: FloatArray) -> FloatArray:
    return np.asarray(-((points - PEAK) ** 2).sum(axis=1))


@pytest.mark.parametrize("kernel", get_args(KernelName))
def test_it_finds_a_planted_peak(kernel: KernelName) -> None:
    model = SkewGaussianProcessInBox(kernel=kernel, sweeps=4, search=SEARCH)
    course = ask_in_box(model, UtilityOracle(_nearness), 2, [1, 2, 3], n_initial=8, n_questions=12)
    best = course.points[np.arange(3), course.recommended[-1]]
    assert np.median(np.abs(best - PEAK).max(axis=1)) < 0.15
    assert ((course.points >= 0) & (course.points <= 1)).all()


def test_same_seeds_have_the_same_course_and_a_run_depends_on_its_own_seed_alone() -> None:
    branin, model = (
        UtilityOracle(benchmark_function("branin"), noise=1.0),
        SkewGaussianProcessInBox(sweeps=3, search=SEARCH),
    )
    together, again, alone = (
        ask_in_box(model, branin, 2, seeds, n_initial=8, n_questions=6) for seeds in ([1, 2, 3], [1, 2, 3], [2])
    )
    assert together.points.tolist() == again.points.tolist()
    assert alone.points[0] == pytest.approx(together.points[1], abs=1e-6)
    assert not np.allclose(together.points[0], together.points[1])


def test_comparisons_learnt_one_by_one_or_at_once_leave_the_same_state() -> None:
    model = SkewGaussianProcessInBox(sweeps=4, refit_every=5, search=SEARCH)
    course = ask_in_box(model, UtilityOracle(_nearness), 2, [1, 2], n_initial=6, n_questions=7)
    learner = model.start(2, check_seeds([1, 2]))
    learner.learn(course.points[:, :-2])
    assert learner.recommend().recommended.tolist() == course.recommended[-2].tolist()
    asked = np.sort(learner.next_pair(), axis=1)
    assert asked.tolist() == np.sort(course.points[:, -2:], axis=1).tolist()


@pytest.mark.parametrize("champion", get_args(Champion))
@pytest.mark.parametrize("recommend", get_args(Recommended))
def test_champion_and_recommendation_are_compared_points(champion: Champion, recommend: Recommended) -> None:
    model = SkewGaussianProcessInBox(champion=champion, recommend=recommend, sweeps=3, search=SEARCH)
    course = ask_in_box(model, UtilityOracle(_nearness), 2, [4, 5], n_initial=4, n_questions=4)
    for question in range(4):
        known = 2 * (4 + question)
        before, pair = course.points[:, :known], course.points[:, known : known + 2]
        assert (before[:, :, None] == pair[:, None]).all(axis=3).any(axis=(1, 2)).all()
        assert (course.recommended[question] < known).all()
        assert course.tied[question, np.arange(2), course.recommended[question]].all()
        if recommend == "last_winner" and question:
            assert (course.recommended[question] == known - 2).all()


def test_the_last_winner_is_the_champion_only_if_the_last_pair_was_asked_about_a_known_point() -> None:
    learner = SkewGaussianProcessInBox(sweeps=3, recommend="last_winner").start(1, check_seeds([1]))
    apart = np.array([[[0.9], [0.8], [0.7], [0.6], [0.2], [0.1]]])
    learner.learn(apart)
    assert learner.recommend().recommended.tolist() == [0]
    learner.learn(np.concatenate([apart, [[[0.5], [0.2]]]], axis=1))
    assert learner.recommend().recommended.tolist() == [6]


def test_predictions_order_what_was_compared() -> None:
    course = ask_in_box(
        SkewGaussianProcessInBox(sweeps=10, search=SEARCH),
        UtilityOracle(_nearness),
        2,
        [7],
        n_initial=20,
        n_questions=0,
    )
    learner = SkewGaussianProcessInBox(sweeps=10).start(2, check_seeds([7]))
    learner.learn(course.points)
    told = learner.predict(course.points[0])[0]
    assert (told[::2] > told[1::2]).mean() > 0.9


def test_the_opponent_has_the_greatest_expected_improvement_of_a_fine_grid() -> None:
    rng = np.random.default_rng(0)
    pairs, lengths = rng.random((2, 6, 2, 1)), np.full((2, 1), 0.15)
    covariance, _ = difference_covariance("rbf", pairs, pairs, lengths)
    process = Differences("rbf", pairs, lengths, np.linalg.inv(covariance + 2e-4 * np.eye(6)))
    v, champion = -0.5 * rng.random((2, 6)), pairs[:, 0, 0]
    found = best_opponent(process, v, champion, mix(0, np.arange(2)), OpponentSearch())
    grid = np.linspace(0, 1, 2001)[None, :, None].repeat(2, axis=0)
    draws = np.random.default_rng(1).normal(size=20_000)[:, None]

    def improvement(x: FloatArray) -> FloatArray:
        beliefs, best = process.beliefs(x, v), process.mean(champion[:, None], v)
        gain = beliefs.mean + np.sqrt(beliefs.variance) * draws[..., None] - best
        return np.asarray(np.maximum(gain, 0.0).mean(axis=0))

    best_of_grid = np.concatenate([improvement(part) for part in np.split(grid[:, :2000:20], 10, axis=1)], axis=1)
    assert (improvement(found[:, None])[:, 0] >= 0.999 * best_of_grid.max(axis=1)).all()


def test_a_single_climb_starts_at_the_best_candidate_and_goes_up() -> None:
    rng, search = np.random.default_rng(3), OpponentSearch(uniform=64, near=8, climbs=1)
    pairs, lengths = rng.random((3, 8, 2, 3)), np.full((3, 3), 0.2)
    covariance, _ = difference_covariance("rbf", pairs, pairs, lengths)
    process = Differences("rbf", pairs, lengths, np.linalg.inv(covariance + 2e-4 * np.eye(8)))
    v, champion, lots = -rng.random((3, 8)), pairs[:, 0, 0], mix(4, np.arange(3))
    best, runs = process.mean(champion[:, None], v), np.arange(3)
    found = best_opponent(process, v, champion, lots, search)
    reached, _ = opponent._log_improvement(process, v, best, found[:, None], runs)
    started, _ = opponent._log_improvement(process, v, best, opponent._candidates(champion, lots, search), runs)
    assert (reached[:, 0] > started.max(axis=1)).all()


@pytest.mark.parametrize("evidence", get_args(EvidenceName))
def test_length_scales_tell_the_feature_that_matters(evidence: EvidenceName) -> None:
    pairs = np.random.default_rng(2).random((2, 40, 2, 2))
    utility = np.sin(8.0 * pairs[..., 0])
    pairs = np.where((utility[..., 0] > utility[..., 1])[..., None, None], pairs, pairs[:, :, ::-1])
    lengths = choose_length_scales("rbf", evidence, pairs, 0.01, (0.1, 2.0), np.full((2, 2), 0.5))
    assert (lengths[:, 1] > 2 * lengths[:, 0]).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", "cubic"), ("evidence", "exact"), ("champion", "first"), ("recommend", "best"),
        ("noise", 0.0), ("noise", np.nan),
        ("refit_every", 0), ("sweeps", 0), ("sweeps", 2.5), ("search", 3), ("lengths", 0.3),
    ],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of SkewGaussianProcessInBox must be"):
        SkewGaussianProcessInBox(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("lengths", [(0.0, 0.5), (0.5, 0.1), (0.1,), (0.1, np.inf)])
def test_bounds_of_length_scales_are_two_ordered_positive_numbers(lengths: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="lengths must be two positive numbers, the smaller first"):
        SkewGaussianProcessInBox(lengths=lengths)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"uniform": -1}, "The 'uniform' parameter of OpponentSearch must be"),
        ({"climbs": 0}, "The 'climbs' parameter of OpponentSearch must be"),
        ({"uniform": 2, "near": 3}, "8 climbs need as many points: uniform = 2, near = 3"),
        ({"reach": (0.2, 0.1)}, "reach must be two positive numbers, the smaller first"),
    ],
)
def test_a_search_with_too_few_points_or_no_reach_is_refused(settings: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        OpponentSearch(**settings)
