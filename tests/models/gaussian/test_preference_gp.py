"""The preferential GP: against numerical integration and derivatives, scikit-learn's conventions, and BoTorch."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern

from models.asking.active_learning import Strategy, ask_and_learn
from models.asking.gp_surrogate import GPSurrogate
from models.gaussian.laplace import count_pairs
from models.gaussian.laplace_evidence import fit_laplace
from models.gaussian.preference_gp import PreferenceGP, PreferenceGPs, default_kernel, unit_scaled
from models.numerics.hashing import mix
from models.records.arrays import BoolArray, FloatArray, IntArray


def _problem(n: int = 25, m: int = 8, d: int = 3, seed: int = 0) -> tuple[FloatArray, IntArray]:
    """Items and noisy comparisons by a smooth utility."""
    rng = np.random.default_rng(seed)
    items = rng.random((m, d))
    utility = np.sin(4 * items[:, 0]) + 2 * items[:, 1]
    first = rng.integers(0, m, n)
    second = (first + rng.integers(1, m, n)) % m
    wins = utility[first] + 0.3 * rng.normal(size=n) > utility[second] + 0.3 * rng.normal(size=n)
    return items, np.where(wins[:, None], np.stack([first, second], 1), np.stack([second, first], 1))


@pytest.mark.parametrize("kernel", [default_kernel(3), 2.0 * Matern(0.7, (0.05, 10.0), nu=2.5)], ids=["ard", "matern"])
def test_the_slope_of_the_evidence_is_its_derivative(kernel: Kernel) -> None:
    items, comparisons = _problem()
    pairs = count_pairs(np.zeros(25, dtype=np.int64), comparisons[:, 0], comparisons[:, 1], 1, 8)

    def evidence(theta: FloatArray) -> float:
        matrix = kernel.clone_with_theta(theta)(items)
        return float(fit_laplace(pairs, matrix[None]).log_evidence[0])

    theta = kernel.theta + 0.2
    matrix, slopes = kernel.clone_with_theta(theta)(items, eval_gradient=True)
    found = np.einsum("ij,ijp->p", fit_laplace(pairs, matrix[None]).slope[0], slopes)
    steps = 1e-4 * np.eye(len(theta))
    numerical = [(evidence(theta + step) - evidence(theta - step)) / 2e-4 for step in steps]
    assert_allclose(found, numerical, rtol=1e-4, atol=1e-6)


def test_the_slope_of_the_evidence_holds_entry_by_entry_in_each_of_several_problems() -> None:
    rng = np.random.default_rng(3)
    roots = rng.normal(size=(2, 4, 4))
    kernels = roots @ np.swapaxes(roots, 1, 2) + 0.5 * np.eye(4)
    problem, winner = np.repeat([0, 1], [12, 30]), rng.integers(0, 4, 42)
    pairs = count_pairs(problem, winner, (winner + rng.integers(1, 4, 42)) % 4, 2, 4)
    assert pairs.count.max() > 1
    slope = fit_laplace(pairs, kernels).slope
    for i in range(4):
        for j in range(i + 1):
            step = np.zeros((4, 4))
            step[i, j] = step[j, i] = 1e-5
            numerical = (
                fit_laplace(pairs, kernels + step).log_evidence - fit_laplace(pairs, kernels - step).log_evidence
            ) / 2e-5
            assert_allclose(slope[:, i, j] * (1 if i == j else 2), numerical, rtol=1e-4, atol=1e-6)


def test_the_evidence_is_the_integral_over_the_prior() -> None:
    """Two comparisons of two items, by quadrature over the difference of their utilities."""
    pairs = count_pairs(np.zeros(2, dtype=np.int64), np.array([0, 0]), np.array([1, 1]), 1, 2)
    difference = np.linspace(-12, 12, 4001)
    prior = norm.pdf(difference, scale=np.sqrt(2 * 0.3))
    exact = np.trapezoid(norm.cdf(difference / np.sqrt(2)) ** 2 * prior, difference)
    found = fit_laplace(pairs, 0.3 * np.eye(2)[None])
    assert float(np.exp(found.log_evidence[0])) == pytest.approx(exact, rel=0.02)


def test_a_probability_is_that_of_the_noisy_difference_of_two_uncertain_utilities() -> None:
    items, comparisons = _problem()
    gp = PreferenceGP(optimizer=None).fit(items, comparisons)
    mean, covariance = gp.posterior(items)
    drawn = np.random.default_rng(0).multivariate_normal(mean, covariance, size=200_000)
    simulated = norm.cdf((drawn[:, 0] - drawn[:, 5]) / np.sqrt(2)).mean()
    assert gp.predict_proba(items, [[0, 5]])[0] == pytest.approx(simulated, abs=2e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "The 'kernel' parameter of PreferenceGPs? must be an instance of"),
        (
            {"optimizer": "fmin_l_bfgs_b"},
            "The 'optimizer' parameter of PreferenceGPs? must be a str among {'evidence'}",
        ),
        ({"kernel": RBF(0.0)}, "the kernel's hyperparameters must be positive and finite, found RBF"),
        ({"kernel": RBF(np.nan)}, "the kernel's hyperparameters must be positive and finite"),
        ({"kernel": RBF(np.nan, "fixed")}, "kernel must be finite"),
    ],
)
def test_parameters_that_mean_nothing_are_refused_by_name(parameters: dict, message: str) -> None:
    items, comparisons = _problem()
    with pytest.raises(ValueError, match=message):
        PreferenceGP(**parameters).fit(items, comparisons)
    with pytest.raises(ValueError, match=message):
        PreferenceGPs(**parameters).fit(items, comparisons, [0] * 8)


def test_what_is_not_fitted_predicts_nothing() -> None:
    items, comparisons = _problem()
    for method in ("predict_proba", "decision_function", "accuracies"):
        with pytest.raises(NotFittedError):
            getattr(PreferenceGP(), method)(items, comparisons)
    for method in ("predict", "posterior"):
        with pytest.raises(NotFittedError):
            getattr(PreferenceGP(), method)(items)
    with pytest.raises(NotFittedError):
        PreferenceGPs().predict(items, [0] * 8)


def test_rows_that_are_no_whole_numbers_or_do_not_exist_are_refused() -> None:
    items, comparisons = _problem()
    for gp in (PreferenceGP(), PreferenceGPs()):
        user = () if isinstance(gp, PreferenceGP) else ([0] * 8,)
        with pytest.raises(ValueError, match="comparisons must be integers"):
            gp.fit(items, comparisons + 0.9, *user)
        with pytest.raises(ValueError, match="items must have at least one row"):
            gp.fit(items[:0], comparisons[:0], *(row[:0] for row in user))
    gps = PreferenceGPs(optimizer=None).fit(items, comparisons, [0] * 8)
    with pytest.raises(ValueError, match="user_of_item must be integers"):
        PreferenceGPs().fit(items, comparisons, np.full(8, 0.9))
    with pytest.raises(ValueError, match=r"user_of_item: 8 rows outside 0..0"):
        gps.predict(items, [1] * 8)
    with pytest.raises(ValueError, match=r"user_of_item: 1 rows outside 0..1"):
        PreferenceGPs().fit(items, comparisons, [0] * 7 + [2], n_users=2)
    with pytest.raises(ValueError, match=r"'n_users' parameter of PreferenceGPs.fit must be an int"):
        PreferenceGPs().fit(items, comparisons, [0] * 8, n_users=0)


def test_a_user_without_items_has_the_prior_of_nothing() -> None:
    items, comparisons = _problem()
    gps = PreferenceGPs(optimizer=None).fit(items, comparisons, [0] * 8, n_users=3)
    assert gps.theta_.shape[0] == 3
    assert gps.predict(items, [2] * 8).tolist() == [0.0] * 8


def test_the_evidence_of_one_weak_comparison_is_nearly_exact() -> None:
    # P(a beats b) = E Phi(d / sqrt 2) is one half whatever the prior; Laplace comes close where the prior is narrow.
    pairs = count_pairs(np.zeros(1, dtype=np.int64), np.array([0]), np.array([1]), 1, 2)
    found = fit_laplace(pairs, 0.05 * np.eye(2)[None])
    assert float(np.exp(found.log_evidence[0])) == pytest.approx(0.5, abs=1e-3)


def test_fitted_hyperparameters_are_a_maximum_within_their_bounds() -> None:
    items, comparisons = _problem(40, 12)
    gp = PreferenceGP().fit(items, comparisons)
    low, high = gp.kernel_.bounds.T
    assert (gp.theta_[0] >= low).all()
    assert (gp.theta_[0] <= high).all()
    for step in 0.05 * np.vstack([np.eye(4), -np.eye(4)]):
        theta = np.clip(gp.theta_[0] + step, low, high)
        other = PreferenceGP(gp.kernel_.clone_with_theta(theta), optimizer=None).fit(items, comparisons)
        assert other.log_evidence_ <= gp.log_evidence_ + 1e-3


def test_each_users_process_is_the_one_fitted_alone() -> None:
    problems = [_problem(12, 6, seed=1), _problem(20, 9, seed=2), _problem(5, 4, seed=3)]
    offsets = np.cumsum([0, 6, 9])
    items = np.vstack([items for items, _ in problems])
    comparisons = np.vstack([pairs + offset for (_, pairs), offset in zip(problems, offsets, strict=True)])
    user = np.repeat([0, 1, 2], [6, 9, 4])
    together = PreferenceGPs().fit(items, comparisons, user)
    utility = together.predict(items, user)
    for t, (own, pairs) in enumerate(problems):
        alone = PreferenceGP().fit(own, pairs)
        assert together.log_evidence_[t] == pytest.approx(alone.log_evidence_, abs=1e-6)
        assert_allclose(utility[user == t], alone.predict(own), atol=1e-3)


def test_users_who_share_items_share_a_kernel_matrix_and_nothing_else() -> None:
    items, _ = _problem()
    rng = np.random.default_rng(4)
    counted = 0

    class Counting(RBF):  # type: ignore[misc]
        def __call__(self, *arguments: object, **options: object) -> object:
            nonlocal counted
            counted += 1
            return super().__call__(*arguments, **options)

    pairs = rng.permuted(np.tile(np.arange(8), (50, 1)), axis=1)[:, :2] + 8 * np.arange(50)[:, None]
    everyone = np.tile(items, (50, 1))
    gps = PreferenceGPs(Counting(0.5), optimizer=None).fit(everyone, pairs, np.repeat(np.arange(50), 8))
    assert counted == 1
    assert len(np.unique(gps.mean_.round(6), axis=0)) > 20


def test_equal_items_are_one_and_near_duplicates_stay_finite() -> None:
    items = np.array([[0.1], [0.1], [0.1 + 1e-12], [0.9]])
    gp = PreferenceGP().fit(items, np.array([[0, 1], [1, 3], [2, 3], [0, 3]]))
    utility = gp.predict(items)
    assert utility[0] == utility[1]
    assert np.isfinite(utility).all()
    assert utility[0] > utility[3]


def test_swapping_every_pair_flips_the_utilities() -> None:
    items, comparisons = _problem()
    one, other = PreferenceGP().fit(items, comparisons), PreferenceGP().fit(items, comparisons[:, ::-1])
    assert_allclose(one.predict(items), -other.predict(items), atol=1e-3)


def test_the_posterior_at_the_items_is_the_fitted_one() -> None:
    items, comparisons = _problem()
    mean, covariance = PreferenceGP(optimizer=None).fit(items, comparisons).posterior(items)
    pairs = count_pairs(np.zeros(25, dtype=np.int64), comparisons[:, 0], comparisons[:, 1], 1, 8)
    fitted = fit_laplace(pairs, default_kernel(3)(items)[None])
    assert_allclose(mean, fitted.mode[0], atol=1e-5)
    assert_allclose(covariance, fitted.covariance[0], atol=1e-5)


def test_far_from_any_item_the_prior_comes_back() -> None:
    items, comparisons = _problem()
    gp = PreferenceGP(ConstantKernel(3.0, "fixed") * RBF(0.2, "fixed")).fit(items, comparisons)
    mean, covariance = gp.posterior([[50.0, 50.0, 50.0]])
    assert mean == pytest.approx([0.0])
    assert covariance == pytest.approx(3.0)
    assert gp.predict_proba([[50.0] * 3, [-50.0] * 3], [[0, 1]]) == pytest.approx([0.5])


def test_it_is_an_estimator_and_predicts_what_it_learnt() -> None:
    items, comparisons = _problem(60, 12)
    gp = clone(PreferenceGP(default_kernel(3))).fit(items, comparisons)
    assert gp.accuracies(items, comparisons).accuracy[0] > 0.8
    probability = gp.predict_proba(items, comparisons)
    assert_allclose(probability + gp.predict_proba(items, comparisons[:, ::-1]), 1.0)


def test_missing_values_and_pairs_across_users_are_refused() -> None:
    items, comparisons = _problem()
    with pytest.raises(ValueError, match="items hold 1 missing values; a kernel needs every value"):
        PreferenceGP().fit(np.where(np.arange(24).reshape(8, 3) == 5, np.nan, items), comparisons)
    with pytest.raises(ValueError, match="1 comparisons join items of two users, the first is row 0"):
        PreferenceGPs().fit(items, np.array([[0, 7]]), [0] * 4 + [1] * 4)
    with pytest.raises(ValueError, match=r"user_of_item must be integers \(8,\), found int64 \(2,\)"):
        PreferenceGPs().fit(items, comparisons, [0, 1])


def test_columns_are_scaled_to_the_unit_interval() -> None:
    assert unit_scaled([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]]).tolist() == [[0, 0], [1, 0], [0.5, 0]]


def test_asking_with_a_gp_finds_the_favourite() -> None:
    rng = np.random.default_rng(5)
    items = np.tile(rng.random((10, 2)), (40, 1, 1))
    utility = np.einsum("tmd,td->tm", items, rng.normal(size=(40, 2)))

    def oracle(pairs: IntArray) -> BoolArray:
        told = np.take_along_axis(utility, pairs, axis=1)
        return np.asarray(told[:, 0] > told[:, 1])

    strategy = Strategy(repeats=False)
    course = ask_and_learn(GPSurrogate(items), oracle, mix(1, np.arange(40)), n_questions=9, strategy=strategy)
    assert (course.recommended[9] == utility.argmax(axis=1)).mean() > 0.7


def test_the_posterior_is_that_of_botorch() -> None:
    torch = pytest.importorskip("torch", reason="the peers extra is not installed")
    pairwise_gp = pytest.importorskip("botorch.models.pairwise_gp", reason="the peers extra is not installed")
    gpytorch = pytest.importorskip("gpytorch")
    items, comparisons = _problem(30, 10)
    kernel = ConstantKernel(2.0, "fixed") * RBF(0.4, "fixed")
    ours, our_covariance = PreferenceGP(kernel).fit(items, comparisons).posterior(items)
    covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
    covariance.outputscale, covariance.base_kernel.lengthscale = 2.0, 0.4
    theirs = pairwise_gp.PairwiseGP(
        torch.tensor(items), torch.tensor(comparisons), covar_module=covariance, jitter=1e-8
    ).eval()
    with torch.no_grad():
        posterior = theirs.posterior(torch.tensor(items))
    # Theirs is centred elsewhere: only differences of utilities can be compared.
    mean = posterior.mean.numpy().ravel()
    assert_allclose(mean - mean[0], ours - ours[0], atol=1e-3)
    spread = posterior.covariance_matrix.numpy()
    assert_allclose(_differences(spread), _differences(our_covariance), atol=2e-3)


def _differences(covariance: FloatArray) -> FloatArray:
    """Variances of all differences of two utilities."""
    variance = np.diag(covariance)
    return np.asarray(variance[:, None] + variance - 2 * covariance)


def test_threads_that_predict_at_the_same_time_do_not_disturb_each_other() -> None:
    rng = np.random.default_rng(0)
    items, users = rng.random((60, 3)), np.repeat([0, 1], 30)
    pairs = np.arange(60).reshape(-1, 2)
    gps = PreferenceGPs().fit(items, pairs, users)
    assert not np.allclose(gps.theta_[0], gps.theta_[1])
    asked = [np.full(60, user) for user in (0, 1)] * 20
    expected = [gps.predict(items, user).tolist() for user in asked]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            found = [each.tolist() for each in threads.map(lambda user: gps.predict(items, user), asked)]
    finally:
        sys.setswitchinterval(interval)
    assert found == expected
