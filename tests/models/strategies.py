"""Hypothesis strategies for pairwise data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from models.records.features import Column, FeatureKind


@dataclass(frozen=True)
class PairwiseData:
    items: np.ndarray
    columns: tuple[Column, ...]
    comparisons: np.ndarray


def column(name: str, kind: FeatureKind) -> Column:
    levels = {FeatureKind.CATEGORICAL: tuple("abcdef"), FeatureKind.BINARY: ("no", "yes")}.get(kind)
    return Column(name=name, feature=name, kind=kind, levels=levels)


@st.composite
def pairwise_data(
    draw: st.DrawFn, *, missing: bool = True, max_items: int = 9, max_comparisons: int = 24
) -> PairwiseData:
    """Few items with few distinct values, so that ties, duplicates and empty children are common."""
    kinds = draw(
        st.lists(
            st.sampled_from([FeatureKind.NUMERIC, FeatureKind.CATEGORICAL, FeatureKind.BINARY]), min_size=1, max_size=3
        )
    )
    n_items = draw(st.integers(2, max_items))
    limits = {FeatureKind.NUMERIC: 4, FeatureKind.CATEGORICAL: 5, FeatureKind.BINARY: 1}
    values = []
    for kind in kinds:
        value = st.integers(0, limits[kind]).map(float)
        cell = st.one_of(value, value, value, st.just(np.nan)) if missing else value
        values.append(draw(st.lists(cell, min_size=n_items, max_size=n_items)))
    item = st.integers(0, n_items - 1)
    pair = st.tuples(item, item).filter(lambda two: two[0] != two[1])
    comparisons = draw(st.lists(pair, min_size=1, max_size=max_comparisons))
    columns = tuple(column(f"x{k}", kind) for k, kind in enumerate(kinds))
    return PairwiseData(np.array(values, dtype=float).T, columns, np.array(comparisons))
