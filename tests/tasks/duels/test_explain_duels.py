"""The duels that are explained, and the features or groups of features that are the players."""

from __future__ import annotations

import numpy as np
import pytest

from models.kernels.gpm import CGPM, GPM, UPM
from models.records.errors import UsageError
from models.records.features import Column, FeatureKind
from models.scores.duel_splits import Duels
from models.shap.explanation import REST, ShapSettings
from tasks.duels.explain_duels import explain_duels, pooled
from tasks.duels.explanation_settings import DuelKind

SETTINGS = ShapSettings()
COLUMNS = (
    Column(name="speed", feature="speed", kind=FeatureKind.NUMERIC),
    Column(name="cluster", feature="cluster", kind=FeatureKind.CATEGORICAL, levels=("A", "B", "C")),
    *(
        Column(name=f"types={level}", feature="types", kind=FeatureKind.BINARY, levels=("no", "yes"))
        for level in ("fire", "water", "rock")
    ),
)
SURFACE = Column(name="surface", feature="surface", kind=FeatureKind.CATEGORICAL, levels=("grass", "clay"))
HELD_OUT = np.arange(100, 160)


@pytest.fixture(scope="module")
def duels() -> Duels:
    rng = np.random.default_rng(0)
    items = np.column_stack(
        [rng.normal(size=30), rng.integers(3, size=30), np.eye(3)[rng.integers(3, size=30)]]
    )  # fmt: skip
    left = rng.integers(30, size=160)
    right = (left + rng.integers(1, 30, size=160)) % 30
    surface = rng.integers(2, size=160)
    wins = (items[left, 0] > items[right, 0]) ^ (surface == 1)
    pairs = np.where(wins[:, None], np.stack([left, right], 1), np.stack([right, left], 1))
    return Duels(
        items=items, columns=COLUMNS, comparisons=pairs, left_wins=wins, keys=np.arange(160, dtype=np.uint64),
        contexts=np.array([[0.0], [1.0]]), context_columns=(SURFACE,), context_of=surface,
    )  # fmt: skip


@pytest.fixture(scope="module")
def models(duels) -> dict[str, GPM | CGPM | UPM]:
    items, pairs = duels.items, duels.comparisons[:100]
    return {
        "c_gpm": CGPM(COLUMNS, (SURFACE,), penalty=1e-2).fit(items, pairs, duels.contexts, duels.context_of[:100]),
        "upm": UPM(COLUMNS, penalty=1e-2).fit(items, pairs),
    }


def explain(duels: Duels, models: dict[str, GPM | CGPM | UPM], **kind: object):
    kinds = [DuelKind(name="kind", title="A kind", **kind)]
    named = {"Pikachu": 4}
    return explain_duels(kinds, models, duels, HELD_OUT, most=1_000, settings=SETTINGS, items_named=named)


def test_held_out_duels_are_explained_by_every_model_with_a_player_a_feature(duels, models):
    c_gpm, upm = explain(duels, models)
    assert (c_gpm.model, upm.model) == ("c_gpm", "upm")
    assert c_gpm.explanation.players == upm.explanation.players == ("speed", "cluster", "types")
    assert len(c_gpm.explanation.values) == 60
    np.testing.assert_allclose(
        upm.explanation.score, models["upm"].decision_function(duels.items, duels.comparisons[HELD_OUT]), atol=1e-10
    )


def test_only_a_model_that_knows_contexts_is_explained_by_them(duels, models):
    [found] = explain(duels, models, by_contexts=True)
    assert (found.model, found.of, found.explanation.players) == ("c_gpm", "contexts", ("surface",))
    expected = models["c_gpm"].decision_function(
        duels.items, duels.comparisons[HELD_OUT], duels.contexts, duels.context_of[HELD_OUT]
    )
    np.testing.assert_allclose(found.explanation.score, expected, atol=1e-10)


def test_duels_can_be_those_of_one_level_with_another_or_within_some_levels_or_in_a_context(duels, models):
    pairs, upm = duels.comparisons[HELD_OUT], {"upm": models["upm"]}
    clusters, fire_or_water = duels.items[pairs, 1], duels.items[pairs, 4] == 0
    of_a_and_b = (np.sort(clusters, axis=1) == [0, 1]).all(axis=1).sum()
    found = [
        len(explain(duels, upm, **kind)[0].explanation.values)
        for kind in (
            {"between": ("cluster", "A", "B")}, {"within": ("types", ("fire", "water"))}, {"where": ("surface", "clay")}
        )
    ]  # fmt: skip
    assert found == [of_a_and_b, fire_or_water.all(axis=1).sum(), (duels.context_of[HELD_OUT] == 1).sum()]
    both = {"between": ("cluster", "A", "B"), "where": ("surface", "clay")}
    assert 0 < len(explain(duels, upm, **both)[0].explanation.values) < of_a_and_b


def test_columns_can_be_players_apart_with_all_else_as_one(duels, models):
    found = explain(duels, models, apart=("types=fire", "types=water"))
    assert found[0].explanation.players == ("types=fire", "types=water", REST)


def test_features_can_be_one_player_together(duels, models):
    found = explain(duels, models, together=("kind", ("cluster", "types")))
    assert found[0].explanation.players == ("speed", "kind")
    absent = explain(duels, models, together=("kind", ("weight",)))
    assert absent[0].explanation.players == ("speed", "cluster", "types")


def test_what_one_item_lost_is_explained_whether_held_out_or_not(duels, models):
    [found] = explain(duels, {"upm": models["upm"]}, lost_by="Pikachu")
    lost = (duels.comparisons[:, 1] == 4).sum()
    assert len(found.explanation.values) == lost > ((duels.comparisons[HELD_OUT, 1]) == 4).sum()


def test_of_many_duels_some_are_drawn_by_the_seed(duels, models):
    kinds, upm = [DuelKind(name="kind", title="A kind")], {"upm": models["upm"]}
    one, again, other = (
        explain_duels(kinds, upm, duels, HELD_OUT, most=20, settings=ShapSettings(seed=seed))[0].explanation.values
        for seed in (1, 1, 2)
    )
    assert len(one) == 20
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_the_folds_of_a_cross_validation_are_pooled(duels, models):
    upm, kinds = {"upm": models["upm"]}, [DuelKind(name="kind", title="A kind")]
    parts = [
        explain_duels(kinds, upm, duels, rows, most=1_000, settings=SETTINGS) for rows in (HELD_OUT[:20], HELD_OUT[20:])
    ]
    [together], [at_once] = pooled(parts), explain_duels(kinds, upm, duels, HELD_OUT, most=1_000, settings=SETTINGS)
    np.testing.assert_allclose(together.explanation.values, at_once.explanation.values, atol=1e-12)
    np.testing.assert_allclose(together.explanation.gap, at_once.explanation.gap, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        ({"between": ("cluster", "A", "D")}, "cluster has no level 'D'. Its levels: A, B, C"),
        ({"where": ("altitude", "high")}, "there is no column 'altitude'. Columns: surface"),
        ({"within": ("types", ())}, "kind: none of the 60 held-out duels is of this kind"),
        ({"lost_by": "Raichu"}, "kind: there is no item named 'Raichu'"),
    ],
)
def test_duels_that_there_are_not_are_refused(duels, models, kind, complaint):
    with pytest.raises(UsageError, match=complaint):
        explain(duels, models, **kind)
