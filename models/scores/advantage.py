"""Models compared on the same tested duels: advantages with their intervals, and the highest.

Runs split one data set again: they share most of their training and many of their tested duels, and duels share items.
The standard deviation over runs, divided by the root of their number, is too small an error and shrinks with more runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import ndtri

from models.records.arrays import FloatArray, IntArray
from models.scores.comparing import Difference
from models.scores.discrimination import auc
from models.scores.intervals import LEVEL

OTHER_DUELS = "other duels like these"
Name = TypeVar("Name", bound=str)


class ScoredDuels(NamedTuple):
    """The tested duels of one run, all folds pooled: their rows (t,), and the preference for each winner, (t,)."""

    rows: IntArray
    preference: FloatArray


def auc_advantage(
    model: Sequence[ScoredDuels],
    other: Sequence[ScoredDuels],
    pairs: IntArray,
    *,
    trained: float,
    over: str = OTHER_DUELS,
) -> Difference:
    """How much the AUC of a model exceeds that of another, tested on the same duels in each run; mean over runs.

    pairs: (m, 2) the two items of every duel, numbered from zero. trained: mean number of training duels of a model.
    The variance has two parts. One is of the tested duels: what each contributes to the difference, pooled over runs,
    with the products of all two duels that share an item, for these are not independent. The other is of the training
    that runs share: tested / trained times the variance of the difference over runs (Nadeau and Bengio 2003). With k
    folds the ratio is k / (k - 1): the variance of one fold is k times that of the run that pools them.
    No interval is known for fewer than two runs. Raises ValueError for duels that are not the same.

    >>> rng = np.random.default_rng(0)
    >>> rows, pairs = np.arange(60), rng.integers(10, size=(60, 2))
    >>> halves = [ScoredDuels(rows[:30], rng.normal(1.0, 1.0, 30)), ScoredDuels(rows[30:], rng.normal(1.0, 1.0, 30))]
    >>> coin = [ScoredDuels(each.rows, np.zeros(30)) for each in halves]
    >>> auc_advantage(halves, coin, pairs, trained=30).outcome
    'higher'
    """
    if len(model) != len(other) or any(
        not np.array_equal(one.rows, two.rows) for one, two in zip(model, other, strict=True)
    ):
        raise ValueError("the two models must be tested on the same duels in every run")
    differences = np.array([auc(one.preference) - auc(two.preference) for one, two in zip(model, other, strict=True)])
    estimate = float(differences.mean())
    if len(differences) < 2:
        return Difference(estimate=estimate, over=over)
    tested = np.array([len(each.rows) for each in model])
    of_training = tested.mean() / trained * differences.var(ddof=1)
    influence = np.zeros(len(pairs))
    for one, two in zip(model, other, strict=True):
        np.add.at(influence, one.rows, _influence(one.preference) - _influence(two.preference))
    influence /= tested.sum()
    by_item = np.bincount(pairs.ravel(), weights=np.repeat(influence, 2), minlength=int(pairs.max()) + 1)
    alone = (influence**2).sum()
    of_duels = max((by_item**2).sum() - alone, alone)
    reach = float(ndtri((1 + LEVEL) / 2) * np.sqrt(of_duels + of_training))
    return Difference(estimate=estimate, lower=estimate - reach, upper=estimate + reach, over=over)


def _influence(preference: FloatArray) -> FloatArray:
    """What each of n duels adds to the AUC, twice its centred share of losers that its winner is preferred to: (n,)."""
    losers = np.sort(-preference)
    below, at_most = (np.searchsorted(losers, preference, side=side) for side in ("left", "right"))
    share = (below + at_most) / (2 * len(losers))
    return np.asarray(2 * (share - share.mean()))


def highest_model(scores: Mapping[Name, FloatArray]) -> Name:
    """The model with the highest mean score over runs; the first of equals.

    >>> import numpy as np
    >>> highest_model({"upm": np.array([0.7, 0.8]), "gpm": np.array([0.9, 0.8])})
    'gpm'
    """
    return max(scores, key=lambda model: float(scores[model].mean()))
