"""What a feature is worth is found by taking it away, all columns of it, and nothing else."""

from __future__ import annotations

import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from tasks.respondents.leaving_out import delta_metrics, feature_names, leave_each_out, without_feature
from tasks.respondents.protocols import Protocol, Respondents, read_respondents, score_protocol


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
    left = score_protocol(without_feature(respondents, "oiliness"), Protocol(), seed=0)
    expected = 100 * (left["test_accuracy"].mean() - whole["test_accuracy"].mean())
    assert found.loc["oiliness", "test_delta"] == pytest.approx(expected)
    assert found.loc["oiliness", "test_accuracy"] == pytest.approx(left["test_accuracy"].mean())


def test_metrics_name_the_removed_feature_as_variant(respondents: Respondents) -> None:
    found = leave_each_out(respondents, Protocol(), seed=0, test_share=0.2)
    rows = delta_metrics("sushi", found)
    assert {(row.variant, row.split) for row in rows} == {
        (name, part) for name in feature_names(respondents) for part in ("train", "test")
    }
    assert {row.metric for row in rows} == {"delta_accuracy"}
    assert {row.n for row in rows} == {60}
