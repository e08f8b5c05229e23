"""The product kernel: by hand, positive definite with gaps, its parts, and its slopes against differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.kernels.item_kernel import distinct_rows, item_kernel
from models.records.features import Column, FeatureKind
from tests.models.strategies import PairwiseData, pairwise_data

TYPES = tuple(
    Column(name=f"types={level}", feature="types", kind=FeatureKind.BINARY, levels=("no", "yes"))
    for level in ("Fire", "Water")
)
SPEED = Column(name="speed", feature="speed", kind=FeatureKind.NUMERIC)
HAND = Column(name="hand", feature="hand", kind=FeatureKind.CATEGORICAL, levels=("left", "right", "both"))


def test_known_values_by_hand():
    items = np.array([[0.0, 0, 1, 0], [4.0, 1, 0, 1]])
    kernel = item_kernel(items, (SPEED, HAND, *TYPES), {"speed": 2.0, "hand": 1.0, "types": 0.5})
    speed = np.exp(-(4.0**2) / (2 * (2.0 * 2.0) ** 2))  # the deviation of 0 and 4 is 2
    assert kernel(items, items) == pytest.approx(
        np.array([[1, speed * np.exp(-0.5) * np.exp(-2 * 2)], [speed * np.exp(-0.5) * np.exp(-2 * 2), 1]])
    )


def test_a_missing_value_is_as_like_a_known_one_as_one_drawn_at_random():
    rng = np.random.default_rng(0)
    numbers = rng.normal(3.0, 2.0, 100_000)
    hands = rng.choice(3, p=[0.2, 0.7, 0.1], size=len(numbers)).astype(float)
    kernel = item_kernel(np.column_stack([numbers, hands]), (SPEED, HAND), {"speed": 0.7, "hand": 0.9})
    at = np.array([[4.0, 1.0]])
    for column in (0, 1):
        among = kernel(at, np.column_stack([numbers, hands]), [column]).mean()
        missing = kernel(at, np.full((1, 2), np.nan), [column])
        assert missing == pytest.approx(among, abs=0.003)
        assert kernel(np.full((1, 2), np.nan), np.full((1, 2), np.nan), [column]) == 1.0


@given(pairwise_data(), st.floats(0.05, 20.0))
def test_it_is_positive_definite_whatever_is_missing(data: PairwiseData, lengthscale: float):
    kernel = item_kernel(data.items, data.columns, lengthscale)
    matrix = kernel(data.items, data.items)
    assert np.array_equal(matrix, matrix.T)
    assert np.diag(matrix) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-9


@given(pairwise_data())
def test_the_kernels_of_parts_multiply_to_the_whole(data: PairwiseData):
    kernel = item_kernel(data.items, data.columns)
    parts = [kernel(data.items, data.items, kernel.columns_of(feature)) for feature in kernel.features]
    assert np.prod(parts, axis=0) == pytest.approx(kernel(data.items, data.items))
    assert kernel(data.items, data.items, []) == pytest.approx(1.0)


@given(pairwise_data(), st.floats(0.3, 3.0))
def test_slopes_are_those_of_the_exponent(data: PairwiseData, lengthscale: float):
    kernel = item_kernel(data.items, data.columns, lengthscale)
    step = 1e-5
    for feature in kernel.features:
        near = [
            kernel.with_lengthscales({**kernel.lengthscales, feature: lengthscale * np.exp(sign * step)})
            for sign in (1, -1)
        ]
        up, down = (moved.exponent(data.items, data.items) for moved in near)
        assert kernel.slope(data.items, data.items, feature) == pytest.approx((up - down) / (2 * step), abs=1e-6)


def test_only_the_items_given_set_the_scales():
    kernel = item_kernel(np.array([[0.0], [2.0], [np.nan]]), (SPEED,), 1.0)
    far = np.array([[100.0]])
    assert kernel(far, np.array([[101.0]])) == pytest.approx(np.exp(-0.5))


@pytest.mark.parametrize(
    ("lengthscales", "told"),
    [
        ({"speed": 1.0}, "no lengthscale for hand"),
        ({"speed": 1.0, "hand": 1.0, "age": 1.0}, "lengthscales for age"),
        ({"speed": 0.0, "hand": 1.0}, "positive and finite"),
        (np.inf, "positive and finite"),
    ],
)
def test_lengthscales_that_cannot_be_are_refused_by_name(lengthscales: object, told: str):
    with pytest.raises(ValueError, match=told):
        item_kernel(np.zeros((2, 2)), (SPEED, HAND), lengthscales)


def test_a_feature_that_is_not_there_is_refused_by_name():
    with pytest.raises(KeyError, match="no feature 'age' among speed, hand"):
        item_kernel(np.zeros((2, 2)), (SPEED, HAND)).columns_of("age")


def test_items_that_coincide_are_found_with_their_gaps():
    items = np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan], [np.nan, 1.0]])
    distinct, row = distinct_rows(items)
    assert len(distinct) == 3
    assert np.array_equal(distinct[row], items, equal_nan=True)


@pytest.mark.parametrize("kind", [FeatureKind.BINARY, FeatureKind.CATEGORICAL])
@pytest.mark.parametrize("label", [0.5, -1.0, 1e12])
def test_labels_that_are_no_codes_are_refused_in_fits_and_predictions(kind: FeatureKind, label: float) -> None:
    columns = (Column(name="kind", feature="kind", kind=kind),)
    odd, items = np.array([[0.0], [label]]), np.array([[0.0], [1.0]])
    with pytest.raises(ValueError, match=f"column kind: a {kind} column holds whole numbers from zero"):
        item_kernel(odd, columns)
    with pytest.raises(ValueError, match=f"column kind: a {kind} column holds whole numbers from zero"):
        item_kernel(items, columns)(odd, items)


def test_a_label_that_was_never_seen_is_as_far_from_a_missing_one_as_from_any_known() -> None:
    columns = (Column(name="kind", feature="kind", kind=FeatureKind.CATEGORICAL),)
    kernel = item_kernel(np.array([[0.0], [1.0], [np.nan]]), columns, 1.0)
    unseen = np.array([[7.0]])
    assert kernel(unseen, np.array([[np.nan], [0.0]])) == pytest.approx(np.exp(-0.5))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_lengthscales_whose_squares_overflow_are_refused_and_far_items_are_unlike(scale: float) -> None:
    columns = (Column(name="size", feature="size", kind=FeatureKind.NUMERIC),)
    items = np.array([[0.0], [1e150]])
    with pytest.raises(ValueError, match=r"lengthscales must be positive and finite, .* their range is 1e-100"):
        item_kernel(items, columns, scale)
    kernel = item_kernel(items, columns, 1e-99, absolute=True)
    assert kernel(items, items).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("scale", "complaint"), [(1e200, "values beyond 1e.150"), (1e-160, "differ by less than 1e-150")]
)
def test_scales_whose_squares_overflow_or_vanish_are_refused(scale: float, complaint: str) -> None:
    columns = (Column(name="size", feature="size", kind=FeatureKind.NUMERIC),)
    with pytest.raises(ValueError, match=complaint):
        item_kernel(np.array([[1.0], [2.0]]) * scale, columns)
    with pytest.raises(ValueError, match="the square of its lengthscale overflows: rescale the column"):
        item_kernel(np.array([[1.0], [2.0]]) * 1e-90, columns, 1e-90)
