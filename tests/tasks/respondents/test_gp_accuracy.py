"""Each user's Gaussian process is scored on the same comparisons as her tree, portion by portion."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.records.published import published_by_split
from tasks.respondents.gp_accuracy import gp_metrics, gp_portions, score_gp, users_part
from tasks.respondents.protocols import Protocol, Respondents, read_respondents


@pytest.fixture(scope="module")
def respondents(tmp_path_factory: pytest.TempPathFactory) -> Respondents:
    folder = tmp_path_factory.mktemp("sushi")
    source = adapter("sushi")
    simulate(source, folder / "raw", seed=5, users=12)
    [table] = [table for table in build(source, locate(source, folder / "raw")) if table.name == "sushi"]
    return read_respondents(write_table(table, folder))


@pytest.fixture(scope="module")
def scores(respondents: Respondents) -> pd.DataFrame:
    return score_gp(respondents, Protocol(), seed=0, test_share=0.2)


def test_a_process_learns_the_comparisons_it_is_fitted_to(scores: pd.DataFrame) -> None:
    assert scores["train_accuracy"].mean() > 0.95
    assert scores["test_accuracy"].mean() > 0.7
    assert (scores["test_accuracy"] * 18 % 1 < 1e-9).all(), "nine held-out pairs each, a tie counts one half"


def test_portions_of_users_score_as_all_together(respondents: Respondents, scores: pd.DataFrame) -> None:
    part = score_gp(users_part(respondents, slice(5, 8)), Protocol(), seed=0, test_share=0.2)
    expected = scores.iloc[5:8].reset_index(drop=True)
    assert part["user_id"].tolist() == expected["user_id"].tolist()
    np.testing.assert_allclose(part["test_accuracy"], expected["test_accuracy"])


def test_portions_cover_everybody_once() -> None:
    covered = [user for portion in gp_portions(601) for user in range(portion.start, portion.stop)]
    assert covered == list(range(601))


def test_metrics_stand_beside_what_was_published_of_the_process(scores: pd.DataFrame) -> None:
    published = published_by_split({"train": 0.997, "test": 0.895}, model="preference_gp", source="dt-pbo, Table 1")
    rows = gp_metrics("sushi", scores, published)
    assert {row.model for row in rows} == {"preference_gp"}
    assert {(row.metric, row.split): row.published for row in rows}["accuracy", "test"] == 0.895
    assert {row.metric for row in rows} == {"accuracy", "strict_accuracy", "decided_share"}
