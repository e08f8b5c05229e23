"""Trees of all users under a protocol equal those fitted user by user, and reproduce the published figures."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.trees.preference_tree import PreferenceTree
from tasks.respondents.protocols import (
    Protocol,
    Respondents,
    example_trees,
    metric_rows,
    over_users,
    protocol_grid,
    read_respondents,
    score_pooled,
    score_protocol,
    summarise_protocol,
    typical_user,
)


def table_folder(raw: Path, out: Path) -> Path:
    source = adapter("sushi")
    [table] = [table for table in build(source, locate(source, raw, allow_unpinned=False)) if table.name == "sushi"]
    return write_table(table, out)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Respondents:
    folder = tmp_path_factory.mktemp("simulated")
    simulate(adapter("sushi"), folder / "raw", seed=3, users=40)
    return read_respondents(table_folder(folder / "raw", folder))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Respondents:
    raw = os.environ.get("PREFSTUDY_RAW")
    if not raw:
        pytest.skip("PREFSTUDY_RAW is not set: no real sushi data")
    return read_respondents(table_folder(Path(raw), tmp_path_factory.mktemp("real")))


def test_the_grid_has_every_combination_once() -> None:
    grid = protocol_grid()
    assert len(grid) == len(set(grid)) == 2 * 2 * 3 * 4 * 3
    assert Protocol() in grid


@pytest.mark.parametrize("old", ["discarded", "kept"])
def test_the_old_words_for_straddlers_are_refused_and_name_variants_only(old: str) -> None:
    with pytest.raises(ValueError, match="straddlers is now 'discard' or 'keep': write"):
        Protocol(straddlers=old)
    assert f"straddlers_{old}" in {protocol.variant for protocol in protocol_grid()}


@pytest.mark.parametrize("straddlers", ["discard", "keep"])
def test_all_users_at_once_score_as_each_alone(simulated: Respondents, straddlers: str) -> None:
    protocol = Protocol(straddlers=straddlers, tie_break="random")
    scores = score_protocol(simulated, protocol, seed=1)
    for user_id in simulated.user_ids[:5]:
        example = example_trees(simulated, {"it": protocol}, user_id, seed=1)["trees"]["it"]
        tree = PreferenceTree.from_dict({key: value for key, value in example.items() if key != "leaf_items"})
        alone = scores[scores["user_id"] == user_id].iloc[0]
        assert (tree.n_leaves_, tree.depth_) == (alone["leaves"], alone["depth"])


def test_a_user_scores_the_same_whoever_else_is_there(simulated: Respondents, tmp_path: Path) -> None:
    few = read_respondents(write_table(simulated.table, tmp_path), users=7)
    protocol = Protocol(tie_break="random")
    whole = score_protocol(simulated, protocol, seed=1)
    pd.testing.assert_frame_equal(score_protocol(few, protocol, seed=1), whole.iloc[:7])


def test_held_out_items_are_unknown_to_the_tree(simulated: Respondents) -> None:
    """With the pairs of two items held out, 28 pairs among eight items remain; the tree fits them without an error."""
    scores = score_protocol(simulated, Protocol(split="item"), seed=1)
    assert (scores["leaves"] <= 8).all()
    assert (scores["test_accuracy"] * 17 * 2 % 1 < 1e-9).all()


def test_metrics_are_means_over_users(simulated: Respondents) -> None:
    scores = score_protocol(simulated, Protocol(), seed=1)
    rows = metric_rows("sushi", "straddlers_discarded", scores)
    assert [(row.metric, row.split) for row in rows] == [
        *itertools.product(["accuracy", "strict_accuracy", "decided_share"], ["train"]),
        *itertools.product(["accuracy", "strict_accuracy", "decided_share"], ["test"]),
        ("leaves", "train"),
        ("depth", "train"),
    ]
    by_key = {(row.metric, row.split): row for row in rows}
    assert by_key["accuracy", "test"].value == pytest.approx(scores["test_accuracy"].mean())
    assert by_key["accuracy", "test"].n == 40
    summary = summarise_protocol(Protocol(), scores)
    assert summary["test_accuracy"] == by_key["accuracy", "test"].value
    assert summary["test_accuracy_sd"] == by_key["accuracy", "test"].sd


def test_one_tree_for_all_is_judged_on_what_is_held_out_from_each(simulated: Respondents) -> None:
    protocol = Protocol(max_depth=3)
    tree, scores = score_pooled(simulated, protocol, seed=1)
    assert tree.depth_ <= 3
    assert list(scores["user_id"]) == list(simulated.user_ids)
    assert set(scores["leaves"]) == {tree.n_leaves_}
    assert (scores["test_accuracy"] * 9 * 2 % 1 < 1e-9).all()
    items = simulated.encoded["categories"].items
    over_all = tree.accuracies(items, simulated.comparisons).accuracy[0]
    assert (36 * scores["train_accuracy"] + 9 * scores["test_accuracy"]).mean() / 45 == pytest.approx(over_all)


def test_one_tree_for_one_user_is_her_own(simulated: Respondents, tmp_path: Path) -> None:
    alone = read_respondents(write_table(simulated.table, tmp_path), users=1)
    lowest = Protocol(tie_break="lowest")  # ties at random are drawn anew for each user, and for the tree of all
    _, pooled = score_pooled(alone, lowest, seed=1)
    pd.testing.assert_frame_equal(pooled, score_protocol(alone, lowest, seed=1), check_dtype=False)


def test_the_typical_user_has_a_tree_of_the_median_size(simulated: Respondents) -> None:
    scores = score_protocol(simulated, Protocol(), seed=1)
    chosen = scores[scores["user_id"] == typical_user(scores)].iloc[0]
    assert abs(chosen["leaves"] - scores["leaves"].median()) <= 0.5


def test_an_example_lists_the_users_own_ranking(simulated: Respondents) -> None:
    user_id = simulated.user_ids[0]
    example = example_trees(simulated, {"straddlers_discarded": Protocol()}, user_id, seed=1)
    wins = np.bincount(simulated.comparisons[simulated.users == 0][:, 0], minlength=10)
    labels = simulated.table.items["label"].to_pylist()
    assert example["ranking"] == [labels[item] for item in np.argsort(-wins)]
    in_leaves = sorted(label for leaf in example["trees"]["straddlers_discarded"]["leaf_items"] for label in leaf)
    assert in_leaves == sorted(labels)
    with pytest.raises(ValueError, match="no user 'nobody' among the 40 users"):
        example_trees(simulated, {}, "nobody", seed=1)


def test_on_the_real_rankings_keeping_straddlers_gives_the_published_accuracy_and_discarding_does_not(
    real: Respondents,
) -> None:
    """dt-pbo Table 1: train 0.998, test 0.888."""
    kept = summarise_protocol(Protocol(straddlers="keep"), score_protocol(real, Protocol(straddlers="keep"), seed=0))
    discarded = summarise_protocol(Protocol(), score_protocol(real, Protocol(), seed=0))
    assert kept["train_accuracy"] == pytest.approx(0.998, abs=0.001)
    assert kept["test_accuracy"] == pytest.approx(0.888, abs=0.005)
    assert 0.984 < discarded["train_accuracy"] < 0.989
    assert 0.848 < discarded["test_accuracy"] < 0.862
    assert discarded["leaves"] < 10 < kept["leaves"]


def test_an_interval_of_shares_is_one_of_shares_and_there_is_none_without_spread() -> None:
    assert over_users(pd.Series([1.0, 1.0, 1.0]), share=True) == {}
    assert over_users(pd.Series([1.0, 1.0, 0.5]), share=True)["upper"] == 1.0
    assert over_users(pd.Series([1.0, 1.0, 0.5]), share=False)["upper"] > 1.0
