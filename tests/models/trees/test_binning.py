"""Sorting items by their columns: ranks, missing values, and values that differ in their last bits only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.records.features import Column, FeatureKind
from models.trees.growth.binning import MISSING, bin_items
from models.trees.preference_tree import numeric_columns

FLOATS = st.one_of(
    st.floats(allow_infinity=False, width=64),
    st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 5e-324, -5e-324, -np.nan]),
)


@given(arrays(np.float64, st.integers(0, 60), elements=FLOATS))
def test_ranks_are_those_of_the_distinct_values_in_ascending_order_missing_first(values: np.ndarray) -> None:
    binned = bin_items(values[:, None], numeric_columns(["x"]))
    order, codes, distinct = binned.orders[0], binned.codes[0], binned.values[0]
    known = values[~np.isnan(values)]
    assert sorted(order) == list(range(len(values)))
    assert distinct.tolist() == sorted(set(known.tolist()))
    in_order = values[order]
    missing = len(values) - len(known)
    assert np.isnan(in_order[:missing]).all()
    assert (codes[:missing] == MISSING).all()
    assert (distinct[codes[missing:]] == in_order[missing:]).all()
    assert (np.diff(codes[missing:]) >= 0).all()


def test_category_codes_are_kept_as_they_are() -> None:
    column = Column(name="c", feature="c", kind=FeatureKind.CATEGORICAL, levels=tuple("abcdef"))
    binned = bin_items(np.array([[5.0], [np.nan], [2.0]]), [column])
    assert binned.codes[0].tolist() == [MISSING, 2, 5]
    assert binned.values[0].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("value", [0.5, -1.0])
def test_a_category_that_is_no_whole_number_from_zero_is_refused(value: float) -> None:
    column = Column(name="group", feature="group", kind=FeatureKind.CATEGORICAL, levels=("a", "b"))
    with pytest.raises(ValueError, match="column group: a categorical column holds whole numbers"):
        bin_items(np.array([[value], [1.0]]), [column])
