"""Learning a new user's taste from earlier users: a user tree with an item tree at each of its leaves (dt-pbo G.1).

Users come in cohorts. Before each cohort, a user tree is grown from the answers of all earlier users, and an item tree
from the answers of each of its groups. A new user's features put her in a group; she starts from its item tree. Its
leaf means are the mean of her prior, which is wide enough for her own answers to overrule it. Its partition of the
items stays as it is, so she is only asked about pairs between leaves: no answer could refine the top leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.active_learning import Belief, Course, Oracle, Strategy, ask_and_learn
from models.asking.tree_surrogate import TreeSurrogate
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import HashArray
from models.numerics.validation import check_integers, check_rows
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column
from models.trees.growth.grow import Growth
from models.trees.leaf_fit import prior_factor
from models.trees.preference_tree import PreferenceTree
from models.trees.user_tree import UserTree

_POSITIVE = [Interval(Integral, 1, None, closed="left")]
_RULE: dict[str, list[Any]] = {
    "cohort": _POSITIVE,
    "user_depth": _POSITIVE,
    "item_depth": _POSITIVE,
    "prior_ratio": [Interval(Real, 0, None, closed="neither")],
}


@dataclass(frozen=True, eq=False)
class Population:
    """Users with features, and the items each of them is asked about.

    features: (u, d_u) with columns user_columns; items: (m, d) with columns item_columns; shown: (u, k) rows of the
    items each user is asked about; seeds: (u,) integers, one per user.
    Raises ValueError for other shapes and for rows that do not exist.
    """

    features: FloatArray
    user_columns: Sequence[Column]
    items: FloatArray
    item_columns: Sequence[Column]
    shown: IntArray
    seeds: HashArray

    def __post_init__(self) -> None:
        """Check shapes and rows."""
        users = len(self.features)
        if np.ndim(self.shown) != 2 or len(self.shown) != users:
            raise ValueError(f"shown must be rows of items ({users}, k), found shape {np.shape(self.shown)}")
        check_rows(np.ravel(self.shown), "shown", len(self.items))
        check_integers(self.seeds, "seeds", users)

    def part(self, users: slice) -> Population:
        """The given users, with all items."""
        return Population(
            self.features[users],
            self.user_columns,
            self.items,
            self.item_columns,
            self.shown[users],
            self.seeds[users],
        )


@dataclass(frozen=True)
class HistoryRule:
    """Size of a cohort, depth limits of the user tree and the item trees, and the width of a new user's prior.

    prior_ratio: sigma_noise^2 / sigma_prior^2 of a new user's prior about the group's means; small is wide.
    Raises ValueError for a size, depth or ratio that is not positive.
    """

    cohort: int = 50
    user_depth: int = 5
    item_depth: int = 5
    prior_ratio: float = 0.25

    def __post_init__(self) -> None:
        """Check every setting."""
        validate_parameter_constraints(_RULE, vars(self), "HistoryRule")


@dataclass(frozen=True, eq=False)
class _GroupSurrogate:
    """Learns the values of fixed leaves: group (t, k) the leaf of each user's items, prior_mean (t, leaves)."""

    group: IntArray
    prior_mean: FloatArray
    ratio: float

    def __call__(self, answers: IntArray) -> Belief:
        n_users, n_leaves = self.prior_mean.shape
        users = np.arange(n_users)
        leaves = np.take_along_axis(self.group[:, None, :], answers.reshape(n_users, 1, -1), axis=2).reshape(-1, 2)
        owner = np.repeat(users, answers.shape[1])
        pairs = count_pairs(owner, leaves[:, 0], leaves[:, 1], n_users, n_leaves)
        factor = prior_factor(self.ratio)
        leaf_mean = laplace_mode(pairs, factor, self.prior_mean)
        covariance = laplace_covariance(pairs, leaf_mean, factor)
        mean = np.take_along_axis(leaf_mean, self.group, axis=1)
        return Belief(
            mean, covariance[users[:, None, None], self.group[:, :, None], self.group[:, None, :]], self.group
        )


def learn_without_history(
    population: Population, oracle: Oracle, *, n_questions: int, item_depth: int, strategy: Strategy | None = None
) -> Course:
    """Ask every user without any history: each learns a tree of her own, of depth item_depth at most.

    Raises ValueError as `ask_and_learn` does, and for an item_depth below 1.

    >>> from models.asking.active_learning import ranking_oracle
    >>> age, sweet = [[Column(name=name, feature=name, kind="numeric")] for name in ("age", "sweet")]
    >>> ages, items, shown = np.array([[20.0]]), np.array([[0.1], [0.5], [0.9]]), np.array([[0, 1, 2]])
    >>> person = Population(ages, age, items, sweet, shown, seeds=np.array([7]))
    >>> learn_without_history(person, ranking_oracle([[3, 2, 1]]), n_questions=3, item_depth=4).mean[-1].argmax(axis=1)
    array([2])
    """
    validate_parameter_constraints(_RULE, {"item_depth": item_depth}, "learn_without_history")
    surrogate = TreeSurrogate(
        population.items[population.shown],
        population.item_columns,
        population.seeds,
        Growth(max_depth=item_depth),
    )
    return ask_and_learn(surrogate, oracle, population.seeds, n_questions=n_questions, strategy=strategy)


def learn_in_cohorts(
    population: Population,
    oracle_of: Sequence[Oracle],
    *,
    n_questions: int,
    rule: HistoryRule | None = None,
    strategy: Strategy | None = None,
) -> Course:
    """Ask cohort after cohort, each with the answers of the earlier ones; the first starts without history.

    oracle_of: one oracle for each slice of `cohorts`, in that order. Raises ValueError for another number of oracles,
    and as `ask_and_learn` does.

    >>> from models.asking.active_learning import ranking_oracle
    >>> age, sweet = [[Column(name=name, feature=name, kind="numeric")] for name in ("age", "sweet")]
    >>> ages, items, shown = np.arange(6.0)[:, None], np.array([[0.1], [0.5], [0.9]]), np.tile([0, 1, 2], (6, 1))
    >>> oracles = [ranking_oracle([[3, 2, 1]] * 3), ranking_oracle([[3, 2, 1]] * 3)]
    >>> people, rule = Population(ages, age, items, sweet, shown, seeds=np.arange(6)), HistoryRule(cohort=3)
    >>> course = learn_in_cohorts(people, oracles, n_questions=4, rule=rule)
    >>> course.mean[0].argmax(axis=1)  # before any question, the second cohort knows the favourite of the first
    array([0, 0, 0, 2, 2, 2])
    """
    rule = rule or HistoryRule()
    courses: list[Course] = []
    parts = cohorts(len(population.shown), rule.cohort)
    if len(oracle_of) != len(parts):
        raise ValueError(f"oracle_of must hold one oracle for each of {len(parts)} cohorts, found {len(oracle_of)}")
    for users, oracle in zip(parts, oracle_of, strict=True):
        mine = population.part(users)
        if not courses:
            courses.append(
                learn_without_history(
                    mine, oracle, n_questions=n_questions, item_depth=rule.item_depth, strategy=strategy
                )
            )
            continue
        earlier = population.part(slice(0, users.start))
        surrogate = _start_from(earlier, np.concatenate([course.answers for course in courses], axis=1), mine, rule)
        between_leaves = replace(strategy or Strategy(), top_leaf_first=False)
        courses.append(ask_and_learn(surrogate, oracle, mine.seeds, n_questions=n_questions, strategy=between_leaves))
    return Course(
        np.concatenate([course.mean for course in courses], axis=1),
        np.concatenate([course.recommended for course in courses], axis=1),
        np.concatenate([course.answers for course in courses], axis=1),
    )


def cohorts(n_users: int, size: int) -> list[slice]:
    """The users cut into cohorts of the given size, in their order; the last may be smaller.

    >>> cohorts(5, size=2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    validate_parameter_constraints({"size": _POSITIVE}, {"size": size}, "cohorts")
    return [slice(start, min(start + size, n_users)) for start in range(0, n_users, size)]


def _start_from(earlier: Population, answers: IntArray, mine: Population, rule: HistoryRule) -> _GroupSurrogate:
    """The surrogate for new users, given the answers (q, u, 2) of the earlier ones."""
    owner = np.tile(np.arange(len(earlier.shown)), len(answers))
    asked = np.take_along_axis(earlier.shown[owner], answers.reshape(-1, 2), axis=1)
    user_tree = UserTree(earlier.user_columns, max_depth=rule.user_depth).fit(earlier.features, asked, owner)
    old_group, new_group = user_tree.apply(earlier.features), user_tree.apply(mine.features)
    n_new, width = mine.shown.shape
    group = np.zeros((n_new, width), dtype=np.int64)
    prior_mean = np.zeros((n_new, 2**rule.item_depth))
    for number in np.unique(new_group):
        item_tree = PreferenceTree(earlier.item_columns, max_depth=rule.item_depth)
        item_tree.fit(earlier.items, asked[old_group[owner] == number])
        members = np.flatnonzero(new_group == number)
        group[members] = item_tree.apply(earlier.items)[mine.shown[members]]
        prior_mean[members, : item_tree.n_leaves_] = item_tree.leaf_mean_
    return _GroupSurrogate(group, prior_mean, rule.prior_ratio)
