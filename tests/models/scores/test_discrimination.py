"""AUC, balanced accuracy and log loss against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from models.scores.discrimination import auc, balanced_accuracy, log_loss

values = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=30).map(np.array)


@given(values)
def test_auc_is_that_of_all_matches_and_their_mirrors(z: np.ndarray):
    outcome, score = np.repeat([1, 0], len(z)), np.concatenate([z, -z])
    assert auc(z) == pytest.approx(roc_auc_score(outcome, score))


@given(values, st.integers(0, 99))
def test_balanced_accuracy_is_the_auc_of_thresholded_scores(z: np.ndarray, seed: int):
    z = np.where(z == 0, 1.0, z)
    left_wins = np.random.default_rng(seed).random(len(z)) < 0.5
    left_wins[0] = True
    z, left_wins = np.append(z, z[0]), np.append(left_wins, False)
    called_left = np.where(left_wins, z, -z) > 0
    assert balanced_accuracy(z, left_wins) == pytest.approx(balanced_accuracy_score(left_wins, called_left))
    assert balanced_accuracy(z, left_wins) == pytest.approx(roc_auc_score(left_wins, called_left))


def test_a_tie_is_half_right():
    assert auc(np.zeros(3)) == 0.5
    assert balanced_accuracy(np.array([0.0, 1.0]), np.array([True, False])) == 0.75


def test_log_loss_by_hand():
    assert log_loss(np.array([0.5, 0.25])) == pytest.approx(1.5 * np.log(2))
    assert np.isfinite(log_loss(np.zeros(1)))


@pytest.mark.parametrize("values", [[], [np.nan, 1.0], [[0.5]]])
def test_scores_of_nothing_or_nan_are_refused(values: list) -> None:
    array = np.array(values)
    for score in (auc, log_loss, lambda z: balanced_accuracy(z, np.ones(len(z), dtype=bool))):
        with pytest.raises(ValueError, match=r"must be numbers \(n,\), one at least"):
            score(array)


def test_probabilities_outside_their_range_and_other_sides_are_refused() -> None:
    for probability in (1.5, -0.5):
        with pytest.raises(ValueError, match=r"probability must lie in 0\.\.1"):
            log_loss(np.array([probability]))
    with pytest.raises(ValueError, match="left_wins must have the shape"):
        balanced_accuracy(np.array([2.0, 1.0]), np.array([True]))
