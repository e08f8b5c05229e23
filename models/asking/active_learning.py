"""Learning each user's favourite by asking: the query loop over finite sets of items (dt-pbo section 3.3, C.3).

All users are asked at once: a step of the loop chooses one question for every user, and takes the answers, in array
operations. A user's questions depend on that user's answers and seed alone, never on the other users.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from models.asking.qeubo import qeubo
from models.numerics.hashing import HashArray, mix
from models.numerics.validation import check_integers
from models.records.arrays import BoolArray, FloatArray, IntArray
from models.scores.accuracy import TIE_TOLERANCE

Acquisition = Literal["qeubo", "random"]
Recommendation = Literal["first", "latest", "random", "most_wins"]
OneLeaf = Literal["random", "first"]

_RECOMMENDING = -1  # a question number that no question has, so that recommendations draw lots of their own

_STRATEGY: dict[str, list[Any]] = {
    "acquisition": [StrOptions(set(get_args(Acquisition)))],
    "top_leaf_first": ["boolean"],
    "repeats": ["boolean"],
    "one_leaf": [StrOptions(set(get_args(OneLeaf)))],
    "recommend": [StrOptions(set(get_args(Recommendation)))],
}
_LOOP: dict[str, list[Any]] = {"n_questions": [Interval(Integral, 0, None, closed="left")]}


@dataclass(frozen=True, eq=False)
class Belief:
    """What a surrogate believes about the m items of each of t users.

    mean: (t, m) and covariance: (t, m, m) of their utilities, in units of sigma_noise.
    group: (t, m) items in one group, a leaf of a tree, have one utility.
    Raises ValueError for other shapes and for means or covariances that are not finite.
    """

    mean: FloatArray
    covariance: FloatArray
    group: IntArray

    def __post_init__(self) -> None:
        """Check shapes and values."""
        shape = np.shape(self.mean)
        if len(shape) != 2 or np.shape(self.covariance) != (*shape, shape[-1]) or np.shape(self.group) != shape:
            raise ValueError(
                "a belief has mean (t, m), covariance (t, m, m) and group (t, m), "
                f"found {shape}, {np.shape(self.covariance)} and {np.shape(self.group)}"
            )
        if not (np.isfinite(self.mean).all() and np.isfinite(self.covariance).all()):
            raise ValueError("mean and covariance of a belief must be finite")


class Surrogate(Protocol):
    """A model that learns each user's utilities from that user's answers."""

    def __call__(self, answers: IntArray) -> Belief:
        """Learn from q answers of each user, (t, q, 2): positions of that user's items, winner first."""


@dataclass(frozen=True)
class Strategy:
    """How to choose questions and recommendations. The paper leaves open all but the first two settings.

    acquisition: "qeubo" asks about the pair of greatest qEUBO, "random" about any pair.
    top_leaf_first: while the leaf of greatest mean has two items, ask about a pair within it, drawn uniformly (C.3).
    repeats: whether a pair may be asked again; if not, pairs repeat only after all have been asked. The default is not
        to: where answers do not waver, a second answer tells nothing, and on real rankings fewer favourites are found.
    one_leaf: which pair plain qEUBO (without top_leaf_first) asks about while a single leaf holds all items, so that
        all pairs score the same: "random" or "first".
    recommend: which item to take if several share the greatest mean among those compared so far (section 4.1): the
        "first", the "latest" compared, a "random" one, or the one with "most_wins" minus losses (the first of these).
    Raises ValueError for any other word.
    """

    acquisition: Acquisition = "qeubo"
    top_leaf_first: bool = True
    repeats: bool = False
    one_leaf: OneLeaf = "random"
    recommend: Recommendation = "first"

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_STRATEGY, vars(self), "Strategy")


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


def ranking_oracle(ranks: ArrayLike) -> Oracle:
    """An oracle that prefers the item of lower rank; ranks: (t, m) integers, 1 for a user's favourite.

    Raises ValueError for ranks of another shape or type.

    >>> ranking_oracle([[2, 1, 3]])(np.array([[0, 1]]))
    array([False])
    """
    table = np.asarray(ranks)
    if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer):
        raise ValueError(f"ranks must be integers (users, items), found {table.dtype} {table.shape}")

    def answer(pairs: IntArray) -> BoolArray:
        if len(pairs) != len(table) or pairs.max(initial=-1) >= table.shape[1]:
            raise ValueError(
                f"ranks are of {len(table)} users and {table.shape[1]} items; asked were {len(pairs)} users "
                f"about items up to {int(pairs.max(initial=-1))}"
            )
        asked = np.take_along_axis(table, pairs, axis=1)
        return np.asarray(asked[:, 0] < asked[:, 1])

    return answer


def ask_and_learn(
    surrogate: Surrogate, oracle: Oracle, seeds: HashArray, *, n_questions: int, strategy: Strategy | None = None
) -> Course:
    """Ask every user n_questions in turn, each chosen from what the surrogate has learnt from the answers before it.

    seeds: (t,) integers, one per user. Raises ValueError for other seeds or a negative n_questions, if the surrogate
    or the oracle answers for another number of users, or if the surrogate knows fewer than two items.

    >>> from models.asking.tree_surrogate import TreeSurrogate
    >>> from models.trees.preference_tree import numeric_columns
    >>> seeds, items = np.array([7]), np.array([[[0.1], [0.4], [0.6], [0.9]]])
    >>> surrogate, oracle = TreeSurrogate(items, numeric_columns(["sweet"]), seeds), ranking_oracle([[4, 3, 1, 2]])
    >>> ask_and_learn(surrogate, oracle, seeds, n_questions=4).recommended.ravel()
    array([0, 1, 3, 2, 2])
    """
    validate_parameter_constraints(_LOOP, {"n_questions": n_questions}, "ask_and_learn")
    seeds = check_integers(seeds, "seeds").astype(np.uint64)
    strategy = strategy or Strategy()
    answers = np.zeros((len(seeds), 0, 2), dtype=np.int64)
    means, recommended = [], []
    for question in range(n_questions + 1):
        belief = surrogate(answers)
        if len(belief.mean) != len(seeds):
            raise ValueError(f"expected one seed per user, found {len(seeds)} seeds for {len(belief.mean)} users")
        means.append(belief.mean)
        recommended.append(recommend(belief, answers, seeds, strategy))
        if question < n_questions:
            pairs = next_pairs(belief, answers, seeds, strategy)
            first_wins = _check_answer(oracle(pairs), len(seeds))
            winner_first = np.where(first_wins[:, None], pairs, pairs[:, ::-1])
            answers = np.concatenate([answers, winner_first[:, None]], axis=1)
    return Course(np.stack(means), np.stack(recommended), answers.transpose(1, 0, 2))


def _check_answer(answer: ArrayLike, n_users: int) -> BoolArray:
    found = np.asarray(answer)
    if found.shape != (n_users,) or found.dtype != np.bool_:
        raise ValueError(f"the oracle must return booleans ({n_users},), found {found.dtype} {found.shape}")
    return found


def next_pairs(belief: Belief, answers: IntArray, seeds: HashArray, strategy: Strategy) -> IntArray:
    """The next pair of items to ask each user about, (t, 2), the lower position first.

    answers: (t, q, 2) so far. Ties in score are broken at random: within the best pair of leaves, each item of either
    leaf is as likely as another. Raises ValueError for fewer than two items.

    >>> belief = Belief(np.array([[0.0, 0.5, 1.0]]), np.diag([1.0, 1.0, 0.1])[None], np.arange(3)[None])
    >>> no_answers, seeds = np.zeros((1, 0, 2), dtype=int), np.array([7], dtype=np.uint64)
    >>> next_pairs(belief, no_answers, seeds, Strategy())
    array([[1, 2]])
    """
    n_users, n_items = belief.mean.shape
    if n_items < 2:
        raise ValueError(f"a question needs two items, each user has {n_items}")
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
            lots = np.where(apart.any(axis=1, keepdims=True), lots, _lots_for_the_first(len(first)))
    if not strategy.repeats:
        standing[_asked(answers, n_items)] -= 3.0
    chosen = best_by_lot(_highest(standing, value), lots)
    return np.stack([first[chosen], second[chosen]], axis=1)


def recommend(belief: Belief, answers: IntArray, seeds: HashArray, strategy: Strategy) -> IntArray:
    """The item recommended to each user, (t,): the greatest mean among the items compared so far (section 4.1).

    >>> belief = Belief(np.array([[0.0, 0.5, 1.0]]), np.diag([1.0, 1.0, 0.1])[None], np.arange(3)[None])
    >>> answers, seeds = np.array([[[1, 0]]]), np.array([7], dtype=np.uint64)  # item 2 was not compared yet
    >>> recommend(belief, answers, seeds, Strategy())
    array([1])
    """
    n_users, n_items = belief.mean.shape
    wins, losses = (_counts(answers[:, :, side], n_items) for side in (0, 1))
    compared = (wins + losses) > 0
    compared |= ~compared.any(axis=1, keepdims=True)
    standing = near_greatest(np.where(compared, belief.mean, -np.inf)).astype(np.float64)
    value = np.zeros((n_users, n_items))
    if strategy.recommend == "most_wins":
        value = (wins - losses).astype(np.float64)
    elif strategy.recommend == "latest":
        value = _last_compared(answers, n_items)
    lots = np.broadcast_to(_lots_for_the_first(n_items), standing.shape)
    if strategy.recommend == "random":
        lots = mix(mix(mix(seeds, _RECOMMENDING), answers.shape[1])[:, None], np.arange(n_items))
    return best_by_lot(_highest(standing, value), lots)


def _lots_for_the_first(n: int) -> HashArray:
    """Decreasing lots (n,), with which `best_by_lot` takes the first of equal values."""
    return np.arange(n, 0, -1, dtype=np.uint64)


def near_greatest(mean: FloatArray) -> BoolArray:
    """Whether each of m means is the greatest of its row, to the solver's precision; (t, m).

    >>> near_greatest(np.array([[0.2, 0.5, 0.5 - 1e-9]]))
    array([[False,  True,  True]])
    """
    return np.asarray(mean >= mean.max(axis=1, keepdims=True) - TIE_TOLERANCE)


def _asked(answers: IntArray, n_items: int) -> BoolArray:
    """Whether each user has been asked about each pair, (t, pairs), in the order of `np.triu_indices`."""
    asked = np.zeros((len(answers), n_items, n_items), dtype=bool)
    user = np.arange(len(answers))[:, None]
    asked[user, answers.min(axis=2), answers.max(axis=2)] = True
    return asked[:, *np.triu_indices(n_items, 1)]


def _counts(positions: IntArray, n_items: int) -> IntArray:
    """How often each item is among the positions (t, q): (t, m)."""
    n_users = len(positions)
    flat = positions + np.arange(n_users)[:, None] * n_items
    return np.bincount(flat.ravel(), minlength=n_users * n_items).reshape(n_users, n_items)


def _last_compared(answers: IntArray, n_items: int) -> FloatArray:
    """The number of the last question about each item, (t, m), counted from 1; 0 for an item never asked about."""
    last = np.zeros((len(answers), n_items))
    number = np.broadcast_to(np.arange(1, answers.shape[1] + 1)[:, None], answers.shape[1:])
    np.maximum.at(last, (np.arange(len(answers))[:, None, None], answers), number)
    return last


def _highest(standing: FloatArray, value: FloatArray) -> FloatArray:
    """The values of the entries with the highest standing of their row; -inf for the others."""
    return np.where(standing == standing.max(axis=1, keepdims=True), value, -np.inf)


def best_by_lot(value: FloatArray, lots: HashArray) -> IntArray:
    """The column of the greatest value in each row, (t, m) -> (t,); the highest lot decides among equal values.

    >>> best_by_lot(np.array([[1.0, 3.0, 3.0]]), np.array([[9, 4, 6]], dtype=np.uint64))
    array([2])
    """
    best = value == value.max(axis=1, keepdims=True)
    return np.asarray(np.where(best, lots // 2 + 1, 0).argmax(axis=1))
