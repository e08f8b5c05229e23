"""Out of core: the same tree from batches as from all comparisons at once, node for node."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.trees.growth.pairs import ArrayBatches, Batches
from models.trees.preference_tree import PreferenceTree
from tests.models.strategies import PairwiseData, pairwise_data


def cut(comparisons: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    return np.split(comparisons, np.cumsum(sizes)[np.cumsum(sizes) < len(comparisons)])


@given(pairwise_data(), st.lists(st.integers(1, 9), max_size=6), st.sampled_from(["lowest", "widest_gap", "random"]))
@settings(max_examples=150, deadline=None)
def test_batches_of_any_sizes_make_the_tree_of_the_whole(data: PairwiseData, sizes: list[int], tie_break: str) -> None:
    whole = PreferenceTree(data.columns, tie_break=tie_break).fit(data.items, data.comparisons)
    batches = cut(data.comparisons, sizes)
    assert (
        PreferenceTree(data.columns, tie_break=tie_break).fit_batches(data.items, batches).to_dict() == whole.to_dict()
    )


def test_growth_limits_hold_for_batches_too() -> None:
    rng = np.random.default_rng(0)
    items = rng.normal(size=(60, 3))
    pairs = np.array([(i, j) for i, j in itertools.permutations(range(60), 2) if items[i, 0] > items[j, 0]])
    for limits in ({"max_depth": 2}, {"min_samples_split": 100}, {"min_score": 0.4}):
        whole = PreferenceTree(**limits).fit(items, pairs)
        assert PreferenceTree(**limits).fit_batches(items, np.array_split(pairs, 7)).to_dict() == whole.to_dict()


def test_batches_may_be_added_up_elsewhere() -> None:
    """Anything with a `total` will do, such as one that counts each part on another machine."""

    class Elsewhere:
        asked = 0

        def total(self, measure: Callable[[np.ndarray], Any]) -> Any:
            self.asked += 1
            return measure(first) + measure(second)

    items = np.arange(6.0)[:, None]
    first, second = np.array([[5, 0], [4, 1]]), np.array([[3, 2], [1, 0]])
    elsewhere = Elsewhere()
    assert isinstance(elsewhere, Batches)
    tree = PreferenceTree().fit_batches(items, elsewhere)
    assert tree.to_dict() == PreferenceTree().fit(items, np.vstack([first, second])).to_dict()
    assert elsewhere.asked == tree.depth_ + 2  # one pass per level, one for the leaves, one that finds nothing left


def test_batches_that_cannot_be_gone_through_again_are_refused() -> None:
    def generator() -> Iterable[np.ndarray]:
        yield np.array([[0, 1]])

    with pytest.raises(ValueError, match="not a generator"):
        PreferenceTree().fit_batches(np.zeros((2, 1)), generator())
    with pytest.raises(ValueError, match="no batches of comparisons"):
        PreferenceTree().fit_batches(np.zeros((2, 1)), [])


def test_kept_straddlers_need_all_comparisons_in_memory() -> None:
    with pytest.raises(ValueError, match="only where all comparisons are in memory: use fit"):
        PreferenceTree(straddlers="keep").fit_batches(np.zeros((2, 1)), [np.array([[0, 1]])])


def test_a_bad_comparison_in_a_batch_is_refused() -> None:
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        ArrayBatches([np.array([[0, 5]])], 2).total(len)
