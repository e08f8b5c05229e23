"""The Laplace approximation in the space of differences is the one among points, and stands singular kernels."""

from __future__ import annotations

import numpy as np
import pytest

from models.gaussian.difference_laplace import DifferenceFit, average_curvature, fit_differences
from models.gaussian.laplace import count_pairs
from models.gaussian.laplace_evidence import JITTER, fit_laplace
from models.gaussian.stationary import correlations, squared_distances
from models.records.arrays import FloatArray


def _signs(n: int) -> FloatArray:
    """A: the difference of rows 2i and 2i + 1 for each comparison i, (n, 2n)."""
    A = np.zeros((n, 2 * n))
    A[np.arange(n), 2 * np.arange(n)], A[np.arange(n), 2 * np.arange(n) + 1] = 1.0, -1.0
    return A


def _kernel(variance: float, points: FloatArray) -> FloatArray:
    scales = np.full((len(points), points.shape[2]), 0.4)
    return variance * correlations("rbf", squared_distances(points, points, scales))


@pytest.mark.parametrize(("n", "variance"), [(1, 4.0), (7, 0.5), (25, 10.0), (40, 1000.0)])
def test_mode_covariance_evidence_and_slope_are_those_of_the_approximation_among_points(
    n: int, variance: float
) -> None:
    t = 3
    K = _kernel(variance, np.random.default_rng(n).random((t, 2 * n, 2)))
    winner = np.tile(2 * np.arange(n), t)
    among_points = fit_laplace(count_pairs(np.repeat(np.arange(t), n), winner, winner + 1, t, 2 * n), K)
    A, jitter = _signs(n), JITTER * variance * np.eye(2 * n)
    C = A @ (K + jitter) @ A.T
    fit = fit_differences(C)
    assert fit.log_evidence == pytest.approx(among_points.log_evidence, abs=1e-8)
    assert fit.mode == pytest.approx(among_points.mode @ A.T, abs=1e-8)
    assert fit.pull @ A == pytest.approx(among_points.pull, abs=1e-8)
    assert A.T @ fit.reduction @ A == pytest.approx(among_points.reduction, abs=1e-8)
    assert A.T @ fit.slope @ A == pytest.approx(among_points.slope, abs=1e-8)
    posterior = C - C @ fit.reduction @ C
    assert posterior == pytest.approx(A @ among_points.covariance @ A.T, rel=1e-8, abs=1e-7)


def test_the_slope_is_the_derivative_of_the_evidence() -> None:
    rng = np.random.default_rng(1)
    C = _signs(9) @ _kernel(20.0, rng.random((1, 18, 2))) @ _signs(9).T
    change = rng.normal(size=(9, 9))
    change = 1e-5 * (change + change.T)
    rise = (fit_differences(C + change).log_evidence - fit_differences(C - change).log_evidence)[0]
    assert rise == pytest.approx(2.0 * (fit_differences(C).slope[0] * change).sum(), rel=1e-6)


def test_comparisons_of_the_same_points_again_and_again_need_no_jitter() -> None:
    points = np.tile([[0.2, 0.2], [0.8, 0.8]], (1, 30, 1))
    fit = fit_differences(_signs(30) @ _kernel(1e4, points) @ _signs(30).T)
    assert np.isfinite(fit.log_evidence).all()
    assert fit.mode == pytest.approx(fit.mode[:, :1].repeat(30, axis=1))


def test_contradictions_and_enormous_variances_stay_finite() -> None:
    C = np.array([[[1e6, -1e6], [-1e6, 1e6]], [[1e6, 1e6], [1e6, 1e6]]])
    fit = fit_differences(C)
    for part in vars(fit).values():
        assert np.isfinite(part).all()
    assert fit.mode[0] == pytest.approx(0.0, abs=1e-8)
    assert (fit.mode[1] > 5).all()


def test_a_problem_does_not_depend_on_the_others_nor_on_where_it_starts() -> None:
    rng = np.random.default_rng(2)
    C = _signs(12) @ _kernel(50.0, rng.random((4, 24, 3))) @ _signs(12).T
    together = fit_differences(C)
    alone = fit_differences(C[2:3])
    for name, part in vars(alone).items():
        assert getattr(together, name)[2].tolist() == part[0].tolist()
    elsewhere = fit_differences(C, rng.normal(size=(4, 12)))
    assert elsewhere.log_evidence == pytest.approx(together.log_evidence, abs=1e-9)


@pytest.mark.parametrize("covariance", [np.ones((2, 2)), np.ones((1, 2, 3)), np.full((1, 1, 1), np.nan)])
def test_covariances_of_another_shape_or_not_finite_are_refused(covariance: FloatArray) -> None:
    with pytest.raises(ValueError, match="covariance must be finite and"):
        fit_differences(covariance)


def _posterior(C: FloatArray, reduction: FloatArray) -> FloatArray:
    return np.asarray(np.diagonal(C - C @ reduction @ C, axis1=1, axis2=2))


def _won_by_far() -> tuple[FloatArray, DifferenceFit]:
    pairs = np.random.default_rng(3).random((2, 15, 2, 2))
    pairs = np.take_along_axis(pairs, pairs[..., :1].argsort(axis=2), axis=2)  # the point further left wins
    C = _signs(15) @ _kernel(100.0, pairs.reshape(2, 30, 2)) @ _signs(15).T
    return C, fit_differences(C)


def test_the_average_curvature_follows_from_the_variance_that_follows_from_it() -> None:
    C, fit = _won_by_far()
    averaged = average_curvature(C, fit.mode, fit.reduction)
    again = average_curvature(C, fit.mode, averaged)
    assert _posterior(C, again) == pytest.approx(_posterior(C, averaged), rel=0.15)


def test_an_answer_excludes_the_other_side_once_its_curvature_is_averaged() -> None:
    C, fit = _won_by_far()
    far = fit.mode > 6.0
    assert far.any()
    at_mode, averaged = (
        (fit.mode / np.sqrt(_posterior(C, R)))[far]
        for R in (fit.reduction, average_curvature(C, fit.mode, fit.reduction))
    )
    assert (averaged > 1.1 * at_mode).all()
    assert averaged.min() > 1.5
