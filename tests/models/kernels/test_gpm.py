"""GPM and UPM: agreement with one row per match, symmetry, invariance, what each can and cannot learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from models.kernels import logistic_newton
from models.kernels.gpm import CGPM, GPM, UPM
from tests.models.strategies import PairwiseData, pairwise_data

MODELS = [GPM, UPM]
EXACT = {"penalty": 0.01, "tolerance": 1e-10}
BETWEEN_FITS = 2 * EXACT["tolerance"] / EXACT["penalty"]
"""How far two such fits of one problem may lie apart. The objective is penalty-strongly convex, so a fit that stops at
|gradient| <= tolerance |gradient at zero| lies within tolerance |gradient at zero| / penalty of the minimum. The
gradient at zero has a norm of at most sqrt(2) / 2, and a preference moves by at most sqrt(2) times the coefficients."""


def some_matches(seed: int = 0, n_items: int = 12, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n_items, 2))
    winners = rng.integers(n_items, size=n)
    return items, np.stack([winners, (winners + rng.integers(1, n_items, size=n)) % n_items], axis=1)


def all_pairs(n_items: int) -> np.ndarray:
    return np.stack(np.triu_indices(n_items, 1), axis=1)


def kernel_of_matches(model: GPM | UPM, K: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The kernel between matches, one row per match: k_E of pref-shap section 2.1, plus the kernel of a utility."""
    l1, r1, l2, r2 = left[:, 0], left[:, 1], right[:, 0], right[:, 1]
    if isinstance(model, GPM):
        return K[np.ix_(l1, l2)] * K[np.ix_(r1, r2)] - K[np.ix_(l1, r2)] * K[np.ix_(r1, l2)]
    return K[np.ix_(l1, l2)] + K[np.ix_(r1, r2)] - K[np.ix_(l1, r2)] - K[np.ix_(r1, l2)]


@pytest.mark.parametrize("kind", MODELS)
def test_it_is_kernel_logistic_regression_with_a_row_a_match(kind: type[GPM | UPM]):
    items, comparisons = some_matches()
    model = kind(**EXACT).fit(items, comparisons)
    K = model.kernel_(items, items)
    gram = kernel_of_matches(model, K, comparisons, comparisons)

    def objective(alpha: np.ndarray) -> tuple[float, np.ndarray]:
        z = gram @ alpha
        slope = gram @ (-expit(-z) / len(z) + model.penalty * alpha)
        return float(np.logaddexp(0, -z).mean() + 0.5 * model.penalty * alpha @ z), slope

    alpha = minimize(objective, np.zeros(len(gram)), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    pairs = all_pairs(len(items))
    expected = kernel_of_matches(model, K, pairs, comparisons) @ alpha
    assert model.decision_function(items, pairs) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", [*MODELS, CGPM])
def test_few_pairs_are_solved_directly_and_as_conjugate_gradients_do(
    kind: type[GPM | UPM | CGPM], monkeypatch: pytest.MonkeyPatch
):
    items, comparisons = some_matches()
    where = np.arange(len(comparisons)) % 3
    contexts = (np.array([[0.0], [1.0], [3.0]]), where) if kind is CGPM else ()
    utility = {} if kind is UPM else {"utility": 2.0}
    directly = kind(**EXACT, **utility).fit(items, comparisons, *contexts)
    monkeypatch.setattr(logistic_newton, "FEW", 0)
    by_products = kind(**EXACT, **utility).fit(items, comparisons, *contexts)
    assert directly.n_products_ < by_products.n_products_
    assert directly.gradient_ < 1e-10
    assert directly.dual_ == pytest.approx(by_products.dual_, abs=BETWEEN_FITS)


@pytest.mark.parametrize("kind", MODELS)
@given(data=pairwise_data())
@settings(max_examples=30)
def test_swapping_a_pair_flips_the_sign_and_nothing_else(kind: type[GPM | UPM], data: PairwiseData):
    if not len(data.comparisons):
        return
    model = kind(data.columns, **EXACT).fit(data.items, data.comparisons)
    pairs = all_pairs(len(data.items))
    forward, back = (model.decision_function(data.items, both) for both in (pairs, pairs[:, ::-1]))
    assert forward == pytest.approx(-back)
    assert model.predict_proba(data.items, pairs) == pytest.approx(expit(forward))


@pytest.mark.parametrize("kind", MODELS)
@given(data=pairwise_data(), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_neither_the_order_of_rows_nor_of_items_matters(kind: type[GPM | UPM], data: PairwiseData, seed: int):
    if not len(data.comparisons):
        return
    rng = np.random.default_rng(seed)
    model = kind(data.columns, **EXACT).fit(data.items, data.comparisons)
    place = rng.permutation(len(data.items))
    moved_items = np.empty_like(data.items)
    moved_items[place] = data.items
    moved = kind(data.columns, **EXACT).fit(moved_items, rng.permutation(place[data.comparisons]))
    pairs = all_pairs(len(data.items))
    assert moved.decision_function(moved_items, place[pairs]) == pytest.approx(
        model.decision_function(data.items, pairs), abs=BETWEEN_FITS
    )


@pytest.mark.parametrize("kind", MODELS)
def test_mirrored_comparisons_mirror_the_preference(kind: type[GPM | UPM]):
    items, comparisons = some_matches()
    pairs = all_pairs(len(items))
    forward = kind(**EXACT).fit(items, comparisons).decision_function(items, pairs)
    back = kind(**EXACT).fit(items, comparisons[:, ::-1]).decision_function(items, pairs)
    assert forward == pytest.approx(-back, abs=BETWEEN_FITS)


@pytest.mark.parametrize("kind", MODELS)
def test_outcomes_that_cancel_teach_nothing(kind: type[GPM | UPM]):
    items, comparisons = some_matches()
    model = kind(**EXACT).fit(items, np.vstack([comparisons, comparisons[:, ::-1]]))
    assert model.decision_function(items, all_pairs(len(items))) == pytest.approx(0.0, abs=BETWEEN_FITS)


@pytest.mark.parametrize("kind", MODELS)
def test_repeating_all_matches_changes_nothing(kind: type[GPM | UPM]):
    items, comparisons = some_matches()
    pairs = all_pairs(len(items))
    once, twice = (
        kind(**EXACT).fit(items, np.vstack([comparisons] * times)).decision_function(items, pairs) for times in (1, 2)
    )
    assert once == pytest.approx(twice, abs=BETWEEN_FITS)


def rings(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Items on a circle; each beats those less than half a turn ahead of it: no utility says so."""
    angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    pairs = all_pairs(n)
    ahead = (angle[pairs[:, 1]] - angle[pairs[:, 0]]) % (2 * np.pi) < np.pi
    return np.stack([np.cos(angle), np.sin(angle)], 1), np.where(ahead[:, None], pairs, pairs[:, ::-1])


def test_a_cycle_is_learned_by_the_general_model_and_by_no_utility():
    items, comparisons = rings(60)
    test = np.random.default_rng(1).random(len(comparisons)) < 0.3
    right = [
        (kind(penalty=1e-4).fit(items, comparisons[~test]).decision_function(items, comparisons[test]) > 0).mean()
        for kind in MODELS
    ]
    assert right[0] > 0.95
    assert right[1] < 0.65


@pytest.mark.parametrize("kind", MODELS)
def test_landmarks_enough_for_the_kernel_give_the_exact_model(kind: type[GPM | UPM]):
    items, comparisons = some_matches(n_items=20, n=150)
    items = np.vstack([items, items])  # items may coincide
    comparisons[::2] += 20
    pairs = all_pairs(len(items))
    exact, low, lower = (
        kind(rank=rank, **EXACT).fit(items, comparisons).decision_function(items, pairs) for rank in (None, 40, 4)
    )
    assert low == pytest.approx(exact, abs=2e-4)
    assert lower != pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("kind", MODELS)
def test_items_that_coincide_are_one(kind: type[GPM | UPM]):
    items, comparisons = some_matches(n_items=6)
    doubled = comparisons.copy()
    doubled[1::2] += 6
    pairs = all_pairs(6)
    one = kind(lengthscales=1.0, **EXACT).fit(items, comparisons)
    two = kind(lengthscales=1.0, **EXACT).fit(np.vstack([items, items]), doubled)
    assert two.decision_function(items, pairs) == pytest.approx(one.decision_function(items, pairs), abs=BETWEEN_FITS)


def test_the_preference_is_the_dual_form_of_the_kernel():
    items, comparisons = some_matches()
    model = GPM(**EXACT).fit(items, comparisons)
    k = model.kernel_(items, model.items_)
    g = k @ model.dual_ @ k.T
    pairs = all_pairs(len(items))
    assert np.array_equal(model.dual_, -model.dual_.T)
    assert model.decision_function(items, pairs) == pytest.approx(g[pairs[:, 0], pairs[:, 1]])


def test_the_utility_is_the_dual_form_of_the_kernel():
    items, comparisons = some_matches()
    model = UPM(**EXACT).fit(items, comparisons)
    pairs = all_pairs(len(items))
    f = model.predict(items)
    assert f == pytest.approx(model.kernel_(items, model.items_) @ model.dual_)
    assert model.decision_function(items, pairs) == pytest.approx(f[pairs[:, 0]] - f[pairs[:, 1]])


@pytest.mark.parametrize("kind", MODELS)
def test_no_comparisons_are_refused(kind: type[GPM | UPM]):
    with pytest.raises(ValueError, match="no comparisons to learn from"):
        kind().fit(np.zeros((2, 1)), np.zeros((0, 2), dtype=int))


def test_with_one_context_the_contextual_model_is_the_general_one():
    items, comparisons = some_matches()
    pairs = all_pairs(len(items))
    plain = GPM(**EXACT).fit(items, comparisons)
    model = CGPM(**EXACT).fit(items, comparisons, [[3.0], [3.0]], np.arange(len(comparisons)) % 2)
    found = model.decision_function(items, pairs, [[3.0]], np.zeros(len(pairs), dtype=int))
    assert model.contexts_.shape == (1, 1)
    assert found == pytest.approx(plain.decision_function(items, pairs), abs=BETWEEN_FITS)


@pytest.mark.parametrize("rank", [None, 12])
def test_it_is_kernel_logistic_regression_with_a_row_a_match_and_its_context(rank: int | None):
    items, comparisons = some_matches()
    rng = np.random.default_rng(2)
    contexts = np.array([[0.0, 1.0], [1.0, 2.0], [1.0, np.nan]])
    context = rng.integers(3, size=len(comparisons))
    model = CGPM(rank=rank, **EXACT).fit(items, comparisons, contexts, context)
    K, K_U = model.kernel_(items, items), model.context_kernel_(contexts, contexts)
    gram = kernel_of_matches(GPM(), K, comparisons, comparisons) * K_U[np.ix_(context, context)]

    def objective(alpha: np.ndarray) -> tuple[float, np.ndarray]:
        z = gram @ alpha
        slope = gram @ (-expit(-z) / len(z) + model.penalty * alpha)
        return float(np.logaddexp(0, -z).mean() + 0.5 * model.penalty * alpha @ z), slope

    alpha = minimize(objective, np.zeros(len(gram)), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    pairs = all_pairs(len(items))
    for at in range(3):
        here = np.full(len(pairs), at)
        expected = kernel_of_matches(GPM(), K, pairs, comparisons) * K_U[at, context] @ alpha
        assert model.decision_function(items, pairs, contexts, here) == pytest.approx(expected, abs=1e-4)


def test_the_context_turns_a_preference_round():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(40, 1))
    pairs = np.repeat(all_pairs(40), 2, axis=0)
    context = np.arange(len(pairs)) % 2
    first_wins = (items[pairs[:, 0], 0] > items[pairs[:, 1], 0]) ^ (context == 1)
    comparisons = np.where(first_wins[:, None], pairs, pairs[:, ::-1])
    test = rng.random(len(pairs)) < 0.3
    contexts = [[0.0], [1.0]]
    plain = GPM().fit(items, comparisons[~test])
    model = CGPM(context_lengthscales=0.3).fit(items, comparisons[~test], contexts, context[~test])
    assert abs((plain.decision_function(items, comparisons[test]) > 0).mean() - 0.5) < 0.1
    assert (model.decision_function(items, comparisons[test], contexts, context[test]) > 0).mean() > 0.97
    assert model.context_shares_ == pytest.approx([0.5, 0.5], abs=0.05)


@pytest.mark.parametrize("rank", [None, 12])
def test_a_utility_of_its_own_adds_the_kernel_of_the_utility_model(rank: int | None):
    items, comparisons = some_matches()
    model = GPM(utility=0.7, rank=rank, **EXACT).fit(items, comparisons)
    K = model.kernel_(items, items)

    def kernel(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return kernel_of_matches(GPM(), K, left, right) + 0.7 * kernel_of_matches(UPM(), K, left, right)

    gram = kernel(comparisons, comparisons)

    def objective(alpha: np.ndarray) -> tuple[float, np.ndarray]:
        z = gram @ alpha
        slope = gram @ (-expit(-z) / len(z) + model.penalty * alpha)
        return float(np.logaddexp(0, -z).mean() + 0.5 * model.penalty * alpha @ z), slope

    alpha = minimize(objective, np.zeros(len(gram)), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    pairs = all_pairs(len(items))
    expected = kernel(pairs, comparisons) @ alpha
    assert model.decision_function(items, pairs) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("rank", [None, 12])
def test_each_context_has_the_utility_that_the_weight_adds_to_its_kernel(rank: int | None):
    items, comparisons = some_matches()
    contexts, context = np.array([[0.0], [1.0], [3.0]]), np.arange(len(comparisons)) % 3
    model = CGPM(utility=0.7, rank=rank, **EXACT).fit(items, comparisons, contexts, context)
    K, K_U = model.kernel_(items, items), model.context_kernel_(contexts, contexts)

    def kernel(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return kernel_of_matches(GPM(), K, left, right) + 0.7 * kernel_of_matches(UPM(), K, left, right)

    gram = kernel(comparisons, comparisons) * K_U[np.ix_(context, context)]

    def objective(alpha: np.ndarray) -> tuple[float, np.ndarray]:
        z = gram @ alpha
        slope = gram @ (-expit(-z) / len(z) + model.penalty * alpha)
        return float(np.logaddexp(0, -z).mean() + 0.5 * model.penalty * alpha @ z), slope

    alpha = minimize(objective, np.zeros(len(gram)), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    pairs = all_pairs(len(items))
    for at in range(3):
        expected = kernel(pairs, comparisons) * K_U[at, context] @ alpha
        found = model.decision_function(items, pairs, contexts, np.full(len(pairs), at))
        assert found == pytest.approx(expected, abs=1e-4)


def test_with_one_context_the_utilities_agree():
    items, comparisons = some_matches()
    pairs = all_pairs(len(items))
    plain = GPM(utility=0.7, **EXACT).fit(items, comparisons)
    model = CGPM(utility=0.7, **EXACT).fit(items, comparisons, [[3.0]], np.zeros(len(comparisons), dtype=int))
    assert model.utility_in([[3.0]])[0] == pytest.approx(plain.utility_)
    found = model.decision_function(items, pairs, [[3.0]], np.zeros(len(pairs), dtype=int))
    assert found == pytest.approx(plain.decision_function(items, pairs), abs=BETWEEN_FITS)
