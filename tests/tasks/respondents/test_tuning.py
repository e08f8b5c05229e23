"""Limits of trees are chosen on training choices: the held-out ones take no part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from data_adapters.catalogue import adapter
from data_adapters.source.simulation import simulate
from models.records.studies.respondent_results import TriedLimits
from tasks.respondents.protocols import Protocol, Respondents, read_respondents, split_comparisons
from tasks.respondents.tuning import tune, tune_pooled, tuned
from tests.tasks.respondents.test_protocols import table_folder

SHARE = 0.3
DEPTHS = (1, 3, None)


@pytest.fixture(scope="module")
def respondents(tmp_path_factory: pytest.TempPathFactory) -> Respondents:
    folder = tmp_path_factory.mktemp("simulated")
    simulate(adapter("sushi"), folder / "raw", seed=3, users=30)
    return read_respondents(table_folder(folder / "raw", folder))


def test_held_out_choices_do_not_move_what_is_chosen(respondents: Respondents) -> None:
    test = split_comparisons(respondents, Protocol(), 1, SHARE).test
    turned = respondents.comparisons.copy()
    turned[test] = turned[test][:, ::-1]
    other = replace(respondents, comparisons=turned)
    one, two = (
        tune(each, Protocol(), Protocol(encoding="categorical"), seed=1, test_share=SHARE, depths=DEPTHS)
        for each in (respondents, other)
    )
    assert one == two
    assert len(one.each) == 2 * len(DEPTHS)
    assert [each.max_depth for each in one.pooled] == list(DEPTHS)


def test_the_depth_of_one_tree_for_all_is_chosen_on_what_it_is_fitted_to(respondents: Respondents) -> None:
    train = np.arange(len(respondents.comparisons)) % 2 == 0
    turned = np.where(train[:, None], respondents.comparisons, respondents.comparisons[:, ::-1])
    one, two = (
        tune_pooled(each, Protocol(), train, seed=0, depths=DEPTHS)
        for each in (respondents, replace(respondents, comparisons=turned))
    )
    assert one == two


def test_the_highest_accuracy_is_taken_and_of_equals_the_smallest_tree() -> None:
    tried = [
        TriedLimits(tree="each", encoding=encoding, max_depth=depth, accuracy=accuracy)
        for encoding, depth, accuracy in (
            ("categorical_3", 1, 0.6), ("categorical_3", 4, 0.7), ("categorical", 4, 0.7), ("categorical", None, 0.65),
        )
    ]  # fmt: skip
    assert tuned(Protocol(ratio=1.0), tried) == Protocol(ratio=1.0, encoding="categorical_3", max_depth=4)


def test_choices_by_a_coin_are_predicted_like_a_coin_at_every_depth(respondents: Respondents) -> None:
    coin = np.random.default_rng(0).random(len(respondents.comparisons)) < 0.5
    turned = np.where(coin[:, None], respondents.comparisons, respondents.comparisons[:, ::-1])
    own = replace(respondents, comparisons=turned)
    limits = tune(own, Protocol(), None, seed=1, test_share=SHARE, depths=DEPTHS)
    assert all(abs(each.accuracy - 0.5) < 0.06 for each in limits.each)
    assert limits.pooled == ()
