"""The Laplace approximation: the stationary point, the covariance, far tails, one problem or many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize
from scipy.special import log_ndtr
from scipy.stats import norm

from models.gaussian import laplace
from models.gaussian.laplace import (
    PairCounts,
    condition_on_zero_sum,
    count_pairs,
    laplace_covariance,
    laplace_mode,
    log_normal_cdf,
    negative_log_posterior,
    probit_terms,
)

RATIO = 0.25
FACTOR = 2.0  # 1 / sqrt(RATIO)


def pairs_among(n_values: int, pairs: list[tuple[int, int]]) -> PairCounts:
    both = np.array(pairs)
    return count_pairs(np.zeros(len(both), dtype=int), both[:, 0], both[:, 1], 1, n_values)


def equation_3(f: np.ndarray, pairs: PairCounts, precision: np.ndarray) -> float:
    z = (f[pairs.winner] - f[pairs.loser]) / np.sqrt(2)
    return float(-(pairs.count * norm.logcdf(z)).sum() + 0.5 * f @ precision @ f)


def random_pairs(seed: int, n_values: int, n: int) -> PairCounts:
    rng = np.random.default_rng(seed)
    winner = rng.integers(0, n_values, n)
    loser = (winner + rng.integers(1, n_values, n)) % n_values
    return count_pairs(np.zeros(n, dtype=int), winner, loser, 1, n_values)


def test_one_comparison_of_two_leaves_by_hand() -> None:
    """f = (a, -a) with ratio * a = phi(sqrt 2 a) / Phi(sqrt 2 a) / sqrt 2."""
    f = laplace_mode(pairs_among(2, [(0, 1)]), FACTOR)[0]
    a = brentq(
        lambda x: RATIO * x - np.exp(norm.logpdf(np.sqrt(2) * x) - norm.logcdf(np.sqrt(2) * x)) / np.sqrt(2), 0, 9
    )
    np.testing.assert_allclose(f, [a, -a], atol=1e-10)


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 30))
@settings(max_examples=50, deadline=None)
def test_mode_minimises_equation_3_and_sums_to_zero(seed: int, n_values: int, n: int) -> None:
    pairs = random_pairs(seed, n_values, n)
    f = laplace_mode(pairs, FACTOR)[0]
    precision = RATIO * np.eye(n_values)
    found = minimize(equation_3, np.zeros(n_values), args=(pairs, precision), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(f, found.x, atol=1e-5)
    assert equation_3(f, pairs, precision) <= found.fun + 1e-10
    assert abs(f.sum()) < 1e-8


def test_covariance_is_the_inverse_hessian_of_equation_3() -> None:
    pairs = random_pairs(3, 4, 12)
    f = laplace_mode(pairs, FACTOR)
    covariance = laplace_covariance(pairs, f, FACTOR)[0]
    step, size = 1e-4, 4
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            e, d = step * np.eye(size)[i], step * np.eye(size)[j]
            total = sum(
                sign * equation_3(f[0] + shift, pairs, RATIO * np.eye(size))
                for sign, shift in ((1, e + d), (-1, e - d), (-1, d - e), (1, -e - d))
            )
            hessian[i, j] = total / (4 * step**2)
    np.testing.assert_allclose(np.linalg.inv(covariance), hessian, atol=1e-5)


def test_zero_sum_conditioning_is_eatons_formula() -> None:
    pairs = random_pairs(5, 5, 20)
    posterior = laplace_covariance(pairs, laplace_mode(pairs, FACTOR), FACTOR)[0]
    row_sums = posterior.sum(axis=1)
    general = posterior - np.outer(row_sums, row_sums) / posterior.sum()  # Appendix E before simplification
    conditioned = condition_on_zero_sum(posterior, RATIO)
    np.testing.assert_allclose(conditioned, general, atol=1e-10)
    np.testing.assert_allclose(conditioned.sum(axis=0), 0.0, atol=1e-10)


def test_a_gaussian_process_prior_gives_the_mode_of_equation_3() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1)) + 1e-6 * np.eye(6)
    L = np.linalg.cholesky(K)
    pairs = random_pairs(1, 6, 15)
    f = laplace_mode(pairs, L)[0]
    found = minimize(equation_3, np.zeros(6), args=(pairs, np.linalg.inv(K)), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(f, found.x, atol=1e-4)
    inverse = laplace_covariance(pairs, f[None], L)[0]
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-12)


def test_a_prior_mean_is_where_the_values_stay_without_comparisons_and_near_with_them() -> None:
    nothing = PairCounts(1, 3, *(np.zeros(0, dtype=int),) * 3, np.zeros(0))
    mean = np.array([1.0, 0.0, -2.0])
    np.testing.assert_allclose(laplace_mode(nothing, FACTOR, mean)[0], mean)
    against = laplace_mode(pairs_among(3, [(2, 0)]), FACTOR, mean)[0]
    assert against[2] > -2.0
    assert against[0] < 1.0
    assert against[1] == 0.0


def test_probit_terms_stay_finite_and_right_far_into_the_tail() -> None:
    z = np.array([-1e8, -40.0, -5.0, 0.0, 5.0, 40.0])
    log_phi = log_ndtr(z)
    ratio, weight = probit_terms(z, log_phi)
    assert np.isfinite(log_phi).all()
    assert np.isfinite(ratio).all()
    np.testing.assert_allclose(log_phi[1:4], norm.logcdf(z[1:4]), rtol=1e-10)
    np.testing.assert_allclose(ratio[1], 40.0 + 1 / 40.0, rtol=1e-4)  # Mills' ratio
    assert ((weight >= 0) & (weight <= 1)).all()
    assert weight[1] == pytest.approx(1.0, abs=2e-3)


def test_contradicting_counts_of_any_size_converge() -> None:
    million = PairCounts(1, 2, np.zeros(2, int), np.array([0, 1]), np.array([1, 0]), np.array([1e6, 1.0]))
    f = laplace_mode(million, FACTOR)[0]
    assert norm.cdf((f[0] - f[1]) / np.sqrt(2)) == pytest.approx(1.0, abs=1e-5)
    assert f[0] == pytest.approx(-f[1])


def test_many_problems_at_once_equal_each_alone() -> None:
    rng = np.random.default_rng(2)
    problem, winner = rng.integers(0, 5, 60), rng.integers(0, 4, 60)
    loser = (winner + rng.integers(1, 4, 60)) % 4
    together = laplace_mode(count_pairs(problem, winner, loser, 5, 4), FACTOR)
    for p in range(5):
        mine = problem == p
        alone = laplace_mode(count_pairs(np.zeros(mine.sum(), int), winner[mine], loser[mine], 1, 4), FACTOR)[0]
        np.testing.assert_allclose(together[p], alone, atol=1e-9)


def test_pairs_within_one_leaf_count_nothing() -> None:
    assert len(count_pairs(np.zeros(2, int), np.array([0, 1]), np.array([0, 0]), 1, 2).count) == 1


def test_many_leaves_by_conjugate_gradients_equal_the_dense_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = random_pairs(4, 30, 200)
    dense = laplace_mode(pairs, FACTOR)
    monkeypatch.setattr(laplace, "DENSE_LIMIT", 10)
    np.testing.assert_allclose(laplace_mode(pairs, FACTOR), dense, atol=1e-8)


@pytest.mark.parametrize(
    "z",
    [[-40.0], [-40.0, -41.0], [-40.0, 0.0, 5.0], [5.0, -40.0], [-30.0], [-30.0, -29.9], [-38.5], [-1e8], [0.0, 40.0]],
    ids=str,
)
def test_log_phi_is_exact_alone_in_the_far_tail_and_beside_other_values(z: list[float]) -> None:
    found = log_normal_cdf(np.array(z))
    np.testing.assert_allclose(found, norm.logcdf(z), rtol=1e-12, atol=1e-15)


def test_log_phi_of_nothing_is_nothing() -> None:
    assert log_normal_cdf(np.zeros(0)).shape == (0,)


def test_a_prior_mean_far_from_every_answer_is_overruled_without_a_number_lost() -> None:
    """The only pair starts at z = -85, where Phi is zero as a number: the mode is still that of Eq. 3."""
    mean = np.array([-60.0, 60.0])
    f = laplace_mode(pairs_among(2, [(0, 1)]), FACTOR, mean)[0]
    gap = brentq(
        lambda d: (
            RATIO * (d + 120) / 2 - np.exp(norm.logpdf(d / np.sqrt(2)) - norm.logcdf(d / np.sqrt(2))) / np.sqrt(2)
        ),
        -120,
        0,
    )
    assert f[0] - f[1] == pytest.approx(gap, abs=1e-6)
    assert np.isfinite(laplace_covariance(pairs_among(2, [(0, 1)]), f[None], FACTOR)).all()


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.0])
def test_the_gradient_of_the_leaves_objective_is_its_derivative(factor: float) -> None:
    pairs = random_pairs(7, 4, 15)
    f = np.array([0.3, -0.2, 1.0, -0.7])
    value, gradient = negative_log_posterior(pairs, f, factor)
    assert value == pytest.approx(equation_3(f, pairs, np.eye(4) / factor**2))
    steps = 1e-5 * np.eye(4)
    numerical = [
        (negative_log_posterior(pairs, f + e, factor)[0] - negative_log_posterior(pairs, f - e, factor)[0]) / 2e-5
        for e in steps
    ]
    np.testing.assert_allclose(gradient, numerical, atol=1e-7)


def test_a_count_is_as_many_comparisons_and_counts_add_up() -> None:
    one, other = pairs_among(3, [(0, 1), (0, 1), (2, 1)]), pairs_among(3, [(0, 1), (1, 2), (1, 2)])
    both = pairs_among(3, [(0, 1), (0, 1), (2, 1), (0, 1), (1, 2), (1, 2)])
    total = one + other
    for name in ("problem", "winner", "loser", "count"):
        assert getattr(total, name).tolist() == getattr(both, name).tolist()
    assert both.count.tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize("factor", [0.0, -1.0, np.nan, np.inf])
def test_a_prior_without_a_width_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="factor must be a positive finite number"):
        laplace_mode(pairs_among(2, [(0, 1)]), factor)


def test_a_factor_that_is_no_matrix_of_the_values_is_refused() -> None:
    with pytest.raises(ValueError, match="factor must be a finite matrix of 2 rows, found shape"):
        laplace_mode(pairs_among(2, [(0, 1)]), np.eye(3))
    with pytest.raises(ValueError, match="factor must be a finite matrix of 2 rows"):
        laplace_mode(pairs_among(2, [(0, 1)]), np.full((2, 2), np.nan))
