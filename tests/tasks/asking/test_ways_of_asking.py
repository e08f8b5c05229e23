"""Asking users by their rankings: the measures in each row, and one user's questions do not depend on the others."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.build import build
from data_adapters.source.locate import locate
from data_adapters.source.simulation import simulate
from data_adapters.table.parquet import write_table
from models.records.published import Published, beside_published
from models.records.studies.asking_results import MEASURES
from tasks.asking.active_learning import AskingPlan, portions
from tasks.asking.ways_of_asking import CHOICES, WAYS, Way, ask, course_metrics, ranked_items, summarise
from tasks.respondents.protocols import Respondents, read_respondents

QUESTIONS = 9


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Respondents:
    folder = tmp_path_factory.mktemp("sushi")
    source = adapter("sushi")
    simulate(source, folder / "raw", seed=2, users=30)
    for table in build(source, locate(source, folder / "raw", allow_unpinned=False)):
        write_table(table, folder)
    return read_respondents(folder / "sushi")


def test_ranks_are_read_off_the_comparisons(simulated: Respondents) -> None:
    items, ranks = ranked_items(simulated)
    assert items.shape == ranks.shape == (30, 10)
    winner, loser = simulated.comparisons.T
    assert (ranks[simulated.users, winner] < ranks[simulated.users, loser]).all()


def test_a_last_user_who_likes_the_last_item_best_is_ranked_too(simulated: Respondents) -> None:
    """The favourite never loses; ranks are counted from losses, so its rank is 1."""
    pairs = np.array([(winner, loser) for winner in range(9, -1, -1) for loser in range(winner)])
    alone = dataclasses.replace(
        simulated,
        users=np.zeros(45, dtype=np.int64),
        comparisons=pairs,
        user_ids=simulated.user_ids[:1],
        user_keys=simulated.user_keys[:1],
    )
    assert ranked_items(alone)[1].tolist() == [list(range(10, 0, -1))]


def test_comparisons_that_are_no_ranking_are_refused(simulated: Respondents) -> None:
    turned = simulated.comparisons.copy()
    best_over_worst = np.argmax((simulated.users == 0) & (ranked_items(simulated)[1][0][turned[:, 1]] == 10))
    turned[best_over_worst] = turned[best_over_worst, ::-1]
    broken = Respondents(
        simulated.table, simulated.encoded, simulated.users, turned, simulated.user_ids, simulated.user_keys
    )
    with pytest.raises(ValueError, match="the comparisons of 1 users are not a ranking, the first is"):
        ranked_items(broken)


@pytest.mark.parametrize("way", ["tree_top_leaf", "gp_qeubo", "forest_qeubo"])
def test_what_is_found_for_a_user_does_not_depend_on_the_portion(simulated: Respondents, way: str) -> None:
    together = ask(simulated, WAYS[way], n_questions=4, seed=0)
    alone = ask(simulated, WAYS[way], n_questions=4, seed=0, users=slice(7, 9))
    mine = together[together["user_id"].isin(simulated.user_ids[7:9])].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, alone)


def test_before_any_question_nothing_is_known_and_later_more(simulated: Respondents) -> None:
    course = summarise("tree", Way(repeats=False), ask(simulated, Way(repeats=False), n_questions=20, seed=0))
    assert course.loc[0, ["rho_regret", "top1_error"]].tolist() == pytest.approx([4.0, 9.0])
    assert course["question"].tolist() == list(range(21))
    assert (course["users"] == 30).all()
    assert course["found_share"].iloc[20] > 0.7
    assert course["rho_regret"].iloc[20] < 2.0


def test_every_choice_is_another_way(simulated: Respondents) -> None:
    everything = [*WAYS.values(), *CHOICES.values()]
    assert len(set(everything)) == len(everything)
    assert not set(WAYS) & set(CHOICES)


def test_metrics_have_a_row_a_measure_and_question_and_one_published_value_a_way(simulated: Respondents) -> None:
    course = summarise("tree_top_leaf", Way(), ask(simulated, Way(), n_questions=QUESTIONS, seed=0))
    known = Published(
        model="preference_tree",
        variant="tree_top_leaf",
        metric="found_share",
        split="asked",
        at=9,
        value=0.7,
        source="-",
    )
    rows = beside_published(course_metrics("sushi", course.assign(variant=course["way"])), [known])
    assert [(row.metric, row.at) for row in rows] == [(name, at) for name in MEASURES for at in range(10)]
    told = [row for row in rows if row.published is not None]
    assert [(row.metric, row.at, row.published) for row in told] == [("found_share", 9, 0.7)]
    assert {row.n for row in rows} == {30}


def test_work_is_cut_into_portions_that_cover_every_user_once() -> None:
    asked = AskingPlan(table=Path("sushi"), users=250, questions=9, seed=0)
    work = portions(WAYS, asked, known=5000, gp_users=230)
    covered = {name: [at for p in work if p.name == name for at in range(p.start, p.stop)] for name in WAYS}
    assert covered["tree_top_leaf"] == list(range(250))
    assert covered["gp_qeubo"] == list(range(230))
    assert portions({}, asked, known=5000, gp_users=230) == []
