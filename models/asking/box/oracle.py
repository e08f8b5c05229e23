"""Who answers: simulated decision makers with a utility over the unit cube (dt-pbo section 4.1 and F.6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from models.numerics.hashing import HashArray, mix
from models.records.arrays import BoolArray, FloatArray

Utility = Callable[[FloatArray], FloatArray]
"""The utilities (k,) of points (k, d) of the unit cube; only comparisons of two utilities are learnt from."""

Oracle = Callable[[FloatArray, HashArray], BoolArray]
"""Answers pairs of points (t, n, 2, d): whether the first is preferred, (t, n).

The second argument holds a hash of each pair, (t, n), from which answers that waver draw their lot.
"""


@dataclass(frozen=True)
class UtilityOracle:
    """Prefers the point of greater utility, after noise is added to both utilities (dt-pbo F.6).

    utility: see `Utility`; noise: sigma, the standard deviation of the normal noise, in the utility's own units. Two
    equal utilities are answered with the second point.
    Raises ValueError for noise that is negative or not finite, and for utilities of another shape or NaN.

    >>> oracle = UtilityOracle(lambda x: -x[:, 0])
    >>> oracle(np.array([[[[0.9], [0.1]]]]), np.zeros((1, 1), dtype=np.uint64)).tolist()
    [[False]]
    """

    utility: Utility
    noise: float = 0.0

    def __post_init__(self) -> None:
        """Check the noise."""
        if not 0 <= self.noise < np.inf:
            raise ValueError(f"noise must be a standard deviation of 0 or more, found {self.noise}")

    def __call__(self, pairs: FloatArray, lots: HashArray) -> BoolArray:
        """See `Oracle`."""
        points = pairs.reshape(-1, pairs.shape[-1])
        found = np.asarray(self.utility(points), dtype=np.float64)
        if found.shape != (len(points),) or np.isnan(found).any():
            raise ValueError(
                f"utility must give a number for each of {len(points)} points, "
                f"found shape {found.shape}, {int(np.isnan(found).sum())} NaN"
            )
        felt = found.reshape(pairs.shape[:3])
        if self.noise:
            uniform = ((mix(lots[..., None], np.arange(2)) >> np.uint64(11)) + 0.5) * 2.0**-53
            felt = felt + self.noise * ndtri(uniform)
        return np.asarray(felt[..., 0] > felt[..., 1])
