"""Leaving a feature out removes all of its columns and nothing else, and the change of accuracy is measured."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.records.features import Column, FeatureKind
from tasks.respondents.leaving_out import delta_intervals, delta_metrics, feature_names, leave_each_out, without_feature
from tasks.respondents.many_trees import possible_shares
from tasks.respondents.protocols import Protocol, Respondents, metric_rows, read_respondents, score_protocol


@pytest.fixture(scope="module")
def respondents(tmp_path_factory: pytest.TempPathFactory) -> Respondents:
    folder = tmp_path_factory.mktemp("sushi")
    source = adapter("sushi")
    simulate(source, folder / "raw", seed=2, users=60)
    [table] = [table for table in build(source, locate(source, folder / "raw")) if table.name == "sushi"]
    return read_respondents(write_table(table, folder))


def test_all_columns_of_a_feature_go_and_no_others(respondents: Respondents) -> None:
    left = without_feature(respondents, "minor_group")
    for way, encoded in left.encoded.items():
        before = respondents.encoded[way]
        assert {column.feature for column in before.columns} - {column.feature for column in encoded.columns} == {
            "minor_group"
        }
        assert encoded.items.shape[1] == len(encoded.columns)


def test_changes_are_differences_of_accuracy_in_points(respondents: Respondents) -> None:
    found = leave_each_out(respondents, Protocol(), seed=0, test_share=0.2).set_index("removed")
    assert tuple(found.index) == feature_names(respondents)
    whole = score_protocol(respondents, Protocol(), seed=0)
    left = score_protocol(without_feature(respondents, "lightness"), Protocol(), seed=0)
    expected = 100 * (left["test_accuracy"].mean() - whole["test_accuracy"].mean())
    assert found.loc["lightness", "test_delta"] == pytest.approx(expected)
    assert found.loc["lightness", "test_accuracy"] == pytest.approx(left["test_accuracy"].mean())


def test_metrics_name_the_removed_feature_as_variant(respondents: Respondents) -> None:
    found = leave_each_out(respondents, Protocol(), seed=0, test_share=0.2)
    rows = delta_metrics("sushi", found)
    assert {(row.variant, row.split) for row in rows} == {
        (name, part) for name in feature_names(respondents) for part in ("train", "test")
    }
    assert {row.metric for row in rows} == {"delta_accuracy"}
    assert {row.n for row in rows} == {60}


def test_metrics_have_the_sign_of_the_change(respondents: Respondents) -> None:
    found = leave_each_out(respondents, Protocol(), seed=0, test_share=0.2).set_index("removed")
    whole = score_protocol(respondents, Protocol(), seed=0)["train_accuracy"].mean()
    for row in delta_metrics("sushi", found.reset_index()):
        assert row.value == found.loc[row.variant, f"{row.split}_delta"]
        if row.split == "train":
            assert row.value == pytest.approx(100 * (found.loc[row.variant, "train_accuracy"] - whole))
    assert found["train_delta"].min() < 0, "without some feature the trees fit less, so that the sign shows"


def test_a_user_of_whom_nothing_is_held_out_has_no_part_in_the_changes(respondents: Respondents) -> None:
    first, others = respondents.users == 0, respondents.users != 0
    kept = np.flatnonzero(first)[:1].tolist() + np.flatnonzero(others).tolist()
    few = dataclasses.replace(respondents, users=respondents.users[kept], comparisons=respondents.comparisons[kept])
    scores = score_protocol(few, Protocol(), seed=0)
    assert np.isnan(scores["test_accuracy"].iloc[0])
    found = leave_each_out(few, Protocol(), seed=0, test_share=0.2)
    assert set(found["users"]) == {59}
    rows = {(row.metric, row.split): row for row in metric_rows("sushi", "it", scores)}
    assert (rows["accuracy", "test"].n, rows["accuracy", "train"].n) == (59, 60)
    assert rows["accuracy", "test"].value == pytest.approx(scores["test_accuracy"].iloc[1:].mean())
    [own] = {row.n for row in delta_metrics("sushi", found)}
    assert own == 59


def test_intervals_are_of_95_percent_and_the_most_useful_feature_comes_first() -> None:
    """With a standard deviation of 10 over 100 users, Student's interval reaches 1.984 points to either side."""
    found = pd.DataFrame(
        {
            "removed": ["spare", "never asked", "harmful", "useful"],
            "test_delta": [-1.9, np.nan, 2.0, -2.0],
            "test_delta_sd": [10.0, np.nan, 10.0, 10.0],
            "users": 100,
        }
    )
    ordered = delta_intervals(found)
    assert ordered["removed"].tolist() == ["useful", "spare", "harmful", "never asked"]
    assert ordered["estimate"].tolist()[:3] == [-2.0, -1.9, 2.0]
    assert ordered["lower"].tolist()[:3] == pytest.approx([-3.984, -3.884, 0.016], abs=1e-3)
    assert ordered["upper"].tolist()[:3] == pytest.approx([-0.016, 0.084, 3.984], abs=1e-3)
    assert ordered[["estimate", "lower", "upper"]].iloc[3].isna().all()


def test_what_no_tree_could_ask_about_has_no_number(respondents: Respondents) -> None:
    """An item's own label as a category of ten levels, which a question may not sort, beside features that decide."""
    codes = np.arange(len(respondents.encoded["categories"].items), dtype=float)[:, None]
    label = Column(name="label", feature="style", kind=FeatureKind.CATEGORICAL)
    encoded = respondents.encoded["categories"]
    at = [column.feature for column in encoded.columns].index("style")
    items, columns = encoded.items.copy(), list(encoded.columns)
    items[:, at], columns[at] = codes[:, 0], label
    only = [at]  # the only feature: no other question makes the nodes small
    alone = dataclasses.replace(encoded, items=items[:, only], columns=tuple(columns[k] for k in only))
    changed = dataclasses.replace(respondents, encoded={**respondents.encoded, "categories": alone})
    shares = possible_shares(changed, Protocol(), seed=0, test_share=0.2)
    assert shares["style"] == 0.0
    assert possible_shares(changed, Protocol(encoding="categorical"), seed=0, test_share=0.2)["style"] == 1.0


def test_a_feature_no_tree_could_ask_about_is_left_out_of_the_metrics() -> None:
    row = {"train_delta": 0.0, "train_delta_sd": 0.0, "test_delta": 0.0, "test_delta_sd": 0.0, "users": 10}
    found = pd.DataFrame([{"removed": "asked", "possible": 0.5, **row}, {"removed": "never", "possible": 0.0, **row}])
    assert {each.variant for each in delta_metrics("conjoint", found)} == {"asked"}
