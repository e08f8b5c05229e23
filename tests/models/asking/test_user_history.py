"""Earlier users help new ones of the same kind, and hinder nobody for ever."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.asking.active_learning import ranking_oracle
from models.asking.regret import rho_regret
from models.asking.user_history import HistoryRule, Population, cohorts, learn_in_cohorts, learn_without_history
from models.numerics.hashing import mix
from models.records.arrays import IntArray
from models.scores.ranks import competition_ranks
from models.trees.preference_tree import numeric_columns

ITEMS = np.random.default_rng(5).uniform(size=(10, 3))


def kind_of(features: np.ndarray) -> np.ndarray:
    """Two tastes, told apart by the first feature of the users."""
    return (features[:, 0] > 0.5).astype(int)


def population(n_users: int, seed: int = 0) -> tuple[Population, IntArray]:
    """Users whose ranks follow their kind's utility, one column of the items forwards or another backwards."""
    rng = np.random.default_rng(seed)
    features = rng.uniform(size=(n_users, 2))
    utility = np.where(kind_of(features)[:, None] == 1, ITEMS[:, 0], -ITEMS[:, 1])
    ranks = competition_ranks(utility)
    shown = np.tile(np.arange(len(ITEMS)), (n_users, 1))
    seeds = mix(seed, np.arange(n_users))
    users, items = numeric_columns(["a", "b"]), numeric_columns(["x", "y", "z"])
    return Population(features, users, ITEMS, items, shown, seeds), ranks


def oracles(ranks: IntArray, size: int) -> list:
    return [ranking_oracle(ranks[users]) for users in cohorts(len(ranks), size)]


@pytest.fixture(scope="module")
def regrets() -> tuple[np.ndarray, np.ndarray]:
    """Mean rho-regret after each of 12 questions, of the users after the first cohort, with and without history."""
    people, ranks = population(90)
    rule = HistoryRule(cohort=30, user_depth=2)
    with_history = learn_in_cohorts(people, oracles(ranks, 30), n_questions=12, rule=rule)
    without = learn_without_history(people, ranking_oracle(ranks), n_questions=12, item_depth=5)
    late = slice(30, None)
    return tuple(
        rho_regret(ranks[late], competition_ranks(course.mean[:, late])).mean(axis=1)
        for course in (with_history, without)
    )


def test_before_any_question_history_knows_more_than_nothing(regrets: tuple[np.ndarray, np.ndarray]) -> None:
    with_history, without = regrets
    assert with_history[0] < 0.5 * without[0]


def test_early_questions_are_saved(regrets: tuple[np.ndarray, np.ndarray]) -> None:
    with_history, without = regrets
    assert with_history[:5].sum() < without[:5].sum()


def test_the_first_cohort_has_no_history_and_the_order_of_users_is_kept() -> None:
    people, ranks = population(20)
    course = learn_in_cohorts(people, oracles(ranks, 10), n_questions=3, rule=HistoryRule(cohort=10))
    first = learn_without_history(people.part(slice(0, 10)), ranking_oracle(ranks[:10]), n_questions=3, item_depth=5)
    assert course.mean.shape == (4, 20, 10)
    assert course.answers.shape == (3, 20, 2)
    np.testing.assert_array_equal(course.mean[:, :10], first.mean)


def test_a_users_own_answers_overrule_the_prior() -> None:
    """The last user has the opposite taste of all before her: she likes least what they like best."""
    people, ranks = population(41)
    people.features[:, 0] = 0.9
    ranks[:] = competition_ranks(ITEMS[:, 0])
    ranks[-1] = competition_ranks(-ITEMS[:, 0])
    course = learn_in_cohorts(people, oracles(ranks, 40), n_questions=30, rule=HistoryRule(cohort=40))
    others_best = ITEMS[:, 0].argmax()
    assert course.mean[0, -1].argmax() == others_best
    assert course.mean[-1, -1, others_best] < np.median(course.mean[-1, -1])
    regret = rho_regret(ranks[-1], competition_ranks(course.mean[:, -1]))
    assert regret[-1] < regret[0]


@pytest.mark.parametrize(
    ("name", "value"), [("cohort", 0), ("user_depth", -1), ("item_depth", 2.5), ("prior_ratio", np.inf)]
)
def test_a_rule_out_of_range_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"The '{name}' parameter of HistoryRule must be"):
        HistoryRule(**{name: value})


def test_users_who_do_not_fit_together_are_refused() -> None:
    people, ranks = population(6)
    with pytest.raises(ValueError, match="oracle_of must hold one oracle for each of 2 cohorts, found 1"):
        learn_in_cohorts(people, oracles(ranks, 6), n_questions=1, rule=HistoryRule(cohort=3))
    with pytest.raises(ValueError, match="The 'size' parameter of cohorts must be an int in the range"):
        cohorts(6, -1)
    with pytest.raises(ValueError, match="The 'item_depth' parameter of learn_without_history"):
        learn_without_history(people, ranking_oracle(ranks), n_questions=1, item_depth=0)
    for changed, message in [
        ({"shown": people.shown + 1}, r"shown: 6 rows outside 0\.\.9"),
        ({"shown": people.shown + 0.9}, "shown must be integers"),
        ({"shown": people.shown[:3]}, r"shown must be rows of items \(6, k\), found shape \(3, 10\)"),
        ({"seeds": people.seeds[:3]}, r"seeds must be integers \(6,\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            replace(people, **changed)


def test_the_last_cohort_may_be_smaller() -> None:
    assert cohorts(5, 2) == [slice(0, 2), slice(2, 4), slice(4, 5)]
