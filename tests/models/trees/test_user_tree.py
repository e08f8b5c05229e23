"""The user tree against Eq. 15 by brute force; planted groups are found and local searches are labelled."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.records.features import Column, FeatureKind
from models.trees.preference_tree import numeric_columns
from models.trees.user_tree import UserTree, count_votes, threshold_gains


def equation_15(comparisons: np.ndarray, users: np.ndarray, left: set[int]) -> int:
    total = 0
    for side in (left, set(users) - left):
        mine = [tuple(pair) for pair, user in zip(comparisons, users, strict=True) if user in side]
        for i, j in itertools.combinations(range(int(comparisons.max()) + 1), 2):
            total += abs(mine.count((i, j)) - mine.count((j, i)))
    return total


@st.composite
def votes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    n_users = draw(st.integers(2, 7))
    item = st.integers(0, 4)
    pair = st.tuples(item, item).filter(lambda two: two[0] != two[1])
    rows = draw(st.lists(st.tuples(st.integers(0, n_users - 1), pair), min_size=1, max_size=25))
    return np.array([pair for _, pair in rows]), np.array([user for user, _ in rows]), n_users


@given(votes())
@settings(max_examples=100, deadline=None)
def test_gains_of_all_thresholds_at_once_are_those_of_equation_15_one_by_one(data: tuple) -> None:
    comparisons, users, n_users = data
    gains = threshold_gains(count_votes(comparisons, users), n_users)
    assert gains.tolist() == [equation_15(comparisons, users, set(range(u))) for u in range(n_users + 1)]


values = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan]), min_size=7, max_size=7)


@given(votes(), values, values, st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_the_root_split_is_the_best_of_every_threshold_and_every_subset_with_the_missing_left(
    data: tuple, numbers: list[float], codes: list[float], min_users: int
) -> None:
    comparisons, users, n_users = data
    X = np.array([numbers[:n_users], codes[:n_users]], dtype=float).T
    columns = [
        *numeric_columns(["number"]),
        Column(name="code", feature="code", kind=FeatureKind.CATEGORICAL, levels=tuple("abcd")),
    ]
    tree = UserTree(columns, max_depth=1, min_users=min_users).fit(X, comparisons, users)
    root = tree.nodes_[0]
    numbers_known, codes_known = (sorted(set(column[~np.isnan(column)])) for column in X.T)
    lefts = [X[:, 0] < high for high in numbers_known[1:]]
    lefts += [
        np.isin(X[:, 1], subset)
        for size in range(1, len(codes_known))
        for subset in itertools.combinations(codes_known, size)
    ]
    missing = np.isnan(X).T[np.repeat([0, 1], [len(numbers_known[1:]), len(lefts) - len(numbers_known[1:])])]
    with_missing = [left | gone for left, gone in zip(lefts, missing, strict=True)]
    possible = [
        equation_15(comparisons, users, set(np.flatnonzero(left)))
        for left in with_missing
        if min_users <= left.sum() <= n_users - min_users
    ]
    if not possible:
        assert root.column is None
        return
    assert root.score == max(possible)
    left = tree.apply(X) == 0
    assert left[np.isnan(X[:, root.column])].all()
    assert equation_15(comparisons, users, set(np.flatnonzero(left))) == root.score
    assert [node.n_items for node in tree.nodes_[1:]] == [left.sum(), (~left).sum()]


def planted(n_users: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Users over 40 in the West rank items backwards; age and region decide, noise is noise."""
    rng = np.random.default_rng(seed)
    features = np.column_stack([rng.uniform(15, 70, n_users), rng.integers(0, 2, n_users), rng.normal(size=n_users)])
    backwards = (features[:, 0] > 40) & (features[:, 1] == 1)
    pairs = np.array(list(itertools.combinations(range(5), 2)))
    comparisons = np.vstack([pairs[:, ::-1] if turn else pairs for turn in backwards])
    return features, comparisons, np.repeat(np.arange(n_users), len(pairs))


def test_planted_groups_are_found() -> None:
    features, comparisons, users = planted()
    tree = UserTree(max_depth=2).fit(features, comparisons, users)
    assert {node.column for node in tree.nodes_ if node.column is not None} <= {0, 1, 2}
    assert tree.nodes_[0].column in {0, 1}
    groups = tree.apply(features)
    backwards = (features[:, 0] > 40) & (features[:, 1] == 1)
    assert len(set(groups[backwards])) == 1
    assert not set(groups[backwards]) & set(groups[~backwards])


def test_many_categories_are_searched_and_say_so() -> None:
    features, comparisons, users = planted()
    region = np.where(features[:, 1] == 1, 2 * (np.arange(len(features)) % 6), 2 * (np.arange(len(features)) % 6) + 1)
    column = Column(name="region", feature="region", kind=FeatureKind.CATEGORICAL, levels=tuple("abcdefghijkl"))
    tree = UserTree([column], max_depth=1).fit(region[:, None].astype(float), comparisons, users)
    assert tree.searched_ == {0}
    few = UserTree([column], max_depth=1).fit((region % 4)[:, None].astype(float), comparisons, users)
    assert few.searched_ == set()


@pytest.mark.parametrize(
    ("kind", "left_of_0_1_2", "gain"), [(FeatureKind.NUMERIC, [0, 1, 1], 4), (FeatureKind.CATEGORICAL, [1, 1, 0], 8)]
)
def test_the_votes_of_users_without_a_value_count_on_the_left(
    kind: FeatureKind, left_of_0_1_2: list[int], gain: int
) -> None:
    """Votes: -1 at value 0, -2 at 1, +1 at 2, and +4 of users without a value.

    Left, the four make 0 against {1, 2} the best threshold; right, or not counted, it would be {0, 1} against 2.
    """
    X = np.array([[0.0], [1.0], [1.0], [2.0], *[[np.nan]] * 4])
    comparisons = np.array([[1, 0]] * 3 + [[0, 1]] * 5)
    column = Column(name="x", feature="x", kind=kind, levels=tuple("abc") if kind == FeatureKind.CATEGORICAL else ())
    tree = UserTree([column], max_depth=1).fit(X, comparisons, np.arange(8))
    zero, one, two = left_of_0_1_2
    assert tree.apply(X).tolist() == [zero, one, one, two, 0, 0, 0, 0]
    assert tree.nodes_[0].score == gain


@pytest.mark.parametrize("max_depth", [0, 1, 2])
def test_the_deepest_group_lies_exactly_at_max_depth(max_depth: int) -> None:
    features, comparisons, users = planted()
    assert (
        max(node.depth for node in UserTree(max_depth=max_depth).fit(features, comparisons, users).nodes_) == max_depth
    )


@pytest.mark.parametrize(("min_users", "groups"), [(2, 2), (3, 1)])
def test_a_group_may_have_exactly_min_users(min_users: int, groups: int) -> None:
    X, comparisons = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    code = Column(name="code", feature="code", kind=FeatureKind.CATEGORICAL, levels=("a", "b"))
    for columns in (None, [code]):
        assert UserTree(columns, min_users=min_users).fit(X, comparisons, np.arange(4)).n_leaves_ == groups


def test_users_without_a_value_count_towards_min_users() -> None:
    X, comparisons = np.array([[0.0], [np.nan], [1.0], [1.0]]), np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    code = Column(name="code", feature="code", kind=FeatureKind.CATEGORICAL, levels=("a", "b"))
    for columns in (None, [code]):
        assert UserTree(columns, min_users=2).fit(X, comparisons, np.arange(4)).apply(X).tolist() == [0, 0, 1, 1]


def test_missing_features_fall_left_and_limits_hold() -> None:
    features, comparisons, users = planted()
    features[:30, 0] = np.nan
    tree = UserTree(max_depth=3, min_users=10).fit(features, comparisons, users)
    assert max(node.depth for node in tree.nodes_) <= 3
    assert all(node.n_items >= 10 for node in tree.nodes_)
    sizes = np.bincount(tree.apply(features), minlength=tree.n_leaves_)
    assert [node.n_items for node in tree.nodes_ if node.leaf is not None] == sizes.tolist()


def test_users_who_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match=r"users: 1 rows outside 0\.\.1"):
        UserTree().fit(np.zeros((2, 1)), np.array([[0, 1]]), np.array([5]))


def test_a_user_tree_may_be_deeper_than_python_recurses() -> None:
    n = sys.getrecursionlimit() + 200
    tree = UserTree(max_depth=n).fit(np.arange(float(n))[:, None], [[0, 1]] * n, np.arange(n))
    assert tree.n_leaves_ == n
