"""Learning a new user's taste from the users before: a user tree with an item tree at each of its leaves (dt-pbo G.1).

Users come in cohorts. Before each, the user tree is grown from what the earlier users answered, and an item tree from
the answers of each of its groups. A new user starts from the item tree of the group her features put her in: its
partition of the items, and its leaf means as the mean of her prior, which is wide enough for her own answers to
overrule it. That partition stays, so she is asked about pairs between leaves only: no answer could refine the top leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.asking.active_learning import Belief, Course, Oracle, Strategy, ask_and_learn
from models.asking.tree_surrogate import TreeSurrogate
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import HashArray
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column
from models.trees.growth import Growth
from models.trees.leaf_fit import prior_factor
from models.trees.preference_tree import PreferenceTree
from models.trees.user_tree import UserTree


@dataclass(frozen=True, eq=False)
class Population:
    """Users with features, and the items each of them is asked about.

    features: (u, d_u) with columns user_columns; items: (m, d) with columns item_columns; shown: (u, k) the items, as
    rows, of each user; seeds: (u,) one a user.
    """

    features: FloatArray
    user_columns: Sequence[Column]
    items: FloatArray
    item_columns: Sequence[Column]
    shown: IntArray
    seeds: HashArray

    def part(self, users: slice) -> Population:
        """Some of the users, with all items."""
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
    """How earlier users help: a user tree and item trees of at most so many questions, grown anew after each cohort.

    prior_ratio: sigma_noise^2 / sigma_prior^2 of a new user's prior about the group's means; small is wide.
    """

    cohort: int = 50
    user_depth: int = 5
    item_depth: int = 5
    prior_ratio: float = 0.25


@dataclass(frozen=True, eq=False)
class _GroupSurrogate:
    """Learns the values of leaves that do not change: group (t, k) of each user's items, prior_mean (t, leaves)."""

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
    """Ask every user from nothing: her own tree, of at most item_depth questions."""
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
    """Ask cohort after cohort, each with what the earlier ones answered; the first has nothing to start from.

    oracle_of: one a cohort, in the order of the users; there are as many as `cohorts` gives slices.
    """
    rule = rule or HistoryRule()
    courses: list[Course] = []
    for users, oracle in zip(cohorts(len(population.shown), rule.cohort), oracle_of, strict=True):
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
    """The users cut into cohorts, in their order."""
    return [slice(start, min(start + size, n_users)) for start in range(0, n_users, size)]


def _start_from(earlier: Population, answers: IntArray, mine: Population, rule: HistoryRule) -> _GroupSurrogate:
    """The surrogate of new users after the answers (q, u, 2) of the earlier ones."""
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
