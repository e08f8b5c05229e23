"""Users with and without earlier users' answers: both rules of asking again are measured, and their differences."""

from __future__ import annotations

import pandas as pd
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from tasks.asking.history import Cohorts, Histories, history_courses, history_metrics
from tasks.respondents.protocols import read_respondents


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Histories:
    folder = tmp_path_factory.mktemp("sushi")
    source = adapter("sushi")
    simulate(source, folder / "raw", seed=3, users=30)
    [table] = [table for table in build(source, locate(source, folder / "raw")) if table.name == "sushi"]
    respondents = read_respondents(write_table(table, folder))
    return history_courses(respondents, Cohorts(users=30, cohort=10, questions=12, seed=0))


def _course(found: Histories, way: str, *, again: bool) -> pd.DataFrame:
    rows = found.courses[(found.courses["way"] == way) & (found.courses["asked_again"] == again)]
    return rows.set_index("question")


def test_both_ways_are_measured_under_both_rules_after_every_question(found: Histories) -> None:
    for way in ("with_history", "without_history"):
        for again in (False, True):
            course = _course(found, way, again=again)
            assert course.index.tolist() == list(range(13))
            assert set(course["users"]) == {20}


def test_the_differences_are_those_of_the_means(found: Histories) -> None:
    for _, row in found.differences.iterrows():
        with_, without = (
            _course(found, way, again=row["asked_again"]).loc[row["question"], row["measure"]]
            for way in ("with_history", "without_history")
        )
        assert row["estimate"] == pytest.approx(with_ - without)
        assert row["lower"] <= row["estimate"] <= row["upper"]


def test_a_start_from_earlier_users_keeps_its_ties_and_a_tree_of_ones_own_does_not(found: Histories) -> None:
    """The leaves of a group's tree stay; without a pair asked twice, a tree of one's own has told the items apart."""
    with_, without = (_course(found, way, again=False)["tied_favourite"] for way in ("with_history", "without_history"))
    assert without.loc[0] == 1.0
    assert without.loc[12] < without.loc[0]
    assert with_.loc[12] == with_.loc[1]


def test_metrics_name_the_rule(found: Histories) -> None:
    variants = {row.variant for row in history_metrics("sushi", found.courses)}
    assert variants == {
        f"sushi_{way}{rule}" for way in ("with_history", "without_history") for rule in ("", "_ask_again")
    }
