"""The features that trees ask about are counted right, and the gallery shows trees of every size."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from tasks.respondents.many_trees import asked_features, gallery, sensitive_features
from tasks.respondents.protocols import Protocol, Respondents, example_trees, read_respondents


@pytest.fixture(scope="module")
def respondents(tmp_path_factory: pytest.TempPathFactory) -> Respondents:
    folder = tmp_path_factory.mktemp("sushi")
    source = adapter("sushi")
    simulate(source, folder / "raw", seed=4, users=25)
    [table] = [table for table in build(source, locate(source, folder / "raw")) if table.name == "sushi"]
    return read_respondents(write_table(table, folder))


def test_shares_are_those_of_the_single_trees_counted_one_by_one(respondents: Respondents) -> None:
    found = asked_features(respondents, Protocol(), seed=0, test_share=0.2).set_index("feature")
    asked: dict[str, int] = dict.fromkeys(found.index, 0)
    first: dict[str, int] = dict.fromkeys(found.index, 0)
    for user in respondents.user_ids:
        tree = example_trees(respondents, {"it": Protocol()}, user, seed=0)["trees"]["it"]
        features = [tree["columns"][node["column"]]["feature"] for node in tree["nodes"] if node["column"] is not None]
        for name in set(features):
            asked[name] += 1
        if features:
            first[features[0]] += 1
    for name in found.index:
        assert found.loc[name, "asked"] == pytest.approx(asked[name] / 25)
        assert found.loc[name, "first"] == pytest.approx(first[name] / 25)


def test_the_gallery_goes_from_the_smallest_to_the_largest_tree(respondents: Respondents) -> None:
    shown = gallery(respondents, Protocol(), seed=0, test_share=0.2, shown=4)["trees"]
    sizes = [len(entry["tree"]["leaf_mean"]) for entry in shown]
    assert sizes == sorted(sizes)
    assert len({entry["user_id"] for entry in shown}) == 4
    assert min(sizes) > 1


def test_whether_trees_depend_on_a_sensitive_feature_is_read_off_their_splits() -> None:
    asked = pd.DataFrame({"feature": ["age", "faith", "town"], "asked": [0.25, 0.5, 0.75], "possible": [1.0, 0.6, 1.0]})
    columns = [{"feature": "age"}, {"feature": "faith"}, {"feature": "faith"}]
    pooled = {"columns": columns, "nodes": [{"column": 2}, {"column": None}, {"column": None}]}
    found = sensitive_features(asked, ["faith", "age", "unheard_of"], pooled)
    assert [(each.feature, each.asked, each.in_pooled_tree) for each in found] == [
        ("faith", 0.5, True),
        ("age", 0.25, False),
    ]
    assert [each.in_pooled_tree for each in sensitive_features(asked, ["age"], None)] == [None]
    never = asked.assign(asked=0.0, possible=0.0)
    assert [each.asked for each in sensitive_features(never, ["age"], None)] == [None]


def test_the_order_of_columns_moves_no_share_by_more_than_noise(respondents: Respondents) -> None:
    """Every user sees two features that say the same: the tie rule alone decides which of them is asked about."""
    encoded = respondents.encoded["categories"]
    twin = encoded.items[:, [3, 3]]
    shares = []
    for order in ((0, 1), (1, 0)):
        columns = tuple(encoded.columns[3 + at] for at in order)
        both = dataclasses.replace(encoded, items=twin, columns=columns)
        turned = dataclasses.replace(respondents, encoded={**respondents.encoded, "categories": both})
        for tie_break in ("random", "lowest"):
            found = asked_features(turned, Protocol(tie_break=tie_break), seed=0, test_share=0.2)
            shares.append(found.set_index("feature")["first"][columns[0].feature])
    (random, lowest), (random_turned, lowest_turned) = shares[:2], shares[2:]
    assert (lowest, lowest_turned) == (1.0, 1.0), "with the rule lowest, the first column takes every tie"
    assert random == pytest.approx(0.5, abs=0.3)
    assert random_turned == pytest.approx(0.5, abs=0.3)


def test_support_is_a_share_and_is_told_of_the_features_that_are_asked_first(respondents: Respondents) -> None:
    found = asked_features(respondents, Protocol(), seed=0, test_share=0.2)
    known = found["support"].notna()
    assert (known == (found["first"] > 0)).all()
    assert found["support"][known].between(0, 1).all()
    kept = asked_features(respondents, Protocol(straddlers="keep"), seed=0, test_share=0.2)
    assert kept["support"].isna().all()
