"""Items as columns of numbers for linear models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from models.numerics.validation import check_codes, check_columns, check_items
from models.records.arrays import FloatArray
from models.records.features import Column, FeatureKind


class Design:
    """How items become columns of numbers; learnt from known items (m, d).

    Numbers and ordinals are standardised, binaries centred; a missing value takes the mean, and a column of its own
    says where it is missing, if any known item lacks it. A category becomes one column for each known level, all zero
    where it is missing. Raises ValueError for columns that do not fit the items.

    >>> design = Design([[1.0], [3.0], [float("nan")]])
    >>> design([[3.0], [float("nan")]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, known: ArrayLike, columns: Sequence[Column] | None = None) -> None:
        items = check_items(known)
        self.columns = check_columns(columns, items.shape[1])
        check_codes(items, self.columns)
        self._levels: dict[int, FloatArray] = {}
        self._centre, self._scale = np.zeros(items.shape[1]), np.ones(items.shape[1])
        self._may_miss = [bool(np.isnan(items[:, k]).any()) for k in range(items.shape[1])]
        for k, column in enumerate(self.columns):
            values = items[~np.isnan(items[:, k]), k]
            if column.kind is FeatureKind.CATEGORICAL:
                self._levels[k] = np.unique(values)
            elif len(values):
                self._centre[k] = values.mean()
                spread = float(values.std()) if column.kind is not FeatureKind.BINARY else 1.0
                self._scale[k] = spread or 1.0

    def __call__(self, items: ArrayLike) -> FloatArray:
        """The items (n, d) as columns of numbers (n, p), none missing."""
        X = check_items(items, len(self.columns))
        blocks: list[FloatArray] = [np.zeros((len(X), 0))]
        for k in range(len(self.columns)):
            missing = np.isnan(X[:, k])
            if k in self._levels:
                blocks.append((X[:, [k]] == self._levels[k]).astype(np.float64))
            else:
                blocks.append(np.where(missing, 0.0, (X[:, k] - self._centre[k]) / self._scale[k])[:, None])
            if self._may_miss[k]:
                blocks.append(missing[:, None].astype(np.float64))
        return np.hstack(blocks)
