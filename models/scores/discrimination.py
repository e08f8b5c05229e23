"""Scores of predicted preferences: AUC, balanced accuracy, log loss."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from models.records.arrays import BoolArray, FloatArray


def auc(preference: FloatArray) -> float:
    """Area under the ROC curve of matches scored in both orientations; ties count one half.

    preference: (n,) for the winner over the loser: each match is a positive at z and a negative at -z. Values from
    several folds may be pooled if they are on the same scale.

    >>> auc(np.array([2.0, 1.0, -0.5]))
    0.8888888888888888
    """
    n = len(preference)
    ranks = rankdata(np.concatenate([preference, -preference]))
    return float((ranks[:n].sum() - n * (n + 1) / 2) / n**2)


def balanced_accuracy(preference: FloatArray, left_wins: BoolArray) -> float:
    """Mean of two accuracies: where the left item won, and where the right item won. A tie is half right.

    preference: (n,) for the winner over the loser. This equals the AUC of scores that were thresholded first, with the
    winning side as the class. NaN if one side never wins.

    >>> balanced_accuracy(np.array([2.0, 1.0, -0.5]), np.array([True, False, False]))
    0.75
    """
    right = np.where(preference == 0, 0.5, preference > 0)
    return float(np.mean([right[left_wins == side].mean() if (left_wins == side).any() else np.nan for side in (0, 1)]))


def log_loss(probability: FloatArray) -> float:
    """Mean of -log of the probabilities (n,) predicted for the actual outcomes, in nats; log 2 for a coin.

    >>> log_loss(np.array([0.5, 0.5]))
    0.6931471805599453
    """
    return float(-np.log(np.maximum(probability, np.finfo(np.float64).tiny)).mean())
