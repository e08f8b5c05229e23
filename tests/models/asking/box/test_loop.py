"""The loop over a box and who answers: settings, seeds, noise, and answers that do not depend on other runs."""

from __future__ import annotations

import numpy as np
import pytest

from models.asking.box.forest import ForestInBox
from models.asking.box.loop import BoxModel, ask_in_box, check_seeds, initial_pairs
from models.asking.box.oracle import Utility, UtilityOracle
from models.asking.box.tree import TreeInBox
from models.numerics.hashing import mix
from models.records.arrays import FloatArray

MODELS = [TreeInBox(), ForestInBox(n_trees=3)]


def _nearness(points: FloatArray) -> FloatArray:
    return np.asarray(-np.abs(points[:, 0] - 0.3))


@pytest.mark.parametrize("model", MODELS)
def test_seeds_may_be_a_list_or_negative_but_neither_fractions_nor_none(model: BoxModel) -> None:
    course = ask_in_box(model, UtilityOracle(_nearness), 1, [-1, 2], n_initial=2, n_questions=1)
    again = ask_in_box(model, UtilityOracle(_nearness), 1, np.array([-1, 2]), n_initial=2, n_questions=1)
    assert course.points.tolist() == again.points.tolist()
    for seeds in ([0.5], 5, []):
        with pytest.raises(ValueError, match="seeds must"):
            ask_in_box(model, UtilityOracle(_nearness), 1, seeds, n_initial=2, n_questions=1)


@pytest.mark.parametrize("model", MODELS)
def test_noisy_answers_of_a_run_do_not_depend_on_the_others(model: BoxModel) -> None:
    oracle = UtilityOracle(_nearness, noise=0.3)
    together = ask_in_box(model, oracle, 2, [1, 2, 3], n_initial=4, n_questions=6)
    alone = ask_in_box(model, oracle, 2, [2], n_initial=4, n_questions=6)
    assert alone.points[0] == pytest.approx(together.points[1], abs=1e-9)
    utility = _nearness(together.points.reshape(-1, 2)).reshape(3, -1, 2)
    assert 0 < (utility[..., 0] < utility[..., 1]).mean() < 0.5


def test_noise_answers_as_often_rightly_as_the_probit_says() -> None:
    pairs = np.tile([[0.3], [0.5]], (1, 20_000, 1, 1))
    right = UtilityOracle(_nearness, noise=0.2)(pairs, mix(0, np.arange(20_000))[None]).mean()
    assert right == pytest.approx(0.7602, abs=0.01)  # Phi(0.2 / (sqrt(2) 0.2)) = Phi(0.7071)


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf])
def test_noise_must_be_a_standard_deviation(noise: float) -> None:
    with pytest.raises(ValueError, match="noise must be a standard deviation"):
        UtilityOracle(_nearness, noise=noise)


@pytest.mark.parametrize(
    ("utility", "found"), [(lambda x: x, r"shape \(4, 1\)"), (lambda x: x[:, 0] * np.nan, "4 NaN")]
)
def test_utilities_of_another_shape_or_nan_are_refused(utility: Utility, found: str) -> None:
    with pytest.raises(ValueError, match=f"utility must give a number for each of 4 points, .*{found}"):
        ask_in_box(TreeInBox(), UtilityOracle(utility), 1, [1], n_initial=2, n_questions=1)


@pytest.mark.parametrize(("name", "value"), [("n_features", 0), ("n_initial", 0), ("n_questions", -1)])
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: int) -> None:
    settings = {"n_features": 1, "n_initial": 2, "n_questions": 1} | {name: value}
    with pytest.raises(ValueError, match=f"The '{name}' parameter of ask_in_box must be"):
        ask_in_box(TreeInBox(), UtilityOracle(_nearness), seeds=[1], **settings)


def test_the_initial_points_are_a_latin_hypercube() -> None:
    for run in initial_pairs(3, check_seeds([1, 2]), 6):
        assert (np.sort((run.reshape(12, 3) * 12).astype(int), axis=0) == np.arange(12)[:, None]).all()
