"""Scores of predicted preferences: AUC, balanced accuracy, log loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from models.records.arrays import BoolArray, FloatArray


def auc(preference: FloatArray) -> float:
    """Area under the ROC curve of matches scored in both orientations; ties count one half.

    preference: (n,) for the winner over the loser: each match is a positive at z and a negative at -z. Values from
    several folds may be pooled if they are on the same scale. Raises ValueError for NaN, or no matches.

    >>> auc(np.array([2.0, 1.0, -0.5]))
    0.8888888888888888
    """
    preference = _known(preference, "preference")
    n = len(preference)
    ranks = rankdata(np.concatenate([preference, -preference]))
    return float((ranks[:n].sum() - n * (n + 1) / 2) / n**2)


def balanced_accuracy(preference: FloatArray, left_wins: BoolArray) -> float:
    """Mean of two accuracies: where the left item won, and where the right item won. A tie is half right.

    preference: (n,) for the winner over the loser. This equals the AUC of scores that were thresholded first, with the
    winning side as the class. NaN if one side never wins. Raises ValueError for NaN, no matches, or another number of
    sides.

    >>> balanced_accuracy(np.array([2.0, 1.0, -0.5]), np.array([True, False, False]))
    0.75
    """
    preference, left_wins = _known(preference, "preference"), np.asarray(left_wins)
    if left_wins.shape != preference.shape:
        raise ValueError(f"left_wins must have the shape {preference.shape} of preference, found {left_wins.shape}")
    right = np.where(preference == 0, 0.5, preference > 0)
    return float(np.mean([right[left_wins == side].mean() if (left_wins == side).any() else np.nan for side in (0, 1)]))


def log_loss(probability: FloatArray) -> float:
    """Mean of -log of the probabilities (n,) predicted for the actual outcomes, in nats; log 2 for a coin.

    Raises ValueError for probabilities outside 0..1, or none.

    >>> log_loss(np.array([0.5, 0.5]))
    0.6931471805599453
    """
    probability = _known(probability, "probability")
    if (probability < 0).any() or (probability > 1).any():
        raise ValueError(f"probability must lie in 0..1, found {probability.min():g} to {probability.max():g}")
    return float(-np.log(np.maximum(probability, np.finfo(np.float64).tiny)).mean())


def _known(values: ArrayLike, name: str) -> FloatArray:
    """Values as (n,) float64, one at least. Raises ValueError for another shape or NaN."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not len(array) or np.isnan(array).any():
        raise ValueError(
            f"{name} must be numbers (n,), one at least, found shape {array.shape}, {int(np.isnan(array).sum())} NaN"
        )
    return array
