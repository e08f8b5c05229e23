"""The eight benchmark functions of dt-pbo section 4.1 and F.2, as utilities over the unit cube.

Surjanovic and Bingham (Virtual Library of Simulation Experiments) state them as minimisation problems on their own
domains. Here every domain is scaled to [0, 1]^d and every sign is turned, so that the best point has the greatest
value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from models.records.arrays import FloatArray

_Formula = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class BenchmarkFunction:
    """A utility over the unit cube with known maximum.

    Calling it with points (..., d) of the unit cube gives their utilities (...,). `formula` takes points of the domain
    from `lower` to `upper`, (d,) each. `maximisers`: (k, d) all points of the unit cube with the greatest utility.

    >>> branin = benchmark_function("branin")
    >>> round(branin.maximum, 6), len(branin.maximisers)
    (-0.397887, 3)
    >>> round(float(branin([0.5, 0.5])), 3)
    -24.13
    """

    name: str
    title: str
    formula: _Formula
    lower: FloatArray
    upper: FloatArray
    maximisers: FloatArray

    def __call__(self, points: ArrayLike) -> FloatArray:
        """The utilities (...,) of points (..., d). Raises ValueError for another number of dimensions."""
        X = np.asarray(points, dtype=np.float64)
        if X.shape[-1:] != (self.n_dimensions,):
            raise ValueError(f"{self.name} takes points of {self.n_dimensions} dimensions, found shape {X.shape}")
        return self.formula(self.lower + (self.upper - self.lower) * X)

    @property
    def n_dimensions(self) -> int:
        """The number of dimensions, d."""
        return len(self.lower)

    @property
    def maximum(self) -> float:
        """The greatest utility."""
        return float(self(self.maximisers).max())


def benchmark_function(name: str, n_dimensions: int | None = None) -> BenchmarkFunction:
    """A benchmark function by name, in its published number of dimensions unless another is given.

    `FUNCTIONS` lists the names. Rosenbrock, Levy, Michalewicz and Schwefel exist in 2 to 15 dimensions (dt-pbo F.5),
    Hartmann in 3 too (F.2).
    Raises ValueError for an unknown name, or a number of dimensions in which the function does not exist.

    >>> round(benchmark_function("michalewicz", 10).maximum, 4)
    9.6602
    """
    if name not in FUNCTIONS:
        raise ValueError(f"there is no benchmark function {name!r}; known: {', '.join(FUNCTIONS)}")
    published, make = FUNCTIONS[name]
    d = published if n_dimensions is None else n_dimensions
    if not isinstance(d, Integral):
        raise ValueError(f"n_dimensions must be a whole number, found {d!r}")
    if d not in DIMENSIONS[name]:
        known = DIMENSIONS[name]
        words = f"{known[0]} to {known[-1]}" if len(known) > 2 else " and ".join(map(str, known))
        raise ValueError(f"{name} exists in {words} dimensions, not in {d}")
    return make(d)


def _function(
    name: str, title: str, formula: _Formula, lower: ArrayLike, upper: ArrayLike, maximisers: ArrayLike
) -> BenchmarkFunction:
    """From maximisers (k, d) in the function's own domain."""
    places = np.asarray(maximisers, dtype=np.float64)
    d = places.shape[1]
    low, high = (np.broadcast_to(np.asarray(bound, dtype=np.float64), (d,)) for bound in (lower, upper))
    return BenchmarkFunction(name, title, formula, low, high, (places - low) / (high - low))


def _rosenbrock(d: int) -> BenchmarkFunction:
    def formula(x: FloatArray) -> FloatArray:
        here, after = x[..., :-1], x[..., 1:]
        return np.asarray(-(100 * (after - here**2) ** 2 + (here - 1) ** 2).sum(axis=-1))

    return _function("rosenbrock", f"Rosenbrock {d}D", formula, -5, 10, np.ones((1, d)))


_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])


class _Hartmann(NamedTuple):
    """Scales and centres (4, d) of the four bumps, and the best place (d,)."""

    scales: FloatArray
    centres: FloatArray
    best: FloatArray


_HARTMANN: Mapping[int, _Hartmann] = {
    3: _Hartmann(
        np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]]),
        1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]),
        np.array([0.1146143, 0.5556489, 0.8525470]),
    ),
    6: _Hartmann(
        np.array(
            [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
        ),
        1e-4 * np.array(
            [
                [1312, 1696, 5569, 124, 8283, 5886],
                [2329, 4135, 8307, 3736, 1004, 9991],
                [2348, 1451, 3522, 2883, 3047, 6650],
                [4047, 8828, 8732, 5743, 1091, 381],
            ]
        ),
        np.array([0.2016895, 0.1500107, 0.4768740, 0.2753324, 0.3116516, 0.6573005]),
    ),
}  # fmt: skip


def _hartmann(d: int) -> BenchmarkFunction:
    scales, centres, best = _HARTMANN[d]

    def formula(x: FloatArray) -> FloatArray:
        distance = (scales * (x[..., None, :] - centres) ** 2).sum(axis=-1)
        return np.asarray(np.exp(-distance) @ _HARTMANN_WEIGHTS)

    return _function("hartmann", f"Hartmann {d}D", formula, 0, 1, best[None])


def _branin(d: int) -> BenchmarkFunction:
    def formula(x: FloatArray) -> FloatArray:
        first, second = x[..., 0], x[..., 1]
        bowl = (second - 5.1 / (4 * np.pi**2) * first**2 + 5 / np.pi * first - 6) ** 2
        return np.asarray(-(bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(first) + 10))

    best = [[-np.pi, 12.275], [np.pi, 2.275], [3 * np.pi, 2.475]]
    return _function("branin", f"Branin {d}D", formula, [-5, 0], [10, 15], best)


def _levy(d: int) -> BenchmarkFunction:
    def formula(x: FloatArray) -> FloatArray:
        w = 1 + (x - 1) / 4
        first, last = w[..., 0], w[..., -1]
        between = ((w[..., :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[..., :-1] + 1) ** 2)).sum(axis=-1)
        ends = np.sin(np.pi * first) ** 2 + (last - 1) ** 2 * (1 + np.sin(2 * np.pi * last) ** 2)
        return np.asarray(-(ends + between))

    return _function("levy", f"Levy {d}D", formula, -10, 10, np.ones((1, d)))


def _michalewicz(d: int) -> BenchmarkFunction:
    def formula(x: FloatArray) -> FloatArray:
        return np.asarray((np.sin(x) * np.sin(np.arange(1, d + 1) * x**2 / np.pi) ** 20).sum(axis=-1))

    best = [[_michalewicz_maximiser(number) for number in range(1, d + 1)]]
    return _function("michalewicz", f"Michalewicz {d}D", formula, 0, np.pi, best)


@cache
def _michalewicz_maximiser(number: int) -> float:
    """Where sin(x) sin(number x^2 / pi)^20 is greatest.

    Michalewicz's function is a sum of one such term per coordinate, so its maximum is known in any dimension. The paper
    takes it from a table up to 10 dimensions and extrapolates above.
    """
    low, high = 0.0, np.pi
    for _ in range(3):  # the best point of a grid, then of a finer grid around it
        x = np.linspace(low, high, 20_001)
        best = (np.sin(x) * np.sin(number * x**2 / np.pi) ** 20).argmax()
        low, high = x[max(best - 1, 0)], x[min(best + 1, len(x) - 1)]
    return float(x[best])


def _schwefel(d: int) -> BenchmarkFunction:
    def formula(x: FloatArray) -> FloatArray:
        return np.asarray((x * np.sin(np.sqrt(np.abs(x)))).sum(axis=-1) - 418.9829 * d)

    return _function("schwefel", f"Schwefel {d}D", formula, -500, 500, np.full((1, d), 420.968746))


def _holder_table(d: int) -> BenchmarkFunction:
    def formula(x: FloatArray) -> FloatArray:
        first, second = x[..., 0], x[..., 1]
        ridge = np.exp(np.abs(1 - np.sqrt(first**2 + second**2) / np.pi))
        return np.asarray(np.abs(np.sin(first) * np.cos(second) * ridge))

    best = [[a * 8.05502347, b * 9.66459002] for a in (-1, 1) for b in (-1, 1)]
    return _function("holder_table", f"Hölder table {d}D", formula, -10, 10, best)


_FOXHOLES = np.array([-32, -16, 0, 16, 32])
"""The coordinates of the 25 foxholes along each axis."""


def _de_jong_5(d: int) -> BenchmarkFunction:
    def formula(x: FloatArray) -> FloatArray:
        squares = (x[..., None] - _FOXHOLES) ** 2
        along_first, along_second = np.moveaxis(squares * squares * squares, -2, 0)
        number = np.arange(1, 26).reshape(5, 5)  # the foxholes are numbered along the first axis
        inverse_depth = 1 / (number + along_first[..., None, :] + along_second[..., :, None])
        return np.asarray(-1 / (0.002 + inverse_depth.sum(axis=(-2, -1))))

    return _function("de_jong_5", f"De Jong N.5 {d}D", formula, -65.536, 65.536, [[-31.9783, -31.9783]])


FUNCTIONS: Mapping[str, tuple[int, Callable[[int], BenchmarkFunction]]] = {
    "rosenbrock": (5, _rosenbrock),
    "hartmann": (6, _hartmann),
    "branin": (2, _branin),
    "levy": (2, _levy),
    "michalewicz": (5, _michalewicz),
    "schwefel": (5, _schwefel),
    "holder_table": (2, _holder_table),
    "de_jong_5": (2, _de_jong_5),
}
"""The functions in the order of the paper's Table 5: the number of dimensions in section 4.1, and how each is made."""
VARIABLE_DIMENSION = frozenset({"rosenbrock", "levy", "michalewicz", "schwefel"})
"""The functions that exist in 2 to 15 dimensions (dt-pbo, Figure 13)."""
DIMENSIONS: Mapping[str, Sequence[int]] = {
    **{name: (d,) for name, (d, _) in FUNCTIONS.items()},
    "hartmann": tuple(_HARTMANN),
    **dict.fromkeys(VARIABLE_DIMENSION, range(2, 16)),
}
"""The numbers of dimensions in which each function exists."""
