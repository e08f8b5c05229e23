"""Published findings are judged by statistics that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.shap.explanation import PreferenceExplanation
from models.shap.findings import Finding, Verdict, judge


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
    return judge(found, explanation(values, data), seed=0)


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
    assert (one.value, one.lower, one.upper) == pytest.approx((other.value, other.lower, other.upper))


def test_a_finding_holds_where_the_whole_interval_is_on_the_declared_side():
    sure = np.random.default_rng(0).normal([1.0, 0.02, 0.0], 0.1, size=(200, 3)).tolist()
    higher = verdict(finding("mean_value", "a"), sure)
    assert higher.holds
    assert higher.lower < higher.value < higher.upper
    assert higher.upper - higher.lower == pytest.approx(2 * 1.96 * 0.1 / 200**0.5, rel=0.2)
    assert not verdict(finding("mean_value", "a", side="below"), sure).holds
    unsure = verdict(finding("mean_value", "c"), sure)
    assert unsure.undecided
    assert not unsure.holds


def test_the_interval_leaves_out_two_and_a_half_percent_at_either_end():
    """The normal interval of a mean of 400 duels; the bootstrap's quantiles scatter by 3% of its half-width."""
    values = np.random.default_rng(1).normal(size=(400, 3))
    found, error = verdict(finding("mean_value", "a"), values.tolist()), values[:, 0].std() / 20
    assert (found.upper - found.value) / error == pytest.approx(1.96, rel=0.1)
    assert (found.value - found.lower) / error == pytest.approx(1.96, rel=0.1)
    assert (found.upper - found.lower) / error == pytest.approx(2 * 1.96, rel=0.06)


def test_the_interval_covers_the_true_value_as_often_as_it_declares():
    """Of 300 means of 100 duels, 95%, at a standard error of 1.3%; a bootstrap of a mean covers half a percent less."""
    rng = np.random.default_rng(2)
    judged = [verdict(finding("mean_value", "a"), rng.normal(0.3, 1.0, size=(100, 3)).tolist()) for _ in range(300)]
    covered = np.mean([one.lower <= 0.3 <= one.upper for one in judged])
    assert 0.92 < covered < 0.98


def test_the_interval_repeats_with_its_seed():
    values = np.random.default_rng(0).normal(size=(30, 3)).tolist()
    assert verdict(finding("evenness", "a", "b"), values) == verdict(finding("evenness", "a", "b"), values)


def test_a_finding_about_a_feature_that_is_not_explained_is_refused():
    with pytest.raises(ValueError, match="finding it: no player d among a, b, c"):
        verdict(finding("evenness", "a", "d"), VALUES)
    with pytest.raises(ValueError, match="there are no explained duels"):
        judge(finding("evenness", "a"), explanation(np.zeros((0, 3)).tolist() or np.zeros((0, 3))), seed=0)
