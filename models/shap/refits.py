"""Models fitted again to resampled data: how much an explanation varies with the matches, and with the items.

Two kinds of resampled data, each fitted at the settings of the first fit:

- *other matches among the same items*: every outcome is drawn again from the fitted probabilities, and the explained
  duels get the random weights of a Bayesian bootstrap;
- *other items like these*: every item gets a random weight, and every match the product of the weights of its items.

Weights of a Bayesian bootstrap are exponential with mean 1. No match disappears, and so the kernel, its landmarks and
what they cost stay the same for all refits. The draws depend on the seed and the number of the refit only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from models.records.arrays import BoolArray, FloatArray, IntArray
from models.shap.explanation import PreferenceExplanation

Resampled = Literal["matches", "items"]
"""What is drawn again."""
_STREAM: dict[Resampled, int] = {"matches": 1, "items": 2}


@dataclass(frozen=True, eq=False)
class Refitted:
    """Explanations of the same duels by models fitted to resampled data; weights: (b, n) of the duels in each."""

    explanations: tuple[PreferenceExplanation, ...]
    weights: FloatArray

    @property
    def number(self) -> int:
        """The number of refits."""
        return len(self.explanations)


def redrawn(chances: FloatArray, *, seed: int, number: int) -> tuple[BoolArray, FloatArray]:
    """Whether the outcome of each match is the other one in a refit, (m,), and the weight of each match, (m,).

    chances: (m,) the fitted probability of what happened. Models with other probabilities get the same draws.

    >>> turned, weights = redrawn(np.array([1.0, 0.0]), seed=0, number=3)
    >>> turned.tolist(), weights.shape
    ([False, True], (2,))
    """
    rng = np.random.default_rng([seed, _STREAM["matches"], number])
    return rng.random(len(chances)) >= chances, rng.exponential(size=len(chances))


def item_weights(names: IntArray, comparisons: IntArray, *, seed: int, number: int) -> FloatArray:
    """The weight of each match (m,) in a refit to resampled items: the product of the weights of its two items.

    names: (n,) which item each row is. comparisons: (m, 2) rows.

    >>> weights = item_weights(np.array([0, 1, 0]), np.array([[0, 1], [1, 2]]), seed=0, number=0)
    >>> bool(weights[0] == weights[1])
    True
    """
    rng = np.random.default_rng([seed, _STREAM["items"], number])
    of_item = rng.exponential(size=int(names.max(initial=-1)) + 1)
    return np.asarray(of_item[names[comparisons]].prod(axis=1))
