"""The Gaussian process in a box: BoTorch's model, exact gradients, runs that do not touch one another, and replay."""

from __future__ import annotations

from importlib.util import find_spec
from typing import get_args

import numpy as np
import pytest

from models.asking.box.gp import GaussianProcessInBox, GaussianProcessLearner
from models.asking.box.loop import ask_in_box
from models.asking.box.oracle import UtilityOracle
from models.asking.box.pair_climb import best_pairs, qeubo_and_gradient, starting_pairs
from models.asking.qeubo import qeubo
from models.gaussian.stationary import KernelName
from models.numerics.hashing import mix
from models.records.arrays import FloatArray

_PEAK = np.array([0.3, 0.6])


def _nearness(points: FloatArray) -> FloatArray:
    return np.asarray(-np.square(points - _PEAK).sum(axis=1))


def _compared(t: int, n: int, seed: int) -> FloatArray:
    pairs = np.random.default_rng(seed).random((t, n, 2, 2))
    utility = _nearness(pairs.reshape(-1, 2)).reshape(t, n, 2)
    return np.where((utility[..., 0] > utility[..., 1])[..., None, None], pairs, pairs[:, :, ::-1]).reshape(t, -1, 2)


def _learned(settings: GaussianProcessInBox, points: FloatArray) -> GaussianProcessLearner:
    learner = settings.start(points.shape[2], mix(0, np.arange(len(points))))
    learner.learn(points)
    return learner


@pytest.mark.parametrize(
    "settings", [{"kernel": kernel} for kernel in get_args(KernelName)] + [{"curvature": "average"}]
)
def test_a_planted_peak_is_found(settings: dict[str, str]) -> None:
    model = GaussianProcessInBox(**settings, n_candidates=64)  # type: ignore[arg-type]
    course = ask_in_box(model, UtilityOracle(_nearness), 2, [1], n_initial=6, n_questions=12)
    assert np.abs(course.points[0, course.recommended[-1, 0]] - _PEAK).max() < 0.15


@pytest.mark.parametrize("curvature", ["mode", "average"])
def test_a_run_depends_on_its_own_seed_alone(curvature: str) -> None:
    model, oracle = GaussianProcessInBox(curvature=curvature), UtilityOracle(_nearness, noise=0.05)  # type: ignore[arg-type]
    together = ask_in_box(model, oracle, 2, [1, 2, 3], n_initial=6, n_questions=4)
    alone = ask_in_box(model, oracle, 2, [2], n_initial=6, n_questions=4)
    assert alone.points[0] == pytest.approx(together.points[1], abs=1e-9)
    assert not np.allclose(together.points[0], together.points[1])


@pytest.mark.parametrize("every", [{}, {"refit_every": 3, "restart_every": 2}, {"restart_every": 1}])
def test_comparisons_learned_at_once_leave_the_same_belief_as_one_by_one(every: dict[str, int]) -> None:
    points, places = _compared(2, 27, 4), np.random.default_rng(5).random((9, 2))
    at_once = _learned(GaussianProcessInBox(**every), points)  # type: ignore[arg-type]
    by_pair = _learned(GaussianProcessInBox(**every), points[:, :14])  # type: ignore[arg-type]
    for n in range(8, 28):
        by_pair.learn(points[:, : 2 * n])
    assert by_pair.predict(places).tolist() == at_once.predict(places).tolist()
    assert by_pair.next_pair().tolist() == at_once.next_pair().tolist()
    assert by_pair.recommend().recommended.tolist() == at_once.recommend().recommended.tolist()


@pytest.mark.parametrize("kernel", get_args(KernelName))
def test_qeubo_of_two_places_and_its_gradient_are_those_of_the_closed_form(kernel: KernelName) -> None:
    belief = _learned(GaussianProcessInBox(kernel=kernel), _compared(2, 15, 6))._belief
    pairs = np.random.default_rng(7).random((2, 5, 2, 2))
    value, gradient = qeubo_and_gradient(belief, pairs)
    mean, covariance = belief.at(pairs.reshape(2, 10, 2))
    assert value == pytest.approx(qeubo(mean, covariance, np.arange(0, 10, 2), np.arange(1, 10, 2)), abs=1e-6)
    for side in range(2):
        for k in range(2):
            step = np.zeros((2, 2))
            step[side, k] = 1e-6
            rise = qeubo_and_gradient(belief, pairs + step)[0] - qeubo_and_gradient(belief, pairs - step)[0]
            assert gradient[:, :, side, k] == pytest.approx(rise / 2e-6, abs=1e-5)


def test_the_climb_starts_from_the_best_drawn_pair_and_ends_at_a_better_one_in_the_box() -> None:
    belief, lots = _learned(GaussianProcessInBox(), _compared(3, 15, 8))._belief, mix(9, np.arange(3))
    drawn = starting_pairs(belief, lots, 64, 64)
    starts = starting_pairs(belief, lots, 64, 3)
    assert drawn.shape == (3, 64, 2, 2)
    scores = qeubo_and_gradient(belief, drawn)[0]
    assert qeubo_and_gradient(belief, starts)[0].max(axis=1) == pytest.approx(scores.max(axis=1))
    best = best_pairs(belief, lots, 64, 3)
    assert ((best >= 0) & (best <= 1)).all()
    assert (qeubo_and_gradient(belief, best[:, None])[0][:, 0] > scores.max(axis=1)).all()


def test_the_recommended_point_is_the_compared_one_of_greatest_mean() -> None:
    points = _compared(2, 12, 10)
    learner = _learned(GaussianProcessInBox(), points)
    choice = learner.recommend()
    for run in range(2):
        mean = learner.predict(points[run])[run]
        assert choice.recommended[run] == mean.argmax()
        assert choice.tied[run].sum() == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", "linear"),
        ("curvature", "none"),
        ("largest_variance", 1.0),
        ("largest_variance", np.nan),
        ("refit_every", 0),
        ("restart_every", 1.5),
        ("n_candidates", 0),
        ("n_starts", -1),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of GaussianProcessInBox must be"):
        GaussianProcessInBox(**{name: value})  # type: ignore[arg-type]


@pytest.mark.skipif(find_spec("botorch") is None, reason="BoTorch is not installed: pip install -e '.[peers]'")
def test_beliefs_and_evidence_are_those_of_botorch() -> None:
    import torch
    from botorch.models.pairwise_gp import PairwiseGP

    points = _compared(1, 20, 11)
    belief = _learned(GaussianProcessInBox(), points)._belief
    left = np.arange(0, 40, 2)
    peer = PairwiseGP(torch.tensor(points[0]), torch.tensor(np.c_[left, left + 1]))
    peer.covar_module.outputscale = float(belief.variance[0])
    peer.covar_module.base_kernel.lengthscale = torch.tensor(belief.scales)
    peer._update(peer.datapoints)
    peer.eval()
    places = np.random.default_rng(12).random((1, 7, 2))
    with torch.no_grad():
        posterior = peer.posterior(torch.tensor(places[0]))
    mean, covariance = belief.at(places)
    assert mean[0] == pytest.approx(posterior.mean.numpy().ravel(), abs=1e-4)
    assert covariance[0] == pytest.approx(posterior.mvn.covariance_matrix.numpy(), abs=1e-4)
