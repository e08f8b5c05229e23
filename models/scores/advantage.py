"""Models compared on the same runs: advantages with their standard errors, and the best model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from models.records.arrays import FloatArray

Name = TypeVar("Name", bound=str)


class MeanDifference(NamedTuple):
    """Mean difference over paired runs and the standard error of that mean; None for a single run."""

    mean: float
    standard_error: float | None


def paired_difference(scores: FloatArray, others: FloatArray) -> MeanDifference:
    """How much scores (r,) exceed others (r,) of the same runs, on average.

    The standard error is the standard deviation of the differences (r - 1 in the denominator) over sqrt(r).
    Raises ValueError for no runs, or other runs.

    >>> import numpy as np
    >>> paired_difference(np.array([0.5, 0.75, 1.0]), np.array([0.5, 0.5, 0.5]))
    MeanDifference(mean=0.25, standard_error=0.14433756729740646)
    """
    if scores.shape != others.shape or scores.ndim != 1 or not len(scores):
        raise ValueError(f"scores and others must be of the same runs, found shapes {scores.shape} and {others.shape}")
    difference = scores - others
    runs = len(difference)
    error = float(difference.std(ddof=1) / np.sqrt(runs)) if runs > 1 else None
    return MeanDifference(float(difference.mean()), error)


def highest_model(scores: Mapping[Name, FloatArray]) -> Name:
    """The model with the highest mean score over runs; the first of equals.

    >>> import numpy as np
    >>> highest_model({"upm": np.array([0.7, 0.8]), "gpm": np.array([0.9, 0.8])})
    'gpm'
    """
    return max(scores, key=lambda model: float(scores[model].mean()))


def best_model(scores: Mapping[Name, FloatArray], simplest_first: Sequence[Name]) -> Name:
    """The simplest model that the highest one exceeds by no more than one standard error of the difference.

    scores: (r,) of each model in the same runs. simplest_first: an order that has all of them.

    >>> import numpy as np
    >>> scores = {"rich": np.array([0.80, 0.90, 0.85]), "plain": np.array([0.82, 0.88, 0.84])}
    >>> best_model(scores, ["plain", "rich"])
    'plain'
    >>> best_model({**scores, "plain": scores["rich"] - 0.05}, ["plain", "rich"])
    'rich'
    """
    highest = highest_model(scores)
    for model in simplest_first:
        if model in scores:
            lead, error = paired_difference(scores[highest], scores[model])
            if model == highest or lead <= (error or 0.0):
                return model
    raise ValueError(f"simplest_first lacks {highest}")
