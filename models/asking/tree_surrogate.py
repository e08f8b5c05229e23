"""Preference trees as the surrogate of active learning: one for each user, all grown and fitted at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from models.asking.active_learning import Belief
from models.gaussian.laplace import count_pairs, laplace_covariance, laplace_mode
from models.numerics.hashing import HashArray
from models.numerics.validation import check_columns, check_integers, check_items, check_users_items
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column
from models.trees.growth.binning import Binned, bin_items
from models.trees.growth.grow import Growth, grow
from models.trees.leaf_fit import prior_factor

PAPERS = Growth()
"""Growth as in the paper."""

_CONSTRAINTS = {"growth": [Growth], "ratio": [Interval(Real, 0, None, closed="neither")]}


@dataclass(frozen=True, eq=False)
class TreeSurrogate:
    """Grows each user's tree anew from the user's answers (dt-pbo Algorithm 1).

    items: (t, m, d) the items of each user; seeds: (t,) integers, for random tie breaks; ratio: sigma_noise^2 /
    sigma_prior^2. Raises ValueError for arrays of other shapes and for a ratio that is not positive and finite.

    >>> columns = [Column(name="sweet", feature="sweet", kind="numeric")]
    >>> surrogate = TreeSurrogate(np.array([[[0.1], [0.5], [0.9]]]), columns, seeds=np.array([7]))
    >>> belief = surrogate(np.array([[[2, 0], [2, 1]]]))  # the last item was preferred twice
    >>> belief.group
    array([[0, 0, 1]])
    """

    items: FloatArray
    columns: Sequence[Column]
    seeds: HashArray
    growth: Growth = PAPERS
    ratio: float = 0.25

    def __post_init__(self) -> None:
        """Check shapes and settings."""
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "TreeSurrogate")
        check_users_items(self.items)
        check_columns(tuple(self.columns), np.shape(self.items)[2])
        check_integers(self.seeds, "seeds", len(self.items))

    @cached_property
    def _binned(self) -> Binned:
        return bin_items(check_items(np.reshape(self.items, (-1, np.shape(self.items)[2]))), self.columns)

    def __call__(self, answers: IntArray) -> Belief:
        """See `models.asking.active_learning.Surrogate`.

        Smaller trees are padded to the number of leaves of the largest; nobody compares these leaves, so they change
        no other. The covariance is not conditioned on a zero sum: that would change no difference of two leaves.
        """
        n_users, n_items, _ = np.shape(self.items)
        users = np.arange(n_users)
        rows = (answers + users[:, None, None] * n_items).reshape(-1, 2)
        tree_of_item = np.repeat(users, n_items)
        trees = grow(self._binned, rows, tree_of_item, n_users, check_integers(self.seeds, "seeds"), self.growth)
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
