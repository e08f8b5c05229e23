"""PREF-SHAP against a slow direct evaluation of the paper's propositions, and what Shapley values promise."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.kernels.gpm import CGPM, GPM, UPM
from models.records.features import Column, FeatureKind
from models.shap.explanation import ShapSettings, players_of
from models.shap.pref_shap import PrefShap
from tests.models.strategies import PairwiseData, pairwise_data

LAMBDA = 0.01
INTERVENTIONAL = ShapSettings(reference="interventional")


def matches(items: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    """Comparisons that no utility explains: the winner is decided by x0 or, where x1 is far apart, by minus x1."""
    rng = np.random.default_rng(seed)
    left = rng.integers(len(items), size=n)
    right = (left + rng.integers(1, len(items), size=n)) % len(items)
    gain = items[left] - items[right]
    left_wins = np.where(np.abs(gain[:, 1]) > 1, -gain[:, 1], gain[:, 0]) > 0
    return np.where(left_wins[:, None], np.stack([left, right], 1), np.stack([right, left], 1))


@pytest.fixture(scope="module")
def items() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(30, 4))


@pytest.fixture(scope="module")
def gpm(items) -> GPM:
    return GPM(penalty=1e-3).fit(items, matches(items, 300))


@pytest.fixture(scope="module")
def upm(items) -> UPM:
    return UPM(penalty=1e-3).fit(items, matches(items, 300))


def rbf(a: np.ndarray, b: np.ndarray, scales: np.ndarray, features: list[int]) -> np.ndarray:
    return np.array([
        [math.exp(-sum((x[j] - y[j]) ** 2 / (2 * scales[j] ** 2) for j in features)) for y in b] for x in a
    ])  # fmt: skip


def proposition_3_2(
    alpha: np.ndarray, left: np.ndarray, right: np.ndarray, X: np.ndarray, one: np.ndarray, other: np.ndarray,
    scales: np.ndarray, coalition: list[int],
) -> float:  # fmt: skip
    """nu_S of one duel, word by word: one row per match, an inverse, and a Gamma for each of four combinations."""
    rest = [j for j in range(X.shape[1]) if j not in coalition]
    inverse = np.linalg.inv(rbf(X, X, scales, coalition) + len(X) * LAMBDA * np.eye(len(X)))

    def gamma(rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        known = rbf(X, x[None], scales, coalition)
        return (rbf(rows, x[None], scales, coalition) * (rbf(rows, X, scales, rest) @ inverse @ known))[:, 0]

    return float(alpha @ (gamma(left, one) * gamma(right, other) - gamma(left, other) * gamma(right, one)))


def test_values_of_duels_are_those_of_proposition_3_2_evaluated_directly(items, gpm):
    pairs = np.array([[0, 1], [5, 2], [7, 29]])
    upper = np.argwhere(np.triu(gpm.dual_) != 0)
    alpha = gpm.dual_[upper[:, 0], upper[:, 1]]
    left, right = gpm.items_[upper[:, 0]], gpm.items_[upper[:, 1]]
    scales = gpm.items_.std(axis=0) * math.sqrt(4)
    found = PrefShap(gpm, items, settings=ShapSettings(regularisation=LAMBDA)).duels(items, pairs)
    for values, full, (one, other) in zip(found.values, found.full, items[pairs], strict=True):
        nu = {
            frozenset(s): proposition_3_2(alpha, left, right, items, one, other, scales, list(s))
            for size in range(5) for s in itertools.combinations(range(4), size)
        }  # fmt: skip
        weight = {s: math.factorial(len(s)) * math.factorial(3 - len(s)) / 24 for s in nu if len(s) < 4}
        expected = [sum(weight[s] * (nu[s | {j}] - nu[s]) for s in weight if j not in s) for j in range(4)]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10)
        assert full == pytest.approx(nu[frozenset(range(4))], abs=1e-10)


@pytest.mark.parametrize("name", ["gpm", "upm"])
def test_a_duel_has_the_same_values_whatever_else_is_explained(items, name, request):
    model, rng = request.getfixturevalue(name), np.random.default_rng(3)
    order = rng.permutation(np.r_[np.arange(30), 4, 9])  # two of the reference twice, and none in the model's order
    explainer = PrefShap(model, items[order], weights=rng.uniform(0.2, 3, len(order)))
    few = np.array([[3, 8], [9, 3], [12, 4]])
    alone = explainer.duels(items, few)
    among_all = explainer.duels(items, np.concatenate([few, matches(items, 100)]))
    np.testing.assert_allclose(among_all.values[:3], alone.values, rtol=0, atol=1e-11)
    stranger = np.concatenate([items, items[:1] + 0.3])
    with_another = explainer.duels(stranger, np.concatenate([few, matches(items, 100), [[30, 2], [2, 30]]]))
    np.testing.assert_allclose(with_another.values[:3], alone.values, rtol=0, atol=1e-11)
    np.testing.assert_allclose(with_another.values[-1], -with_another.values[-2], rtol=0, atol=1e-11)
    assert np.abs(alone.values).min() > 1e-6


@pytest.mark.parametrize("budget", [4e12, 0.0])
def test_the_number_of_threads_changes_no_digit(items, gpm, budget):
    pairs = matches(items, 40)
    one, three = (
        PrefShap(gpm, items, settings=ShapSettings(jobs=jobs, budget=budget)).duels(items, pairs) for jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.values, three.values)


def spliced(model: GPM | UPM, items: np.ndarray, one: int, other: int, known: list[int]) -> float:
    """The mean preference over all pairs of reference items that fill in the unknown features of both."""
    firsts, seconds = items.copy(), items.copy()
    firsts[:, known], seconds[:, known] = items[one, known], items[other, known]
    everything = np.concatenate([firsts, seconds])
    pairs = np.array(list(itertools.product(range(len(items)), range(len(items), 2 * len(items)))))
    return float(model.decision_function(everything, pairs).mean())


@pytest.mark.parametrize("name", ["gpm", "upm"])
def test_the_interventional_values_are_mean_preferences_of_items_put_together_from_two(items, name, request):
    model = request.getfixturevalue(name)
    found = PrefShap(model, items, players={"a": [0, 1], "b": [2, 3]}, settings=INTERVENTIONAL).duels(items, [[3, 8]])
    a, b = spliced(model, items, 3, 8, [0, 1]), spliced(model, items, 3, 8, [2, 3])
    full = float(model.decision_function(items, [[3, 8]])[0])
    np.testing.assert_allclose(found.values, [[(a + full - b) / 2, (b + full - a) / 2]], atol=1e-12)


@pytest.mark.parametrize("reference", ["observational", "interventional"])
def test_values_agree_with_monte_carlo_under_independent_features(items, gpm, reference):
    rng = np.random.default_rng(4)
    one, other, full = items[3], items[8], gpm.decision_function(items, [[3, 8]])[0]
    pairs = np.stack([np.arange(20_000), np.arange(20_000, 40_000)], axis=1)
    mean, error = {}, 0.0
    for name, known in {"outer": [True, False, False, True], "inner": [False, True, True, False]}.items():
        firsts, seconds = (np.where(known, x, rng.normal(size=(20_000, 4))) for x in (one, other))
        drawn = gpm.decision_function(np.concatenate([firsts, seconds]), pairs)
        mean[name], error = drawn.mean(), max(error, drawn.std() / math.sqrt(1_500))
    settings_ = ShapSettings(reference=reference)
    explainer = PrefShap(
        gpm, rng.normal(size=(1_500, 4)), players={"outer": [0, 3], "inner": [1, 2]}, settings=settings_
    )
    [[outer, inner]] = explainer.duels(items, [[3, 8]]).values
    assert outer == pytest.approx((mean["outer"] + full - mean["inner"]) / 2, abs=4 * error)
    assert inner == pytest.approx((mean["inner"] + full - mean["outer"]) / 2, abs=4 * error)
    assert abs(outer - inner) > 10 * error


def test_observational_and_interventional_values_agree_where_features_are_independent():
    grid = np.array(list(itertools.product([-1.0, 0.0, 1.0, 2.0], [-1.0, 0.5, 3.0], [0.0, 1.0])))
    model = GPM(penalty=1e-3).fit(grid, matches(grid, 300))
    pairs = [[0, 5], [20, 7], [11, 23]]
    observed = PrefShap(model, grid, settings=ShapSettings(regularisation=1e-9)).duels(grid, pairs)
    intervened = PrefShap(model, grid, settings=INTERVENTIONAL).duels(grid, pairs)
    np.testing.assert_allclose(observed.values, intervened.values, atol=1e-5)
    assert np.abs(observed.values).max() > 0.1
    dependent = PrefShap(model, grid[grid[:, 0] > grid[:, 1]], settings=ShapSettings(regularisation=1e-9))
    assert np.abs(dependent.duels(grid, pairs).values - intervened.values).max() > 0.01


@settings(max_examples=40, deadline=None)
@given(data=pairwise_data(max_items=7), utility=st.booleans(), observational=st.booleans())
def test_explanations_turn_with_the_duel_and_sum_to_what_all_features_explain(
    data: PairwiseData, utility, observational
):
    model = (UPM if utility else GPM)(data.columns, penalty=0.01).fit(data.items, data.comparisons)
    settings_ = ShapSettings(reference="observational" if observational else "interventional")
    explainer = PrefShap(model, data.items, settings=settings_)
    one, turned = (explainer.duels(data.items, pairs) for pairs in (data.comparisons, data.comparisons[:, ::-1]))
    np.testing.assert_allclose(one.values, -turned.values, atol=1e-10)
    np.testing.assert_allclose(one.values.sum(axis=1), one.full - one.empty, atol=1e-10)
    np.testing.assert_allclose(one.empty, 0.0, atol=1e-10)
    np.testing.assert_allclose(one.score, model.decision_function(data.items, data.comparisons), atol=1e-10)
    np.testing.assert_allclose(one.gap, one.full - one.score)


def test_a_feature_that_never_varies_gets_nothing_and_is_not_asked(items, gpm):
    wider = np.column_stack([items, np.ones(len(items))])
    model = GPM(lengthscales=2.0, penalty=1e-3).fit(wider, matches(items, 300))
    found = PrefShap(model, wider).duels(wider, [[0, 1], [4, 9]])
    assert found.coalitions == 2**4
    np.testing.assert_array_equal(found.values[:, 4], 0.0)
    narrower = GPM(lengthscales=2.0, penalty=1e-3).fit(items, matches(items, 300))
    np.testing.assert_allclose(
        found.values[:, :4], PrefShap(narrower, items).duels(items, [[0, 1], [4, 9]]).values, atol=1e-10
    )


def test_a_player_the_preference_does_not_depend_on_gets_nothing_where_it_is_independent():
    grid = np.array(list(itertools.product([-1.0, 0.0, 1.0], [-1.0, 0.5, 3.0], [0.0, 1.0, 2.0])))
    model = GPM(lengthscales={"x0": 1.0, "x1": 1.0, "x2": 1e5}, penalty=1e-3).fit(grid, matches(grid, 300))
    found = PrefShap(model, grid, settings=INTERVENTIONAL).duels(grid, [[0, 5], [20, 7]])
    np.testing.assert_allclose(found.values[:, 2], 0.0, atol=1e-8)


def test_two_features_that_are_copies_of_each_other_get_the_same(items):
    copied = np.column_stack([items[:, 0], items[:, 1], items[:, 0]])
    model = GPM(penalty=1e-3).fit(copied, matches(items, 300))
    found = PrefShap(model, copied).duels(copied, [[0, 1], [4, 9], [11, 3]])
    np.testing.assert_allclose(found.values[:, 0], found.values[:, 2], atol=1e-10)
    assert np.abs(found.values[:, 0]).max() > 0.1


def test_items_that_coincide_count_as_often_as_they_are_there(items, gpm):
    pairs = [[0, 1], [4, 9]]
    repeated = np.concatenate([items, items[:5], items[:5]])
    weights = np.ones(len(items))
    weights[:5] = 3
    twice = PrefShap(gpm, repeated).duels(items, pairs)
    np.testing.assert_allclose(
        twice.values, PrefShap(gpm, items, weights=weights).duels(items, pairs).values, atol=1e-12
    )
    assert np.abs(twice.values - PrefShap(gpm, items).duels(items, pairs).values).max() > 1e-4


@pytest.mark.parametrize("name", ["gpm", "upm"])
def test_one_item_against_all_is_the_mean_of_its_duels(items, name, request):
    explainer = PrefShap(request.getfixturevalue(name), items)
    found = explainer.against_all(items[[2, 6]])
    for row, item in enumerate([2, 6]):
        duels = explainer.duels(items, [[item, other] for other in range(len(items)) if other != item])
        np.testing.assert_allclose(found.values[row], duels.values.sum(axis=0) / len(items), atol=1e-12)
        assert found.score[row] == pytest.approx(duels.score.sum() / len(items), abs=1e-12)


@pytest.mark.parametrize("name", ["gpm", "upm"])
@pytest.mark.parametrize("reference", ["observational", "interventional"])
def test_one_item_against_all_counts_each_opponent_by_its_weight_and_as_often_as_it_is_there(
    items, name, reference, request
):
    weights = np.random.default_rng(6).uniform(0.2, 3.0, size=len(items) + 2)
    weights[9] = 0.0
    opponents = np.concatenate([items, items[[4, 4]]])
    settings_ = ShapSettings(reference=reference)
    explainer = PrefShap(request.getfixturevalue(name), opponents, weights=weights, settings=settings_)
    found = explainer.against_all(items[[2, 6]])
    share = weights / weights.sum()
    for row, item in enumerate([2, 6]):
        others = [at for at in range(len(opponents)) if at != item]
        duels = explainer.duels(opponents, [[item, other] for other in others])
        np.testing.assert_allclose(found.values[row], share[others] @ duels.values, atol=1e-12)
        assert found.score[row] == pytest.approx(share[others] @ duels.score, abs=1e-12)
        np.testing.assert_allclose(found.data[row], items[item] - share @ opponents, atol=1e-12)


def test_a_utility_is_explained_by_what_it_gains_at_each_of_the_two(items, upm):
    explainer = PrefShap(upm, items, settings=ShapSettings(regularisation=LAMBDA))
    [duel] = explainer.duels(items, [[3, 8]]).values
    one, other = explainer.against_all(items[[3, 8]]).values
    np.testing.assert_allclose(duel, one - other, atol=1e-12)


def test_low_rank_models_are_explained_by_their_landmarks_over_all_reference_items(items):
    exact = GPM(penalty=1e-3).fit(items, matches(items, 300))
    low = GPM(penalty=1e-3, rank=30).fit(items, matches(items, 300))
    pairs = [[0, 1], [4, 9]]
    np.testing.assert_allclose(
        PrefShap(low, items).duels(items, pairs).values, PrefShap(exact, items).duels(items, pairs).values, atol=1e-3
    )


def test_sampled_values_agree_with_the_exact_ones_within_their_standard_errors():
    items = np.random.default_rng(2).normal(size=(20, 8))
    model = GPM(penalty=1e-3).fit(items, matches(items, 200))
    pairs = matches(items, 25, seed=1)
    exact = PrefShap(model, items).duels(items, pairs)
    sampled = PrefShap(model, items, settings=ShapSettings(budget=150 * 20**3)).duels(items, pairs)
    assert exact.standard_error is None
    assert exact.coalitions == 256
    assert sampled.coalitions < 256
    drawn = [
        PrefShap(model, items, settings=ShapSettings(budget=150 * 20**3, seed=seed)).duels(items, pairs)
        for seed in range(30)
    ]
    scores = np.array([(one.values - exact.values) / one.standard_error for one in drawn])
    assert np.sqrt((scores**2).mean()) == pytest.approx(1.0, abs=0.2)
    np.testing.assert_allclose(sampled.values.sum(axis=1), sampled.full, atol=1e-10)


def test_the_budget_counts_coalitions_times_the_cubed_number_of_distinct_reference_items(items, gpm):
    repeated, pairs = np.concatenate([items[:20], items[:5]]), [[0, 1], [4, 9]]
    enough, short = (
        PrefShap(gpm, repeated, settings=ShapSettings(budget=budget)).duels(items, pairs)
        for budget in (2**4 * 20**3, 2**4 * 20**3 - 1)
    )
    assert enough.standard_error is None
    assert enough.coalitions == 2**4
    assert short.coalitions == 2**4  # 16 are fewer than eight per player: sampling would cost more
    wider = np.random.default_rng(2).normal(size=(20, 8))
    model = GPM(penalty=1e-3).fit(wider, matches(wider, 100))
    enough, short = (
        PrefShap(model, wider[:15], settings=ShapSettings(budget=budget)).duels(wider, pairs)
        for budget in (2**8 * 15**3, 2**8 * 15**3 - 1)
    )
    assert enough.standard_error is None
    assert short.standard_error is not None


def test_with_little_regularisation_nothing_is_left_unexplained(items, gpm):
    gaps = [
        np.abs(
            PrefShap(gpm, items, settings=ShapSettings(regularisation=much)).duels(items, [[0, 1], [4, 9]]).gap
        ).max()
        for much in (1e-1, 1e-3, 1e-6)
    ]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3


def test_an_explanation_is_one_of_the_shap_library_with_colours_and_errors(items, gpm):
    shap = pytest.importorskip("shap")
    found = PrefShap(gpm, items, players={"pair": [0, 1], "x2": [2], "x3": [3]}).duels(items, [[0, 1], [4, 9]])
    assert isinstance(found.explanation, shap.Explanation)
    np.testing.assert_array_equal(found.explanation.values, found.values)
    assert found.explanation.feature_names == ["pair", "x2", "x3"]
    np.testing.assert_allclose(found.explanation.data[:, 1], items[[0, 4], 2] - items[[1, 9], 2])
    assert np.isnan(found.explanation.data[:, 0]).all()


@pytest.mark.filterwarnings("ignore")  # the shap library's own
def test_the_plots_of_the_shap_library_take_an_explanation(items, gpm):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    shap = pytest.importorskip("shap")
    found = PrefShap(gpm, items, players={"pair": [0, 1], "x2": [2], "x3": [3]}).duels(items, matches(items, 40))
    for plot, shown in (
        (shap.plots.beeswarm, found.explanation), (shap.plots.bar, found.explanation),
        (shap.plots.waterfall, found.explanation[0]),
    ):  # fmt: skip
        matplotlib.pyplot.figure()
        plot(shown, show=False)
        labels = {label.get_text() for axes in matplotlib.pyplot.gcf().axes for label in axes.get_yticklabels()}
        assert any("pair" in label for label in labels)
        matplotlib.pyplot.close("all")


def test_explaining_does_not_import_the_shap_library():
    code = "import sys, models.shap.pref_shap; sys.exit('shap' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_players_are_features_by_default_and_each_column_belongs_to_one():
    columns = [
        Column(name=name, feature=name.split("=")[0], kind=FeatureKind.BINARY, levels=("no", "yes"))
        for name in ("legendary", "types=fire", "types=water")
    ]
    assert players_of(columns, None) == {"legendary": (0,), "types": (1, 2)}
    with pytest.raises(ValueError, match=r"exactly one player; found \[0, 1, 1\]"):
        players_of(columns, {"a": [0, 1], "b": [1]})


@pytest.fixture(scope="module")
def cgpm(items) -> CGPM:
    pairs, context_of = matches(items, 400), np.random.default_rng(7).integers(4, size=400)
    flipped = np.where((context_of == 2)[:, None], pairs[:, ::-1], pairs)
    return CGPM(penalty=1e-3).fit(items, flipped, [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 3.0]], context_of)


def test_items_are_explained_in_a_context_or_on_average_over_contexts(items, cgpm):
    pairs, weights = np.array([[0, 1], [4, 9]]), np.array([3.0, 0.0, 1.0, 0.0])
    here = [PrefShap(cgpm, items, contexts=[context]).duels(items, pairs) for context in cgpm.contexts_]
    average = PrefShap(cgpm, items, context_weights=weights).duels(items, pairs)
    np.testing.assert_allclose(average.values, (3 * here[0].values + here[2].values) / 4, atol=1e-12)
    np.testing.assert_allclose(here[2].score, cgpm.decision_function(items, pairs, cgpm.contexts_, [2, 2]), atol=1e-12)
    shares = sum(share * one.values for share, one in zip(cgpm.context_shares_, here, strict=True))
    np.testing.assert_allclose(PrefShap(cgpm, items).duels(items, pairs).values, shares, atol=1e-12)


def test_contexts_of_a_model_that_knows_none_are_refused(items, gpm, upm):
    for model in (gpm, upm):
        with pytest.raises(ValueError, match=f"{type(model).__name__} has no contexts"):
            PrefShap(model, items, contexts=[[0.0, 1.0]])


def test_a_utility_beside_the_general_preference_is_explained_too(items):
    pairs = np.array([[0, 1], [4, 9], [7, 2]])
    model = GPM(penalty=1e-2, utility=0.5).fit(items, matches(items, 300))
    whole = PrefShap(model, items).duels(items, pairs)
    np.testing.assert_allclose(whole.score, model.decision_function(items, pairs), atol=1e-12)
    utility = UPM(penalty=1e-2).fit(items, matches(items, 300))
    utility.dual_, model.utility_ = model.utility_, np.zeros_like(model.utility_)
    parts = [PrefShap(part, items).duels(items, pairs).values for part in (model, utility)]
    np.testing.assert_allclose(whole.values, parts[0] + parts[1], atol=1e-12)
    assert np.abs(parts[1]).max() > 0.01

    flipped = PrefShap(GPM(penalty=1e-2, utility=0.5).fit(items, matches(items, 300)), items)
    np.testing.assert_allclose(flipped.duels(items, pairs[:, ::-1]).values, -whole.values, atol=1e-12)
    against = flipped.against_all(items[:2]).values
    each = flipped.duels(items, np.array([[0, other] for other in range(1, len(items))])).values
    np.testing.assert_allclose(against[0], each.sum(axis=0) / len(items), atol=1e-12)
