"""Models made of given dual coefficients: the same preferences as those they come from, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.kernels.gpm import CGPM, GPM, UPM
from models.records.features import Column, FeatureKind

COLUMNS = (
    Column(name="speed", feature="speed", kind=FeatureKind.NUMERIC),
    Column(name="hand", feature="hand", kind=FeatureKind.CATEGORICAL, levels=("left", "right", "both")),
)
CONTEXT_COLUMNS = (Column(name="heat", feature="heat", kind=FeatureKind.NUMERIC),)
CONTEXTS = np.array([[10.0], [20.0], [np.nan]])


def data(seed: int = 0, n_items: int = 15, n: int = 90) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items with gaps, on a scale far from one; comparisons; their contexts."""
    rng = np.random.default_rng(seed)
    items = np.column_stack([rng.normal(300.0, 40.0, n_items), rng.integers(3, size=n_items)])
    items[[2, 5], 0], items[[5, 7], 1] = np.nan, np.nan
    winners = rng.integers(n_items, size=n)
    pairs = np.stack([winners, (winners + rng.integers(1, n_items, size=n)) % n_items], axis=1)
    return items, pairs, rng.integers(3, size=n)


def rebuilt(model: Any, items: np.ndarray, dual: np.ndarray | None = None) -> Any:
    """The model again, from its dual coefficients and absolute lengthscales."""
    given: dict[str, Any] = {
        "columns": model.columns_, "lengthscales": model.kernel_.absolute_lengthscales, "known_items": items,
    }  # fmt: skip
    dual = model.dual_ if dual is None else dual
    if isinstance(model, UPM):
        return UPM.from_dual(model.items_, dual, **given)
    if isinstance(model, GPM):
        return GPM.from_dual(model.items_, dual, utility=model.utility_, **given)
    return CGPM.from_dual(
        model.items_, model.contexts_, dual, utility=model.utility_, context_columns=CONTEXT_COLUMNS,
        context_lengthscales=model.context_kernel_.absolute_lengthscales, context_shares=model.context_shares_, **given,
    )  # fmt: skip


@pytest.mark.parametrize("rank", [None, 6])
@pytest.mark.parametrize("utility", [0.0, 0.7])
@pytest.mark.parametrize("kind", [GPM, CGPM, UPM])
def test_the_dual_of_a_fitted_model_and_its_absolute_lengthscales_give_the_same_preferences(
    kind: type, utility: float, rank: int | None
):
    items, pairs, context_of = data()
    settings = {"penalty": 0.01, "rank": rank, "lengthscales": {"speed": 0.8, "hand": 1.3}}
    settings |= {} if kind is UPM else {"utility": utility}
    settings |= {"context_columns": CONTEXT_COLUMNS} if kind is CGPM else {}
    contexts = (CONTEXTS, context_of) if kind is CGPM else ()
    model = kind(COLUMNS, **settings).fit(items, pairs, *contexts)
    again = rebuilt(model, items[np.unique(pairs)])
    expected = model.decision_function(items, pairs, *contexts)
    assert np.abs(expected).max() > 0.5
    np.testing.assert_allclose(again.decision_function(items, pairs, *contexts), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        again.predict_proba(items, pairs, *contexts), model.predict_proba(items, pairs, *contexts)
    )


def test_absolute_lengthscales_are_in_the_units_of_the_columns():
    """k between 0 and 3 with a lengthscale of 2, whatever the items' standard deviation."""
    k = np.exp(-(3.0**2) / (2 * 2.0**2))
    items = np.array([[0.0], [3.0], [500.0]])
    model = UPM.from_dual(items, [1.0, 0.0, 0.0], lengthscales=2.0)
    assert model.predict(items) == pytest.approx([1.0, k, 0.0])
    g = GPM.from_dual(items[:2], [[0.0, 1.0], [-1.0, 0.0]], lengthscales={"x0": 2.0})
    assert g.decision_function(items, [[0, 1], [1, 0]]) == pytest.approx([1 - k**2, k**2 - 1])
    assert g.kernel_.absolute_lengthscales == {"x0": 2.0}


def test_a_fitted_model_tells_its_absolute_lengthscales():
    items, pairs, _ = data()
    model = UPM(COLUMNS, lengthscales={"speed": 0.8, "hand": 1.3}).fit(items, pairs)
    playing = items[np.unique(pairs), 0]
    assert model.kernel_.absolute_lengthscales == pytest.approx({"speed": 0.8 * np.nanstd(playing), "hand": 1.3})


def test_the_utility_of_a_given_general_model_is_added():
    items = np.array([[0.0], [3.0]])
    plain = GPM.from_dual(items, np.zeros((2, 2)), utility=[2.0, 0.5], lengthscales=1.0)
    utility = UPM.from_dual(items, [2.0, 0.5], lengthscales=1.0)
    assert plain.decision_function(items, [[0, 1]]) == pytest.approx(utility.decision_function(items, [[0, 1]]))


def test_each_context_of_a_given_model_has_its_own_dual():
    """With contexts far apart, the preference in each is that of its own dual; between two, their mixture."""
    items, contexts = np.array([[0.0], [3.0]]), np.array([[0.0], [100.0]])
    skew = np.array([[0.0, 1.0], [-1.0, 0.0]])
    model = CGPM.from_dual(
        items, contexts, np.stack([skew, -2 * skew]), lengthscales=1.0, context_lengthscales=2.0, context_shares=[3, 1]
    )
    one = GPM.from_dual(items, skew, lengthscales=1.0).decision_function(items, [[0, 1]])[0]
    found = model.decision_function(items, [[0, 1]] * 3, [[0.0], [100.0], [1.0]], [0, 1, 2])
    assert found == pytest.approx([one, -2 * one, np.exp(-1 / 8) * one])
    assert model.context_shares_ == pytest.approx([0.75, 0.25])


def test_coefficients_that_cannot_be_are_refused():
    items, contexts = np.array([[0.0], [3.0]]), np.array([[0.0]])
    skew = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(ValueError, match="dual must be skew-symmetric"):
        GPM.from_dual(items, np.eye(2), lengthscales=1.0)
    with pytest.raises(ValueError, match=r"dual must have shape \(2, 2\), found \(2,\)"):
        GPM.from_dual(items, [1.0, 2.0], lengthscales=1.0)
    with pytest.raises(ValueError, match=r"utility must have shape \(2,\)"):
        GPM.from_dual(items, skew, utility=[1.0], lengthscales=1.0)
    with pytest.raises(ValueError, match="dual must be finite, found 1 values that are not"):
        UPM.from_dual(items, [1.0, np.nan], lengthscales=1.0)
    with pytest.raises(ValueError, match=r"dual must have shape \(1, 2, 2\), found \(2, 2\)"):
        CGPM.from_dual(items, contexts, skew, lengthscales=1.0, context_lengthscales=1.0)
    with pytest.raises(ValueError, match="context_shares must be 1 finite numbers"):
        CGPM.from_dual(items, contexts, [skew], lengthscales=1.0, context_lengthscales=1.0, context_shares=[-1.0])
    for lengthscales in (0.0, np.nan, {"x1": 1.0}, {"x0": -2.0}):
        with pytest.raises(ValueError, match="lengthscale"):
            GPM.from_dual(items, skew, lengthscales=lengthscales)
    with pytest.raises(ValueError, match="absolute lengthscales have no default"):
        UPM.from_dual(items, [1.0, 2.0], lengthscales=None)
