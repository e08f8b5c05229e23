"""Leaf values of grown trees: the posterior mode under independent priors (dt-pbo section 3.2, Eq. 9-10)."""

from __future__ import annotations

import numpy as np

from models.gaussian.laplace import PairCounts, count_pairs, laplace_mode
from models.records.arrays import FloatArray, IntArray
from models.trees.growth.trees import Trees


def count_leaf_pairs(trees: Trees, tree_of_item: IntArray, comparisons: IntArray) -> PairCounts:
    """Count the comparisons as pairs of leaves; leaves are numbered tree after tree, from left to right.

    All straddlers count; pairs within a leaf do not.
    """
    offsets = np.cumsum(trees.n_leaves) - trees.n_leaves
    leaf_of_item = offsets[tree_of_item] + trees.leaf_of_item
    return count_pairs_of_leaves(comparisons, leaf_of_item=leaf_of_item, n_leaves=int(trees.n_leaves.sum()))


def count_pairs_of_leaves(comparisons: IntArray, *, leaf_of_item: IntArray, n_leaves: int) -> PairCounts:
    """Count comparisons (n, 2) of items as pairs of leaves; leaf_of_item: (m,).

    >>> counts = count_pairs_of_leaves(np.array([[2, 0], [2, 1], [1, 0]]), leaf_of_item=np.array([0, 0, 1]), n_leaves=2)
    >>> counts.winner, counts.loser, counts.count
    (array([1], dtype=int32), array([0], dtype=int32), array([2.]))
    """
    winner, loser = leaf_of_item.take(comparisons[:, 0]), leaf_of_item.take(comparisons[:, 1])
    return count_pairs(np.zeros_like(winner), winner, loser, 1, n_leaves)


def fit_leaves(pairs: PairCounts, n_leaves: IntArray, ratio: float) -> FloatArray:
    """Mean value of every leaf, in the numbering of `count_leaf_pairs`; n_leaves: (n_trees,) the leaves of each tree.

    A leaf without comparisons with another leaf keeps its prior mean, zero. Trees with the same number of compared
    leaves are solved together.

    >>> counts = count_pairs_of_leaves(np.array([[1, 0]]), leaf_of_item=np.array([0, 1]), n_leaves=2)
    >>> fit_leaves(counts, n_leaves=np.array([2]), ratio=0.25).round(2)
    array([-0.75,  0.75])
    """
    values = np.zeros(pairs.n_values)
    is_touched = np.zeros(pairs.n_values, dtype=bool)
    is_touched[pairs.winner] = True
    is_touched[pairs.loser] = True
    touched = np.flatnonzero(is_touched)
    rank = np.cumsum(is_touched, dtype=np.int32) - 1
    tree_of_leaf = np.repeat(np.arange(len(n_leaves), dtype=np.int32), n_leaves)
    sizes = np.bincount(tree_of_leaf[touched], minlength=len(n_leaves))
    first = np.cumsum(sizes, dtype=np.int32) - sizes.astype(np.int32)
    tree = tree_of_leaf[pairs.winner]
    winner, loser = rank[pairs.winner] - first[tree], rank[pairs.loser] - first[tree]
    for size in np.unique(sizes[sizes > 0]):
        members = np.flatnonzero(sizes == size)
        place = np.full(len(sizes), -1, dtype=np.int32)
        place[members] = np.arange(len(members))
        mine = slice(None) if len(members) == len(sizes) else np.flatnonzero(place[tree] >= 0)
        group = PairCounts(len(members), int(size), place[tree[mine]], winner[mine], loser[mine], pairs.count[mine])
        values[touched[first[members][:, None] + np.arange(size)]] = laplace_mode(group, prior_factor(ratio))
    return values


def prior_factor(ratio: float) -> float:
    """L of the leaves' prior, in units of sigma_noise: sigma_prior / sigma_noise = 1 / sqrt(ratio) (dt-pbo D.1).

    >>> prior_factor(0.25)
    2.0
    """
    return float(1.0 / np.sqrt(ratio))
