"""Comparisons of protocols: the variant that reproduces the published accuracies, and the best other choice."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from models.records.published import published_by_split
from tasks.respondents.comparing_protocols import nearest_protocols, protocol_effects
from tasks.respondents.protocols import Protocol

PUBLISHED = published_by_split({"train": 0.99, "test": 0.90}, model="preference_tree", source="the paper")
DISCARD, KEEP = (variant.straddlers for variant in (Protocol(), Protocol(straddlers="keep")))


def tried() -> pd.DataFrame:
    """Two variants under two splits and two encodings: keeping adds 10 points, one-hot columns 2, items take 4 away."""
    rows = []
    for straddlers, split, encoding in product((DISCARD, KEEP), ("pair", "item"), ("categorical_3", "one_hot")):
        test = 0.8 + 0.1 * (straddlers == KEEP) - 0.04 * (split == "item") + 0.02 * (encoding == "one_hot")
        protocol = Protocol(straddlers=straddlers, split=split, encoding=encoding)
        rows.append(
            {
                **protocol.model_dump(),
                "train_accuracy": 0.99,
                "test_accuracy": test,
                "test_strict_accuracy": test - 0.1,
                "leaves": 40.0 if straddlers == KEEP else 8.0,
            }
        )
    return pd.DataFrame(rows)


def test_the_variant_whose_nearest_protocol_is_within_half_a_point_reproduces_the_published_pair() -> None:
    found = nearest_protocols(tried(), PUBLISHED)
    assert (found.train, found.test, found.source, found.others_tried) == (0.99, 0.90, "the paper", True)
    assert found.reproducing == ("straddlers_kept",)
    near, far = found.nearest
    assert (near.variant, near.among, near.leaves) == ("straddlers_kept", 4, 40.0)
    assert near.distance == pytest.approx(0.0)
    assert (far.variant, far.choices["encoding"]) == ("straddlers_discarded", "one_hot")
    assert far.distance == pytest.approx(0.08)


def test_nothing_is_near_where_nothing_was_published() -> None:
    found = nearest_protocols(tried(), ())
    assert (found.source, found.nearest, found.reproducing) == (None, (), ())


def test_the_two_variants_alone_are_no_other_protocols() -> None:
    own = tried().query("split == 'pair' and encoding == 'categorical_3'")
    assert not nearest_protocols(own, PUBLISHED).others_tried
    found = protocol_effects(own)
    assert [(effect.choice, effect.pairs) for effect in found.effects] == [("straddlers", 1)]
    assert found.best_other is None


def test_the_best_other_choice_is_the_one_that_adds_most_to_test_accuracy() -> None:
    found = protocol_effects(tried())
    assert [(effect.choice, effect.level, effect.reference, effect.pairs) for effect in found.effects] == [
        ("straddlers", KEEP, DISCARD, 4),
        ("split", "item", "pair", 4),
        ("encoding", "one_hot", "categorical_3", 4),
    ]
    assert found.best_other == 2
    assert found.effects[0].change["test_accuracy"] == pytest.approx(0.1)
    assert found.effects[1].change["test_strict_accuracy"] == pytest.approx(-0.04)
    assert found.effects[0].change["leaves"] == pytest.approx(32.0)
