"""Plain models of respondents: the same held-out choices as the trees, and respondents never seen."""

from __future__ import annotations

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.records.studies.respondent_results import COIN, COVARIATE_LOGIT, DIFFERENCE_LOGIT, MAJORITY, POOLED
from tasks.respondents import plain_models
from tasks.respondents.plain_models import plain_metrics, score_held_out, score_unseen
from tasks.respondents.protocols import Protocol, Respondents, read_respondents


@pytest.fixture(scope="module")
def sushi(tmp_path_factory: pytest.TempPathFactory) -> Respondents:
    folder = tmp_path_factory.mktemp("plain")
    source = adapter("sushi")
    simulate(source, folder / "raw", seed=0, users=40)
    table, *_ = build(source, locate(source, folder / "raw"))
    return read_respondents(write_table(table, folder))


def test_a_coin_is_right_half_the_time_and_every_plain_model_is_scored_for_every_user(sushi: Respondents):
    found = score_held_out(sushi, Protocol(), seed=0, test_share=0.2)
    assert list(found) == [COIN, MAJORITY, DIFFERENCE_LOGIT, COVARIATE_LOGIT]
    assert all(scores["user_id"].tolist() == list(sushi.user_ids) for scores in found.values())
    assert (found[COIN]["accuracy"] == 0.5).all()
    assert found[DIFFERENCE_LOGIT]["accuracy"].mean() > 0.55


def test_a_user_never_seen_is_predicted_without_any_of_her_choices(sushi: Respondents, monkeypatch: pytest.MonkeyPatch):
    seen = []
    real = plain_models._predicted

    def watched(respondents: Respondents, train):
        seen.append(train)
        return real(respondents, train)

    monkeypatch.setattr(plain_models, "_predicted", watched)
    found = score_unseen(sushi, Protocol(max_depth=4), tuned=False, seed=0)
    tested = np.sum([~train for train in seen], axis=0)
    assert (tested == 1).all()
    for train in seen:
        assert not set(sushi.users[train].tolist()) & set(sushi.users[~train].tolist())
    assert list(found) == [POOLED, COIN, MAJORITY, DIFFERENCE_LOGIT, COVARIATE_LOGIT]
    rows = plain_metrics("sushi", {}, found)
    assert {(row.split, row.n) for row in rows} == {("unseen_users", 40)}


def test_groups_of_users_do_not_depend_on_the_order_of_comparisons(sushi: Respondents):
    turned = Respondents(
        sushi.table, sushi.encoded, sushi.users[::-1], sushi.comparisons[::-1], sushi.user_ids, sushi.user_keys
    )
    one, other = (score_unseen(each, Protocol(max_depth=2), tuned=False, seed=0)[MAJORITY] for each in (sushi, turned))
    assert np.allclose(one["accuracy"], other["accuracy"])
