"""Learning what someone likes best by asking: the query loop over finite sets of items (dt-pbo section 3.3, C.3).

All users are asked at once: a step of the loop is one question to every user, chosen, answered and learnt from in array
operations. What a user is asked depends on that user's answers and seed alone, never on who else is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from models.asking.qeubo import qeubo
from models.numerics.hashing import HashArray, mix
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.scores.accuracy import TIE_TOLERANCE

Acquisition = Literal["qeubo", "random"]
Recommendation = Literal["first", "random", "most_wins"]
OneLeaf = Literal["random", "first"]

_RECOMMENDING = -1  # the lots of a recommendation are not those of any question


@dataclass(frozen=True, eq=False)
class Belief:
    """What a surrogate believes about the m items of each of t users.

    mean: (t, m) and covariance: (t, m, m) of their utilities, in units of sigma_noise.
    group: (t, m) items in one group, a leaf of a tree, have one utility.
    """

    mean: FloatArray
    covariance: FloatArray
    group: IntArray


class Surrogate(Protocol):
    """A model that learns each user's utilities from that user's answers."""

    def __call__(self, answers: IntArray) -> Belief:
        """Learn from q answers of each user, (t, q, 2): positions of that user's items, winner first."""


@dataclass(frozen=True)
class Strategy:
    """How questions are chosen, and what is recommended. The paper leaves open all but the first two.

    acquisition: the pair of greatest qEUBO, or any pair at random.
    top_leaf_first: while the leaf of greatest mean has two items, ask about a pair within it, drawn uniformly (C.3).
    repeats: whether a pair may be asked again; if not, only where all have been.
    one_leaf: the pair that plain qEUBO, without top_leaf_first, asks about where a single leaf holds everything and no
        pair is better than another: any at random, or the first.
    recommend: which of several items that share the greatest mean among those compared so far (section 4.1): the first,
        one at random, or the one with the most wins less losses (the first of these).
    """

    acquisition: Acquisition = "qeubo"
    top_leaf_first: bool = True
    repeats: bool = True
    one_leaf: OneLeaf = "random"
    recommend: Recommendation = "first"


@dataclass(frozen=True, eq=False)
class Course:
    """What happened over q questions.

    mean: (q + 1, t, m) predicted utilities before the first question and after each; recommended: (q + 1, t) items;
    answers: (q, t, 2) pairs of items, winner first.
    """

    mean: FloatArray
    recommended: IntArray
    answers: IntArray


Oracle = Callable[[IntArray], BoolArray]
"""Answers pairs (t, 2), one of each user: whether the first item is preferred, (t,)."""


def ask_and_learn(
    surrogate: Surrogate, oracle: Oracle, seeds: HashArray, *, n_questions: int, strategy: Strategy | None = None
) -> Course:
    """Ask every user n_questions in turn, each chosen by what the surrogate has learnt from the answers before it.

    seeds: (t,) one a user.
    """
    strategy = strategy or Strategy()
    answers = np.zeros((len(seeds), 0, 2), dtype=np.int64)
    means, recommended = [], []
    for question in range(n_questions + 1):
        belief = surrogate(answers)
        means.append(belief.mean)
        recommended.append(recommend(belief, answers, seeds, strategy))
        if question < n_questions:
            pairs = next_pairs(belief, answers, seeds, strategy)
            winner_first = np.where(oracle(pairs)[:, None], pairs, pairs[:, ::-1])
            answers = np.concatenate([answers, winner_first[:, None]], axis=1)
    return Course(np.stack(means), np.stack(recommended), answers.transpose(1, 0, 2))


def next_pairs(belief: Belief, answers: IntArray, seeds: HashArray, strategy: Strategy) -> IntArray:
    """The next pair of items to ask each user about, (t, 2), the lower position first.

    answers: (t, q, 2) so far. Pairs of equal standing are drawn by lot: within the best pair of leaves that is one item
    uniformly from each.
    """
    n_users, n_items = belief.mean.shape
    first, second = np.triu_indices(n_items, 1)
    lots = mix(mix(seeds, answers.shape[1])[:, None], np.arange(len(first)))
    standing, value = np.zeros((n_users, len(first))), np.zeros((n_users, len(first)))
    if strategy.acquisition == "qeubo":
        apart = belief.group[:, first] != belief.group[:, second]
        standing[apart] = 1.0
        value[apart] = qeubo(belief.mean, belief.covariance, first, second)[apart]
        if strategy.top_leaf_first:
            at_top = near_greatest(belief.mean)
            standing[~apart & at_top[:, first] & at_top[:, second]] = 2.0
        elif strategy.one_leaf == "first":
            lots = np.where(apart.any(axis=1, keepdims=True), lots, _ascending(len(first)))
    if not strategy.repeats:
        standing[_asked(answers, n_items)] -= 3.0
    chosen = best_by_lot(_highest(standing, value), lots)
    return np.stack([first[chosen], second[chosen]], axis=1)


def recommend(belief: Belief, answers: IntArray, seeds: HashArray, strategy: Strategy) -> IntArray:
    """The item each user is recommended, (t,): of those compared so far the one of greatest mean (section 4.1)."""
    n_users, n_items = belief.mean.shape
    wins, losses = (_counts(answers[:, :, side], n_items) for side in (0, 1))
    compared = (wins + losses) > 0
    compared |= ~compared.any(axis=1, keepdims=True)
    standing = near_greatest(np.where(compared, belief.mean, -np.inf)).astype(np.float64)
    value = (wins - losses).astype(np.float64) if strategy.recommend == "most_wins" else np.zeros((n_users, n_items))
    lots = np.broadcast_to(_ascending(n_items), standing.shape)
    if strategy.recommend == "random":
        lots = mix(mix(mix(seeds, _RECOMMENDING), answers.shape[1])[:, None], np.arange(n_items))
    return best_by_lot(_highest(standing, value), lots)


def _ascending(n: int) -> HashArray:
    """Lots by which the first is drawn."""
    return np.arange(n, 0, -1, dtype=np.uint64)


def near_greatest(mean: FloatArray) -> BoolArray:
    """Which of m means are the greatest, to the solver's precision; (t, m)."""
    return np.asarray(mean >= mean.max(axis=1, keepdims=True) - TIE_TOLERANCE)


def _asked(answers: IntArray, n_items: int) -> BoolArray:
    """Which pairs, in the order of `np.triu_indices`, each user has been asked about, (t, pairs)."""
    asked = np.zeros((len(answers), n_items, n_items), dtype=bool)
    user = np.arange(len(answers))[:, None]
    asked[user, answers.min(axis=2), answers.max(axis=2)] = True
    return asked[:, *np.triu_indices(n_items, 1)]


def _counts(positions: IntArray, n_items: int) -> IntArray:
    """How often each item is among the positions (t, q): (t, m)."""
    n_users = len(positions)
    flat = positions + np.arange(n_users)[:, None] * n_items
    return np.bincount(flat.ravel(), minlength=n_users * n_items).reshape(n_users, n_items)


def _highest(standing: FloatArray, value: FloatArray) -> FloatArray:
    """The values of what stands highest in each row; the others are out."""
    return np.where(standing == standing.max(axis=1, keepdims=True), value, -np.inf)


def best_by_lot(value: FloatArray, lots: HashArray) -> IntArray:
    """In each row the column of the greatest value, of equal ones that of the highest lot; (t, m) -> (t,)."""
    best = value == value.max(axis=1, keepdims=True)
    return np.asarray(np.where(best, lots // 2 + 1, 0).argmax(axis=1))
