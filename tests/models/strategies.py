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
    return draw(_data_of(draw(_kinds()), missing=missing, max_items=max_items, max_comparisons=max_comparisons))


@st.composite
def pairwise_data_of_trees(draw: st.DrawFn, *, max_trees: int = 3) -> list[PairwiseData]:
    """The data of several trees over the same columns; some trees have items but no comparisons."""
    kinds = draw(_kinds())
    one = _data_of(kinds, missing=True, max_items=6, max_comparisons=12, min_comparisons=0)
    return draw(st.lists(one, min_size=2, max_size=max_trees))


def _kinds() -> st.SearchStrategy[list[FeatureKind]]:
    kind = st.sampled_from([FeatureKind.NUMERIC, FeatureKind.CATEGORICAL, FeatureKind.BINARY])
    return st.lists(kind, min_size=1, max_size=3)


@st.composite
def _data_of(
    draw: st.DrawFn,
    kinds: list[FeatureKind],
    *,
    missing: bool,
    max_items: int,
    max_comparisons: int,
    min_comparisons: int = 1,
) -> PairwiseData:
    n_items = draw(st.integers(2, max_items))
    limits = {FeatureKind.NUMERIC: 4, FeatureKind.CATEGORICAL: 5, FeatureKind.BINARY: 1}
    values = []
    for kind in kinds:
        value = st.integers(0, limits[kind]).map(float)
        cell = st.one_of(value, value, value, st.just(np.nan)) if missing else value
        values.append(draw(st.lists(cell, min_size=n_items, max_size=n_items)))
    item = st.integers(0, n_items - 1)
    pair = st.tuples(item, item).filter(lambda two: two[0] != two[1])
    comparisons = draw(st.lists(pair, min_size=min_comparisons, max_size=max_comparisons))
    columns = tuple(column(f"x{k}", kind) for k, kind in enumerate(kinds))
    return PairwiseData(np.array(values, dtype=float).T, columns, np.array(comparisons, dtype=int).reshape(-1, 2))
