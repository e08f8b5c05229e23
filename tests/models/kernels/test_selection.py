"""How models of duels are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from models.kernels.selection import Chosen, Tuning, choose, median_settings
from models.records.duel_results import ALL_FEATURES
from models.records.features import Column, FeatureKind
from models.scores.duel_splits import Duels, Split, hold_out

SPEED = Column(name="speed", feature="speed", kind=FeatureKind.NUMERIC)
WEIGHT = Column(name="weight", feature="weight", kind=FeatureKind.NUMERIC)
SURFACE = Column(name="surface", feature="surface", kind=FeatureKind.CATEGORICAL, levels=("grass", "clay"))


@pytest.fixture(scope="module")
def duels() -> Duels:
    """The faster one wins; the weight says nothing."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(24, 2))
    pairs = np.array([[a, b] for a in range(24) for b in range(a)])
    ahead = items[pairs[:, 0], 0] > items[pairs[:, 1], 0]
    return Duels(
        items=items, columns=(SPEED, WEIGHT), comparisons=np.where(ahead[:, None], pairs, pairs[:, ::-1]),
        left_wins=ahead, keys=np.arange(len(pairs), dtype=np.uint64), contexts=np.array([[0.0], [1.0]]),
        context_columns=(SURFACE,), context_of=rng.integers(2, size=len(pairs)),
    )  # fmt: skip


def test_the_search_lengthens_the_scale_of_a_feature_that_says_nothing(duels):
    split = hold_out(duels, "split_first", validation_share=0.2, test_share=0.1, seed=0)
    scales = choose("gpm", duels, split, Tuning(steps=8, rank=None), seed=0).lengthscales
    assert scales["weight"] > scales["speed"]


def test_test_duels_take_no_part_in_the_choice(duels):
    split = hold_out(duels, "split_first", validation_share=0.2, test_share=0.2, seed=0)
    altered = duels.comparisons.copy()
    altered[split.test] = altered[split.test, ::-1]
    spoilt = Duels(**{**vars(duels), "comparisons": altered})
    for kind in ("gpm", "preference_tree"):
        one, other = (choose(kind, each, split, Tuning(steps=3), seed=0) for each in (duels, spoilt))
        assert one == other


def test_both_copies_of_a_doubled_duel_are_in_the_same_inner_fold(duels):
    """A tree that memorises is not rewarded for having seen the copy: noise stays noise."""
    rng = np.random.default_rng(1)
    flipped = rng.random(len(duels.comparisons)) < 0.5
    noise = np.where(flipped[:, None], duels.comparisons[:, ::-1], duels.comparisons)
    doubled = np.tile(np.arange(len(noise)), 2)
    none = np.zeros(0, dtype=np.int64)
    split = Split(doubled, none, none, np.zeros(0, dtype=np.bool_))
    noisy = Duels(**{**vars(duels), "comparisons": noise})
    tuning = Tuning(inner_folds=3, lengthscales=(0.1,), penalties=(1e-6,))
    assert choose("gpm", noisy, split, tuning, seed=0).validation_loss > 0.6


def chosen(**settings: object) -> Chosen:
    return Chosen(**{"model": "c_gpm", "validation_loss": 0.5, **settings})


def test_medians_are_over_splits_and_keep_items_and_contexts_apart():
    each = [
        chosen(lengthscales={"a": 1.0, "b": 5.0}, context_lengthscales={"a": 9.0}, penalty=0.1),
        chosen(lengthscales={"a": 2.0}, context_lengthscales={"a": 7.0}, penalty=0.3),
        chosen(lengthscales={"a": 4.0, "b": 7.0}, context_lengthscales={"a": 8.0}, penalty=0.2),
        chosen(model="upm", lengthscales=3.0, penalty=10.0),
    ]
    found = median_settings("c_gpm", each)
    assert found.lengthscales == {"a": 2.0, "b": 6.0}
    assert found.context_lengthscales == {"a": 8.0}
    assert (found.penalty, found.utility, found.max_depth) == (0.2, None, None)
    assert median_settings("upm", each).lengthscales == {ALL_FEATURES: 3.0}


def test_the_median_weight_of_a_utility_is_of_models_that_have_one():
    each = [chosen(model="gpm_u", penalty=1.0, utility=weight) for weight in (1.0, 10.0, 3.0)]
    assert median_settings("gpm_u", each).utility == 3.0


@pytest.mark.parametrize(
    ("depths", "median"), [((2, 4), 4), ((8, 2, 3), 3), ((2, None, None), None), ((None, 2, 3), 3)]
)
def test_no_depth_limit_counts_as_the_deepest(depths, median):
    each = [chosen(model="preference_tree", max_depth=depth) for depth in depths]
    assert median_settings("preference_tree", each).max_depth == median


def test_median_settings_of_a_model_without_choices_are_an_error():
    with pytest.raises(ValueError, match="nothing was chosen for gpm"):
        median_settings("gpm", [chosen()])
