"""Preference trees as the surrogate of active learning: one for each user, all grown and fitted at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.asking.active_learning import Belief
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import HashArray
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column
from models.trees.binning import Binned, bin_items
from models.trees.growth import Growth, grow
from models.trees.leaf_fit import prior_factor

PAPERS = Growth()
"""Growth as in the paper."""


@dataclass(frozen=True, eq=False)
class TreeSurrogate:
    """Grows each user's tree anew from the user's answers (dt-pbo Algorithm 1).

    items: (t, m, d) the items of each user; seeds: (t,) of the random tie rule; ratio: sigma_noise^2 / sigma_prior^2.
    """

    items: FloatArray
    columns: Sequence[Column]
    seeds: HashArray
    growth: Growth = PAPERS
    ratio: float = 0.25

    @cached_property
    def _binned(self) -> Binned:
        return bin_items(self.items.reshape(-1, self.items.shape[2]), self.columns)

    def __call__(self, answers: IntArray) -> Belief:
        """See `models.asking.active_learning.Surrogate`.

        Trees of fewer leaves than the largest are padded with leaves nobody compares: their prior does not touch the
        others. The covariance is not conditioned on a zero sum, which changes no difference of two leaves.
        """
        n_users, n_items, _ = self.items.shape
        users = np.arange(n_users)
        rows = (answers + users[:, None, None] * n_items).reshape(-1, 2)
        tree_of_item = np.repeat(users, n_items)
        trees = grow(self._binned, rows, tree_of_item, n_users, self.seeds.astype(np.int64), self.growth)
        leaf = trees.leaf_of_item
        pairs = count_pairs(
            tree_of_item[rows[:, 0]], leaf[rows[:, 0]], leaf[rows[:, 1]], n_users, int(trees.n_leaves.max())
        )
        factor = prior_factor(self.ratio)
        leaf_mean = laplace_mode(pairs, factor)
        leaf_covariance = laplace_covariance(pairs, leaf_mean, factor)
        group = leaf.reshape(n_users, n_items)
        mean = np.take_along_axis(leaf_mean, group, axis=1)
        return Belief(mean, leaf_covariance[users[:, None, None], group[:, :, None], group[:, None, :]], group)
