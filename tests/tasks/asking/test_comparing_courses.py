"""Comparisons of the ways of asking, in a case worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from models.records.studies.asking_results import CHANGED_FROM
from tasks.asking.comparing_courses import asking_changes, asking_compared
from tasks.asking.ways_of_asking import CHOICES, WAYS

REGRET = {"tree_top_leaf": 0.7, "gp_qeubo": 0.4, "tree_qeubo": 0.6, "tree_random": 0.5}
FOUND = {"tree_top_leaf": 0.8, "gp_qeubo": 0.9, "tree_qeubo": 0.7, "tree_random": 0.3}


def courses(regret: dict[str, float] = REGRET) -> pd.DataFrame:
    """Every way of asking; after 20 questions each regret is half of what it was after 9."""
    rows = [
        {
            "way": way,
            "question": question,
            "users": 10,
            "rho_regret": regret.get(way, 1.0) * (1.0 if question == 9 else 0.5),
            "top1_error": 2.0,
            "found_share": FOUND.get(way, 0.6),
        }
        for way in [*WAYS, *CHOICES]
        for question in (9, 20)
    ]
    return pd.DataFrame(rows)


def test_every_choice_is_changed_from_one_way() -> None:
    assert sorted(way for ways in CHANGED_FROM.values() for way in ways) == sorted(CHOICES)
    assert set(CHANGED_FROM) == set(WAYS)


def test_a_change_is_the_changed_way_minus_the_one_it_is_changed_from() -> None:
    found = asking_changes(courses()).set_index(["way", "question"])
    assert found.loc[("gp_codes", 9), "base"] == "gp_qeubo"
    assert found.loc[("gp_codes", 9), "rho_regret"] == pytest.approx(0.6)
    assert found.loc[("gp_codes", 20), "rho_regret"] == pytest.approx(0.3)
    assert found.loc[("random_never_twice", 9), "found_share"] == pytest.approx(0.3)
    assert found.loc[("never_twice", 9), "found_share"] == pytest.approx(-0.2)
    assert (found["top1_error"] == 0).all()


def test_what_is_ahead_after_nine_questions_is_decided_by_the_means() -> None:
    says = asking_compared(courses())
    assert says.lower_regret == "gp_qeubo"
    assert (says.top_leaf_finds, says.top_leaf_regret, says.random_ranks_best) == ("more", "higher", True)
    assert says.bandit == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    other = asking_compared(courses({**REGRET, "tree_top_leaf": 0.3}))
    assert (other.lower_regret, other.top_leaf_regret, other.random_ranks_best) == ("tree_top_leaf", "lower", False)
