"""The synthetic matches: drawn as published, decided by the covariate of the two clusters, fair between clusters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from data_adapters.catalogue import adapter
from data_adapters.codebooks.synthetic import CLUSTERS, COVARIATES, DECIDES
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The items by their id, and the matches with the features of both items."""
    folder = tmp_path_factory.mktemp("synthetic") / "raw"
    source = adapter("synthetic")
    simulate(source, folder, seed=1)
    [table] = build(source, locate(source, folder))
    return table.items.to_pandas().set_index("item_id"), table.comparisons.to_pandas()


def test_as_many_are_drawn_as_published(drawn: tuple[pd.DataFrame, pd.DataFrame]):
    items, matches = drawn
    assert (len(items), len(matches)) == (1_000, 40_000)
    assert items["cluster"].value_counts().between(280, 390).all()
    assert items[list(COVARIATES)].mean().abs().max() < 0.15
    assert np.corrcoef(items[list(COVARIATES)].T)[np.triu_indices(4, 1)] == pytest.approx(0.0, abs=0.12)


def test_the_covariate_of_the_two_clusters_decides_every_match(drawn: tuple[pd.DataFrame, pd.DataFrame]):
    items, matches = drawn
    left, right = items.loc[matches["left_id"]], items.loc[matches["right_id"]]
    for one, row in zip(CLUSTERS, DECIDES, strict=True):
        for other, deciding in zip(CLUSTERS, row, strict=True):
            met = (left["cluster"].to_numpy() == one) & (right["cluster"].to_numpy() == other)
            higher = left[deciding].to_numpy()[met] > right[deciding].to_numpy()[met]
            assert met.sum() > 3_000
            assert np.array_equal(higher, matches["left_wins"].to_numpy()[met])


def test_no_pair_is_drawn_twice_in_one_order(tmp_path: Path):
    source = adapter("synthetic")
    simulate(source, tmp_path / "raw", seed=2, users=12)
    text = (tmp_path / "raw" / "matches.csv").read_text().splitlines()[1:]
    pairs = [tuple(line.split(",")[:2]) for line in text]
    assert len(pairs) == len(set(pairs)) == 12 * 11
