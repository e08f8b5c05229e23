"""Published findings are judged by statistics that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.shap.explanation import PreferenceExplanation
from models.shap.findings import FEW_ITEMS, Finding, Verdict, fieller, judge
from models.shap.refits import Refitted


def explanation(values: list[list[float]], data: list[list[float]] | None = None) -> PreferenceExplanation:
    rows = np.array(values)
    return PreferenceExplanation(
        players=("a", "b", "c"), values=rows, standard_error=None, empty=np.zeros(len(rows)), full=rows.sum(axis=1),
        score=rows.sum(axis=1), data=np.sign(rows) if data is None else np.array(data), coalitions=8,
    )  # fmt: skip


def finding(statistic: str, *players: str, threshold: float = 0.0, **more: object) -> Finding:
    said = {"name": "it", "source": "a paper", "claim": "It is so.", "explained": "all"}
    return Finding(**said, statistic=statistic, players=players, threshold=threshold, **more)


def verdict(found: Finding, values: list[list[float]], data: list[list[float]] | None = None) -> Verdict:
    return judge(found, explanation(values, data))


def refitted(values: list[list[list[float]]]) -> Refitted:
    return Refitted(tuple(explanation(each) for each in values), np.ones((len(values), len(values[0]))))


VALUES = [[3.0, 1.0, -1.0], [-1.0, 1.0, 0.0]]  # importances 2, 1 and 1/2


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (finding("importance_ratio", "a"), 2.0),
        (finding("importance_ratio", "a", "b", rivals=("c",)), 2.0),
        (finding("importance_ratio", "c", rivals=("b",)), 0.5),
        (finding("evenness", "a", "b", "c"), 0.25),
        (finding("importance_share", "b", "c"), 1.5 / 3.5),
        (finding("mean_value", "a", "b"), 2.0),
    ],
)
def test_statistics_are_those_of_the_mean_absolute_values(found, expected):
    assert verdict(found, VALUES).value == pytest.approx(expected)


def test_favouring_is_weighted_by_size_and_a_missing_value_favours_neither():
    data = [[1.0, 2.0, np.nan], [5.0, -1.0, 1.0]]
    assert verdict(finding("larger_favoured", "a"), VALUES, data).value == pytest.approx((3 - 1) / 4)
    assert verdict(finding("larger_favoured", "b"), VALUES, data).value == pytest.approx(0.0)
    assert verdict(finding("larger_favoured", "c"), VALUES, data).value == pytest.approx(0.0)
    both = finding("larger_favoured", "a", "b")
    assert verdict(both, VALUES, data).value == pytest.approx(0.0)
    assert verdict(both.model_copy(update={"side": "below"}), VALUES, data).value == pytest.approx(0.5)


@pytest.mark.parametrize("statistic", ["importance_ratio", "larger_favoured", "importance_share", "evenness"])
def test_it_does_not_matter_which_of_a_duel_comes_first(statistic):
    rng = np.random.default_rng(0)
    values, data = rng.normal(size=(2, 40, 3))
    turned = np.where(rng.random(40) < 0.5, -1, 1)[:, None]
    found = finding(statistic, "a", "b")
    one, other = verdict(found, values, data), verdict(found, values * turned, data * turned)
    assert one.value == pytest.approx(other.value)


def test_the_interval_of_a_mean_is_students_with_the_standard_deviation_of_the_refits():
    refits = [VALUES, [[4.0, 1.0, -1.0], [0.0, 1.0, 0.0]], [[2.0, 1.0, -1.0], [-2.0, 1.0, 0.0]]]
    found = judge(finding("mean_value", "a"), explanation(VALUES), matches=refitted(refits))
    assert found.value == 1.0
    assert found.matches is not None
    assert (found.matches.lower, found.matches.upper) == pytest.approx((1.0 - 4.3027, 1.0 + 4.3027), rel=1e-4)
    assert found.outcome == "not_decided"
    assert found.items is None


def test_a_finding_holds_or_fails_where_the_whole_interval_is_on_one_side():
    same = refitted([VALUES, VALUES, VALUES])
    higher = finding("importance_ratio", "a", threshold=1.0)
    assert judge(higher, explanation(VALUES), matches=same).outcome == "holds"
    assert judge(higher.model_copy(update={"side": "below"}), explanation(VALUES), matches=same).outcome == "fails"
    assert judge(higher, explanation(VALUES)).outcome == "unknown"


def test_other_items_add_their_own_variance_and_a_few_items_say_nothing_of_others():
    some, others = refitted([VALUES, [[4.0, 1.0, -1.0]] * 2]), refitted([VALUES, [[9.0, 1.0, -1.0]] * 2])
    share = finding("importance_share", "a", threshold=0.5)
    found = judge(share, explanation(VALUES), matches=some, items=others, n_items=FEW_ITEMS)
    assert found.items is not None
    assert found.items.lower <= found.matches.lower
    assert found.items.upper >= found.matches.upper
    few = judge(share, explanation(VALUES), matches=some, items=others, n_items=FEW_ITEMS - 1)
    assert (few.items, few.outcome_for_others) == (None, "unknown")


def test_a_bound_that_does_not_exist_decides_nothing_on_its_side_and_something_on_the_other():
    vague = refitted([[[3.0, 1.0, 0.0]] * 2, [[3.0, 0.1, 0.0]] * 2, [[3.0, 2.0, 0.0]] * 2])
    found = judge(finding("importance_ratio", "a", threshold=1.0), explanation(VALUES), matches=vague)
    assert (found.matches.lower, found.matches.upper) == (0.0, None)
    assert found.outcome == "not_decided"
    assert Verdict.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize("strong", [0.0, 1.0])
def test_the_interval_of_a_quotient_covers_the_true_one_as_often_as_it_declares(strong):
    """Also where the quotient is of two noisy means of which one is zero: a sd of the quotient itself covers 80%."""
    rng = np.random.default_rng(0)
    spread = np.array([[1.0, 0.3], [0.3, 0.2]]) * 0.3
    covered = []
    for _ in range(1_000):
        once = rng.multivariate_normal([strong, 1.5], spread)
        again = rng.multivariate_normal(once, spread, size=20)
        low, high = fieller(once, np.cov(again.T), 2.093)
        covered.append(low <= strong / 1.5 <= high)
    assert 0.92 < np.mean(covered) < 0.98


def test_a_finding_about_a_feature_that_is_not_explained_is_refused():
    with pytest.raises(ValueError, match="finding it: no player d among a, b, c"):
        verdict(finding("evenness", "a", "d"), VALUES)
    with pytest.raises(ValueError, match="there are no explained duels"):
        judge(finding("evenness", "a"), explanation(np.zeros((0, 3)).tolist() or np.zeros((0, 3))))
