"""Preferential Gaussian processes as the surrogate of active learning, one for each user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from models.asking.active_learning import Belief
from models.gaussian.preference_gp import Optimizer, PreferenceGPs
from models.numerics.validation import check_users_items
from models.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class GPSurrogate:
    """Fits each user's process anew to the user's answers, hyperparameters included (dt-pbo F.1).

    items: (t, m, d) the items of each user, without missing values; kernel, optimizer: as for `PreferenceGPs`.
    Raises ValueError for items of another shape; when called, for parameters that `PreferenceGPs` does not accept.

    >>> surrogate = GPSurrogate(np.array([[[0.1], [0.5], [0.9]]]))
    >>> belief = surrogate(np.array([[[2, 0], [2, 1]]]))  # the last item was preferred twice
    >>> belief.mean.argmax(axis=1)
    array([2])
    """

    items: FloatArray
    kernel: Kernel | None = None
    optimizer: Optimizer | None = "evidence"

    def __post_init__(self) -> None:
        """Check the shape of the items."""
        check_users_items(self.items)

    def __call__(self, answers: IntArray) -> Belief:
        """See `models.asking.active_learning.Surrogate`. Only equal items share a group."""
        n_users, n_items, n_features = np.shape(self.items)
        users = np.arange(n_users)
        rows = (answers + users[:, None, None] * n_items).reshape(-1, 2)
        processes = PreferenceGPs(self.kernel, optimizer=self.optimizer).fit(
            np.reshape(self.items, (-1, n_features)), rows, np.repeat(users, n_items), n_users=n_users
        )
        group = processes.group_.reshape(n_users, n_items)
        mean = np.take_along_axis(processes.mean_, group, axis=1)
        covariance = processes.covariance_[users[:, None, None], group[:, :, None], group[:, None, :]]
        return Belief(mean, covariance, group)
