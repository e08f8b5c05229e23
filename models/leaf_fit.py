"""Leaf values of grown trees: the Laplace mode under independent priors (dt-pbo section 3.2, Eq. 9-10)."""

from __future__ import annotations

import numpy as np

from models.laplace import PairCounts, count_pairs, laplace_mode
from models.records import FloatArray, IntArray
from models.trees import Trees


def leaf_pairs(trees: Trees, leaf_of_item: IntArray, tree_of_item: IntArray, comparisons: IntArray) -> IntArray:
    """The comparisons as leaves, (n, 2), of all trees in one numbering: tree after tree, leaf after leaf."""
    offsets = np.cumsum(trees.n_leaves) - trees.n_leaves
    return (offsets[tree_of_item] + leaf_of_item)[comparisons]


def fit_leaves(trees: Trees, pairs: IntArray, ratio: float) -> FloatArray:
    """Mean value of every leaf, in the numbering of `leaf_pairs`; all straddlers count, pairs within a leaf do not.

    A leaf that no comparison with another leaf touches keeps its prior mean, zero. Trees with equally many touched
    leaves are solved together.
    """
    values = np.zeros(int(trees.n_leaves.sum()))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    touched, local = np.unique(pairs, return_inverse=True)
    tree_of_leaf = np.repeat(np.arange(len(trees.n_leaves)), trees.n_leaves)
    tree_of_touched = tree_of_leaf[touched]
    sizes = np.bincount(tree_of_touched, minlength=len(trees.n_leaves))
    first = np.cumsum(sizes) - sizes
    tree_of_pair = tree_of_leaf[pairs[:, 0]]
    within = local.reshape(pairs.shape) - first[tree_of_pair][:, None]
    for size in np.unique(sizes[sizes > 0]):
        members = np.flatnonzero(sizes == size)
        place = np.full(len(sizes), -1)
        place[members] = np.arange(len(members))
        mine = place[tree_of_pair] >= 0
        counts = count_pairs(
            place[tree_of_pair[mine]], within[mine, 0], within[mine, 1], n_problems=len(members), n_values=int(size)
        )
        rows = first[members][:, None] + np.arange(size)
        values[touched[rows]] = laplace_mode(counts, prior_factor(ratio))
    return values


def prior_factor(ratio: float) -> float:
    """L of the leaves' prior, in units of sigma_noise: sigma_prior / sigma_noise = 1 / sqrt(ratio) (dt-pbo D.1)."""
    return float(1.0 / np.sqrt(ratio))


def pairs_of_one_tree(pairs: IntArray, n_leaves: int) -> PairCounts:
    """The leaf pairs of a single tree, counted."""
    return count_pairs(np.zeros(len(pairs), dtype=np.int64), pairs[:, 0], pairs[:, 1], 1, n_leaves)
