"""The user tree: Eq. 15 by brute force, planted groups found, searches labelled."""

from __future__ import annotations

import itertools

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


@given(
    votes(), st.lists(st.integers(0, 3), min_size=7, max_size=7), st.lists(st.integers(0, 3), min_size=7, max_size=7)
)
@settings(max_examples=100, deadline=None)
def test_the_root_split_is_the_best_of_every_threshold_and_every_subset(
    data: tuple, numbers: list[int], codes: list[int]
) -> None:
    comparisons, users, n_users = data
    X = np.array([numbers[:n_users], codes[:n_users]], dtype=float).T
    columns = [
        *numeric_columns(["number"]),
        Column(name="code", feature="code", kind=FeatureKind.CATEGORICAL, levels=tuple("abcd")),
    ]
    root = UserTree(columns, max_depth=1).fit(X, comparisons, users).nodes_[0]
    lefts = [set(np.flatnonzero(X[:, 0] < cut)) for cut in (0.5, 1.5, 2.5)]
    lefts += [
        set(np.flatnonzero(np.isin(X[:, 1], subset)))
        for size in range(1, 4)
        for subset in itertools.combinations(range(4), size)
    ]
    possible = [equation_15(comparisons, users, left) for left in lefts if 0 < len(left) < n_users]
    if possible:
        assert root.score == max(possible)
    else:
        assert root.column is None


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
