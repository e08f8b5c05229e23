"""The search for lengthscales and penalty: its gradient against differences, and that it finds what matters."""

from __future__ import annotations

import numpy as np
import pytest

from models.kernels import gpm_search
from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.gpm_search import search
from models.kernels.item_kernel import item_kernel
from models.records.features import Column, FeatureKind

COLUMNS = (
    Column(name="speed", feature="speed", kind=FeatureKind.NUMERIC),
    Column(name="hand", feature="hand", kind=FeatureKind.CATEGORICAL, levels=("left", "right", "both")),
    Column(name="noise", feature="noise", kind=FeatureKind.NUMERIC),
)
CONTEXT = (Column(name="roof", feature="roof", kind=FeatureKind.BINARY, levels=("no", "yes")),)


def planted(n_items: int = 30, n: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The faster wins, under a roof the slower; items with gaps, and a feature that says nothing."""
    rng = np.random.default_rng(seed)
    items = np.column_stack([rng.normal(size=n_items), rng.integers(3, size=n_items), rng.normal(size=n_items)])
    speed = items[:, 0].copy()
    items[rng.random(items.shape) < 0.1] = np.nan
    one = rng.integers(n_items, size=n)
    pairs = np.stack([one, (one + rng.integers(1, n_items, size=n)) % n_items], axis=1)
    roof = rng.integers(2, size=n)
    wins = (speed[pairs[:, 0]] > speed[pairs[:, 1]]) ^ (roof == 1) ^ (rng.random(n) < 0.1)
    return items, np.where(wins[:, None], pairs, pairs[:, ::-1]), roof


def models() -> list[GPM | UPM | CGPM]:
    return [
        GPM(COLUMNS, penalty=0.003),
        UPM(COLUMNS, penalty=0.003),
        CGPM(COLUMNS, CONTEXT, penalty=0.003, context_lengthscales=0.6),
        GPM(COLUMNS, penalty=0.003, utility=0.5),
        CGPM(COLUMNS, CONTEXT, penalty=0.003, context_lengthscales=0.6, utility=2.0),
    ]


@pytest.mark.parametrize("rank", [30, 12])
@pytest.mark.parametrize("model", models(), ids=lambda model: f"{type(model).__name__}-{getattr(model, 'utility', 0)}")
def test_the_gradient_is_that_of_the_validation_loss(
    model: GPM | UPM | CGPM, rank: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(gpm_search, "TOLERANCE", 1e-9)
    items, comparisons, roof = planted()
    validating = np.arange(len(comparisons)) % 4 == 0
    problem = gpm_search._problem(model, items, comparisons, validating, [[0.0], [1.0]], roof)
    theta, _, _ = problem.start(model.penalty)
    problem.begin(0, rank, theta)
    _, gradient = problem.loss_and_gradient(theta)
    assert len(gradient) == len(theta) == 4 + isinstance(model, CGPM) + bool(getattr(model, "utility", 0.0))
    for at in range(len(theta)):
        step = 1e-4 * np.eye(len(theta))[at]
        up, down = (problem.loss_and_gradient(theta + sign * step)[0] for sign in (1, -1))
        assert gradient[at] == pytest.approx((up - down) / 2e-4, rel=1e-3, abs=1e-8)


@pytest.mark.parametrize("model", models(), ids=lambda model: f"{type(model).__name__}-{getattr(model, 'utility', 0)}")
def test_the_loss_it_reports_is_that_of_the_fitted_model(model: GPM | UPM | CGPM):
    items, comparisons, roof = planted()
    validating = np.arange(len(comparisons)) % 4 == 0
    given = ([[0.0], [1.0]], roof) if isinstance(model, CGPM) else ()
    found = search(model, items, comparisons, validating, *given, max_steps=5)
    train = [given[0], given[1][~validating]] if given else []
    test = [given[0], given[1][validating]] if given else []
    chosen = found.model.fit(items, comparisons[~validating], *train)
    z = chosen.decision_function(items, comparisons[validating], *test)
    assert np.logaddexp(0, -z).mean() == pytest.approx(found.best.loss, abs=1e-3)


def test_few_landmarks_find_what_all_items_find():
    items, comparisons, _ = planted(n_items=200, n=2000)
    validating = np.arange(len(comparisons)) % 4 == 0
    exact = search(GPM(COLUMNS), items, comparisons, validating)
    found = search(GPM(COLUMNS), items, comparisons, validating, rank=80)
    assert found.best.round == found.trials[-1].round == max(trial.round for trial in found.trials) > 0
    assert found.best.loss == pytest.approx(exact.best.loss, abs=3e-3)
    train = comparisons[~validating]
    z = found.model.set_params(rank=80).fit(items, train).decision_function(items, comparisons[validating])
    assert np.logaddexp(0, -z).mean() == pytest.approx(found.best.loss, abs=3e-3)


def test_a_feature_that_says_nothing_gets_a_long_lengthscale():
    items, comparisons, roof = planted(n_items=200, n=2000)
    validating = np.arange(len(comparisons)) % 4 == 0
    model = CGPM(COLUMNS, CONTEXT)
    chosen, best, trials = search(model, items, comparisons, validating, [[0.0], [1.0]], roof)
    assert trials[0].lengthscales == item_kernel(items, COLUMNS).lengthscales
    assert best.loss < trials[0].loss - 0.02
    assert chosen.lengthscales["noise"] > 2 * chosen.lengthscales["speed"]
    assert chosen.context_lengthscales["roof"] < 1.0


def test_without_validation_there_is_no_search():
    items, comparisons, _ = planted()
    with pytest.raises(ValueError, match="0 of 500 comparisons validate"):
        search(GPM(COLUMNS), items, comparisons, np.zeros(len(comparisons), dtype=bool))
