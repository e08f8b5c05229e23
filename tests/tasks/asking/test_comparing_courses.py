"""Differences between ways of asking are paired over users, and have intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from models.records.studies.asking_results import CHANGED_FROM, COMPARED_WITH
from tasks.asking.comparing_courses import asking_changes
from tasks.asking.ways_of_asking import CHOICES, WAYS

REGRET = {"tree_top_leaf": 0.7, "gp_qeubo": 0.4, "tree_qeubo": 0.6, "tree_random": 0.5}
FOUND = {"tree_top_leaf": 8, "gp_qeubo": 9, "tree_qeubo": 7, "tree_random": 3}


def judged() -> dict[str, pd.DataFrame]:
    """Ten users asked in every way, six of them with a Gaussian process; after 20 questions each regret is halved."""
    spread = np.linspace(-0.05, 0.05, 10)
    return {
        way: pd.DataFrame(
            [
                {
                    "user_id": f"u{user}",
                    "question": question,
                    "rho_regret": (REGRET.get(way, 1.0) + spread[user]) * (1.0 if question == 9 else 0.5),
                    "top1_error": 2.0,
                    "found": user < FOUND.get(way, 6),
                }
                for question in (9, 20)
                for user in range(6 if way.startswith("gp") else 10)
            ]
        )
        for way in [*WAYS, *CHOICES]
    }


def test_every_choice_is_changed_from_one_way() -> None:
    assert sorted(way for ways in CHANGED_FROM.values() for way in ways) == sorted(CHOICES)
    assert set(CHANGED_FROM) == set(WAYS)


def test_a_change_is_the_mean_of_differences_over_the_users_of_both_ways() -> None:
    found = asking_changes(judged()).set_index(["way", "base", "question", "measure"]).sort_index()
    assert found.loc[("gp_codes", "gp_qeubo", 9, "rho_regret"), "estimate"] == pytest.approx(0.6)
    assert found.loc[("gp_codes", "gp_qeubo", 20, "rho_regret"), "estimate"] == pytest.approx(0.3)
    assert found.loc[("random_ask_again", "tree_random", 9, "found_share"), "estimate"] == pytest.approx(0.3)
    assert found.loc[("ask_again", "tree_top_leaf", 9, "found_share"), "estimate"] == pytest.approx(-0.2)
    both = found.loc[("tree_top_leaf", "gp_qeubo", 9, "found_share")]
    assert both["estimate"] == 0.0, "six users were asked in both ways, and all of them found"
    for base, ways in COMPARED_WITH.items():
        for way in ways:
            assert (way, base, 20, "top1_error") in found.index


def test_the_interval_is_that_of_paired_differences() -> None:
    found = asking_changes(judged()).set_index(["way", "base", "question", "measure"]).sort_index()
    regret = found.loc[("ask_again", "tree_top_leaf", 9, "rho_regret")]
    assert regret["estimate"] == pytest.approx(0.3)
    top1 = found.loc[("ask_again", "tree_top_leaf", 9, "top1_error")]
    assert np.isnan([top1["lower"], top1["upper"]]).all(), "where all users differ by as much, no interval is known"
    share = found.loc[("ask_again", "tree_top_leaf", 9, "found_share")]
    differences = np.array([-1.0] * 2 + [0.0] * 8)
    reach = 2.262157 * differences.std(ddof=1) / np.sqrt(10)
    assert (share["lower"], share["upper"]) == pytest.approx((-0.2 - reach, -0.2 + reach), abs=1e-6)
    assert set(found["over"]) == {"other users"}
