"""A product kernel over all columns of the items or some of them, and its derivatives by the lengthscales.

k(x, x') = prod_j k_j(x_j, x'_j), and every k_j(x, x) = 1 (pref-shap, Proposition 3.1):

- a number (numeric or ordinal): exp(-(x - x')^2 / (2 l^2));
- a label (binary or categorical): 1 for the same label, exp(-1 / (2 l^2)) for another; a multi_hot feature has one
  binary column per level, so its kernel is exp(-(number of labels that differ) / (2 l^2));
- missing values are not filled in. Between a missing and a known value, k_j is its mean over the known values (for a
  number: over a normal distribution with their mean and standard deviation). Between two missing values, k_j is 1.
  A missing value acts as the mean of the known ones plus a direction of its own, so the kernel stays positive definite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from models.numerics.validation import LARGEST, check_codes, check_items
from models.records.arrays import FloatArray, IntArray
from models.records.features import Column, FeatureKind

Lengthscales = Mapping[str, float] | float | None
"""Lengthscales by feature, one for all features, or the default."""

_NUMBERS = {FeatureKind.NUMERIC, FeatureKind.ORDINAL}


class _ColumnKernel(Protocol):
    """The kernel k_j of one column, given by its exponent -log k_j >= 0."""

    def exponent(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """-log k_j between a (m,) and b (n,), (m, n)."""
        ...

    def slope(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """The derivative of the exponent by log l, (m, n)."""
        ...


@dataclass(frozen=True)
class _NumberKernel:
    """RBF kernel of a number; mean, deviation: of the known values."""

    lengthscale: float
    mean: float
    deviation: float

    def exponent(self, a: FloatArray, b: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # the kernel of items that far apart is zero
            known = np.subtract.outer(a, b) ** 2 / (2 * self.lengthscale**2)
        return _with_missing(known, a, b, self._to_missing(a), self._to_missing(b))

    def slope(self, a: FloatArray, b: FloatArray) -> FloatArray:
        known = -(np.subtract.outer(a, b) ** 2) / self.lengthscale**2
        return _with_missing(known, a, b, self._slope_to_missing(a), self._slope_to_missing(b))

    @property
    def _variance(self) -> float:
        return self.lengthscale**2 + self.deviation**2

    def _to_missing(self, x: FloatArray) -> FloatArray:
        """-log of E k(z, x), z normal: l / sqrt(v) exp(-(x - mean)^2 / (2 v)), v = l^2 + deviation^2."""
        return np.asarray((x - self.mean) ** 2 / (2 * self._variance) + 0.5 * math.log(self._variance)) - math.log(
            self.lengthscale
        )

    def _slope_to_missing(self, x: FloatArray) -> FloatArray:
        share = self.lengthscale**2 / self._variance
        return np.asarray(share - 1.0 - share * (x - self.mean) ** 2 / self._variance)


@dataclass(frozen=True, eq=False)
class _LabelKernel:
    """Kernel of a label; shares: (levels,) the share of each label among the known ones."""

    lengthscale: float
    shares: FloatArray

    def exponent(self, a: FloatArray, b: FloatArray) -> FloatArray:
        known = (a[:, None] != b[None, :]) / (2 * self.lengthscale**2)
        return _with_missing(known, a, b, -np.log(self._like_missing(a)), -np.log(self._like_missing(b)))

    def slope(self, a: FloatArray, b: FloatArray) -> FloatArray:
        known = (a[:, None] != b[None, :]) / -(self.lengthscale**2)
        return _with_missing(known, a, b, self._slope_to_missing(a), self._slope_to_missing(b))

    @property
    def _other(self) -> float:
        return math.exp(-1 / (2 * self.lengthscale**2))

    def _share(self, x: FloatArray) -> FloatArray:
        """The share of each label; zero for one that was never seen."""
        code = np.where(np.isnan(x), 0, x).astype(np.int64)
        return np.where(code < len(self.shares), self.shares[np.minimum(code, len(self.shares) - 1)], 0.0)

    def _like_missing(self, x: FloatArray) -> FloatArray:
        return np.asarray(self._share(x) + (1 - self._share(x)) * self._other)

    def _slope_to_missing(self, x: FloatArray) -> FloatArray:
        moved = (1 - self._share(x)) * self._other / self.lengthscale**2
        return np.asarray(-moved / self._like_missing(x))


def _with_missing(
    known: FloatArray, a: FloatArray, b: FloatArray, a_to_missing: FloatArray, b_to_missing: FloatArray
) -> FloatArray:
    """Set the exponents in the rows and columns of missing values; zero between two missing ones."""
    gap_a, gap_b = np.isnan(a), np.isnan(b)
    if gap_a.any():
        known[gap_a] = b_to_missing
    if gap_b.any():
        known[:, gap_b] = a_to_missing[:, None]
        known[np.ix_(gap_a, gap_b)] = 0.0
    return known


@dataclass(frozen=True, eq=False)
class ItemKernel:
    """The product kernel of some columns, with one lengthscale per feature.

    lengthscales: by feature. units: (d,) what a lengthscale of one stands for in each column of numbers: the standard
    deviation of its known values, or one where lengthscales are absolute; one for labels.
    means, deviations: (d,) of the known numbers. shares: for each column of labels, the share of each known label.
    """

    columns: tuple[Column, ...]
    lengthscales: Mapping[str, float]
    units: FloatArray
    means: FloatArray
    deviations: FloatArray
    shares: tuple[FloatArray, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The features that the columns belong to, in the order of the columns."""
        return tuple(dict.fromkeys(column.feature for column in self.columns))

    @property
    def absolute_lengthscales(self) -> dict[str, float]:
        """Lengthscales by feature in the columns' own units, as `from_dual` takes them.

        Raises ValueError where the columns of one feature have several units.
        """
        found = {}
        for feature in self.features:
            units = {float(self.units[at]) for at in self.columns_of(feature)}
            if len(units) > 1:
                raise ValueError(f"the columns of {feature} have {len(units)} units, and no common lengthscale")
            found[feature] = self.lengthscales[feature] * units.pop()
        return found

    def columns_of(self, feature: str) -> tuple[int, ...]:
        """Positions of a feature's columns; a multi_hot one has several. Raises KeyError for an unknown feature."""
        positions = tuple(at for at, column in enumerate(self.columns) if column.feature == feature)
        if not positions:
            raise KeyError(f"no feature {feature!r} among {', '.join(self.features)}")
        return positions

    def __call__(self, a: FloatArray, b: FloatArray, columns: Sequence[int] | None = None) -> FloatArray:
        """The kernel k_S between items a (m, d) and b (n, d), (m, n); columns: the positions S, all if None."""
        return np.exp(-self.exponent(a, b, columns))

    def exponent(self, a: FloatArray, b: FloatArray, columns: Sequence[int] | None = None) -> FloatArray:
        """-log k_S, (m, n): the sum of the exponents of the columns."""
        check_codes(a, self.columns, binary=True)
        check_codes(b, self.columns, binary=True)
        total = np.zeros((len(a), len(b)))
        for at in range(len(self.columns)) if columns is None else columns:
            total += self._of_column[at].exponent(a[:, at], b[:, at])
        return total

    def slope(self, a: FloatArray, b: FloatArray, feature: str) -> FloatArray:
        """The derivative of -log k by the logarithm of a feature's lengthscale, (m, n)."""
        total = np.zeros((len(a), len(b)))
        for at in self.columns_of(feature):
            total += self._of_column[at].slope(a[:, at], b[:, at])
        return total

    def with_lengthscales(self, lengthscales: Mapping[str, float]) -> ItemKernel:
        """The same kernel with other lengthscales."""
        return replace(self, lengthscales=check_lengthscales(lengthscales, self.features))

    @cached_property
    def _of_column(self) -> tuple[_ColumnKernel, ...]:
        kernels: list[_ColumnKernel] = []
        for at, column in enumerate(self.columns):
            scale = self.lengthscales[column.feature]
            if column.kind in _NUMBERS:
                mean, deviation = float(self.means[at]), float(self.deviations[at])
                kernels.append(_NumberKernel(scale * float(self.units[at]), mean, deviation))
            else:
                kernels.append(_LabelKernel(scale, self.shares[at]))
        return tuple(kernels)


def item_kernel(
    items: ArrayLike, columns: Sequence[Column], lengthscales: Lengthscales = None, *, absolute: bool = False
) -> ItemKernel:
    """The kernel of these columns, with the means, deviations and shares of labels of the given items (m, d).

    lengthscales: by feature; one number for all; or None for the square root of the number of features, so that two
    random items are about as far apart whatever that number is. For numbers, they are in standard deviations of the
    known values, or in the columns' own units if `absolute`.
    Raises ValueError for a lengthscale that is missing, of an unknown feature, or not positive and finite, and for
    labels that are no whole numbers from zero.

    >>> columns = [Column(name="speed", feature="speed", kind=FeatureKind.NUMERIC)]
    >>> items = np.array([[0.0], [4.0]])
    >>> item_kernel(items, columns, 1.0)(items, items).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    >>> item_kernel(items, columns, {"speed": 4.0}, absolute=True)(items, items).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    X = check_items(items)
    check_codes(X, columns, binary=True)
    features = tuple(dict.fromkeys(column.feature for column in columns))
    if lengthscales is None and absolute:
        raise ValueError("absolute lengthscales have no default")
    scales = math.sqrt(len(features)) if lengthscales is None else lengthscales
    if not isinstance(scales, Mapping):
        scales = dict.fromkeys(features, scales)
    means, deviations, shares = np.zeros(len(columns)), np.ones(len(columns)), []
    for at, column in enumerate(columns):
        known = X[~np.isnan(X[:, at]), at]
        if column.kind in _NUMBERS:
            shares.append(np.zeros(0))
            if len(known):
                means[at], deviations[at] = known.mean(), _deviation(known, column)
        else:
            counts = np.bincount(known.astype(np.int64), minlength=len(column.levels or ()) or 2)
            shares.append(counts / max(len(known), 1))
    units = np.ones(len(columns)) if absolute else deviations
    checked = check_lengthscales(scales, features)
    for column, unit in zip(columns, units, strict=True):
        if not 1 / LARGEST < checked[column.feature] * unit < LARGEST:
            raise ValueError(f"column {column.name}: the square of its lengthscale overflows: rescale the column")
    return ItemKernel(tuple(columns), checked, units, means, deviations, tuple(shares))


def _deviation(known: FloatArray, column: Column) -> float:
    """The standard deviation, or one where all values are equal."""
    deviation = float(known.std())
    if deviation < 1 / LARGEST and np.ptp(known) > 0:
        raise ValueError(f"column {column.name}: its values differ by less than {1 / LARGEST:g}: rescale the column")
    return deviation or 1.0


def check_lengthscales(lengthscales: Mapping[str, float], features: Sequence[str]) -> dict[str, float]:
    """Lengthscales in the order of the features. Raises ValueError unless each feature has a positive finite one."""
    if missing := [feature for feature in features if feature not in lengthscales]:
        raise ValueError(f"no lengthscale for {', '.join(missing)}")
    if unknown := [feature for feature in lengthscales if feature not in features]:
        raise ValueError(f"lengthscales for {', '.join(unknown)}, but the features are {', '.join(features)}")
    if wrong := {
        feature: scale
        for feature, scale in lengthscales.items()
        if not (isinstance(scale, Real) and 1e-100 < scale < 1e100)
    }:
        raise ValueError(f"lengthscales must be positive and finite, found {wrong}; their range is 1e-100 to 1e100")
    return {feature: float(lengthscales[feature]) for feature in features}


def distinct_rows(items: FloatArray) -> tuple[FloatArray, IntArray]:
    """The distinct rows of items (n, d), in order of first appearance, and the position of each item among them (n,).

    Two missing values are equal.

    >>> rows, position = distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    >>> rows.tolist(), position.tolist()
    ([[2.0], [1.0]], [0, 1, 0])
    """
    _, first, row = np.unique(np.where(np.isnan(items), -np.inf, items), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return items[first[order]], rank[row]
