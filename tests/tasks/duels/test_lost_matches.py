"""One player's losses, explained on simulated matches whose rule is known."""

from __future__ import annotations

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.pairwise_table import PairwiseTable
from models.kernels.gpm import CGPM
from models.records.errors import UsageError
from tasks.duels.explanation_settings import ExplainConfig
from tasks.duels.lost_matches import Losses, explain_losses


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> PairwiseTable:
    source, folder = adapter("tennis"), tmp_path_factory.mktemp("raw")
    simulate(source, folder, seed=0, users=80)
    [table] = build(source, locate(source, folder, allow_unpinned=False))
    return table


def explained(table: PairwiseTable, player: str) -> Losses:
    model = CGPM(rank=80, penalty=1e-3, tolerance=1e-3)
    return explain_losses(table, player, config=ExplainConfig(), seed=0, model=model)


def player(table: PairwiseTable, *, losing: bool = True) -> tuple[str, str, int]:
    """The id and name of a player who lost, and the number of losses."""
    comparisons = table.comparisons.to_pandas()
    lost = comparisons["right_id"].where(comparisons["left_wins"], comparisons["left_id"]).value_counts()
    item = lost.index[0]
    labels = dict(zip(table.items["item_id"].to_pylist(), table.items["label"].to_pylist(), strict=True))
    return item, labels[item], int(lost.iloc[0])


@pytest.fixture(scope="module")
def losses(table) -> Losses:
    return explained(table, player(table)[1].upper())


def test_every_loss_is_explained_by_the_two_and_by_where_it_was(table, losses):
    item, name, lost = player(table)
    assert losses.player == name
    assert len(losses.by_items.explanation.values) == len(losses.contexts) == lost
    assert losses.by_items.explanation.players == (
        "birth_year", "turned_pro", "weight", "height", "handedness", "backhand",
    )  # fmt: skip
    assert losses.by_contexts.explanation.players == ("conditions", "surface")
    assert set(losses.contexts) <= {
        f"{place}, {surface}" for place in ("indoor", "outdoor") for surface in ("Hard", "Clay", "Grass", "Carpet")
    }
    assert explained(table, item).player == name


def test_the_surface_matters_and_the_roof_does_not_as_the_simulation_has_it(losses):
    conditions, surface = np.abs(losses.by_contexts.explanation.values).mean(axis=0)
    assert surface > 2 * conditions


def test_what_the_rule_does_not_look_at_matters_least(losses):
    sizes = dict(
        zip(losses.by_items.explanation.players, np.abs(losses.by_items.explanation.values).mean(axis=0), strict=True)
    )
    assert max(sizes["handedness"], sizes["backhand"]) < min(sizes["birth_year"], sizes["height"])


def test_an_unknown_player_is_refused_with_those_who_may_be_meant(table):
    name = player(table)[1]
    with pytest.raises(UsageError, match=f"no '{name}x' among the .* players of tennis. Did you mean .*{name}"):
        explained(table, f"{name}x")


def test_features_and_places_are_summaries_of_the_explained_losses(losses):
    values = losses.by_items.explanation.values
    assert [each.importance for each in losses.features] == sorted(np.abs(values).mean(axis=0), reverse=True)
    assert losses.gap.gap == pytest.approx(np.abs(losses.by_items.explanation.gap).mean())
    assert sum(place.losses for place in losses.places) == len(losses.contexts)
    assert [place.losses for place in losses.places] == sorted([place.losses for place in losses.places], reverse=True)
    first = losses.places[0]
    there = np.array(losses.contexts) == first.words
    assert first.means == pytest.approx(losses.by_contexts.explanation.values[there].mean(axis=0))
