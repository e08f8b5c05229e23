"""How well preferences tell winners from losers: AUC, balanced accuracy, log loss."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from models.records.arrays import BoolArray, FloatArray


def auc(preference: FloatArray) -> float:
    """Area under the ROC curve of matches scored in both orientations; ties count one half.

    preference: (n,) of the winner over the loser, so that every match is a positive at z and a negative at -z. Values
    from several folds may be pooled where they are on one scale.
    """
    n = len(preference)
    ranks = rankdata(np.concatenate([preference, -preference]))
    return float((ranks[:n].sum() - n * (n + 1) / 2) / n**2)


def balanced_accuracy(preference: FloatArray, left_wins: BoolArray) -> float:
    """The mean of the accuracies where the left item won and where the right did; a tie is half right.

    preference: (n,) of the winner over the loser. This is the area under the curve of two points that is left of an
    AUC when the scores are thresholded first. NaN where one side never wins.
    """
    right = np.where(preference == 0, 0.5, preference > 0)
    return float(np.mean([right[left_wins == side].mean() if (left_wins == side).any() else np.nan for side in (0, 1)]))


def log_loss(probability: FloatArray) -> float:
    """Mean of -log of the probabilities (n,) that were given to what happened, in nats; log 2 for a coin."""
    return float(-np.log(np.maximum(probability, np.finfo(np.float64).tiny)).mean())
