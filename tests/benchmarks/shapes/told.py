"""What a simulated study told, and what was true."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from models.scores.comparing import Difference


class Told(NamedTuple):
    """One interval that a simulated study told; None is a bound that does not exist.

    name: of the number. over: what the interval is over. threshold: what the verdict compares with; None without one.
    """

    name: str
    over: str
    lower: float | None
    upper: float | None
    threshold: float | None = None
    known: bool = True


Parts = dict[str, tuple[float, float]]
"""Numerators and denominators of the numbers of one data set, by name; a number that is no quotient has 1 below."""


class Group(NamedTuple):
    """Data sets that share what an interval may hold fixed, such as items.

    told: the intervals of each studied data set. parts: the numbers of all data sets of the group, from which the truth
    is taken: the mean numerator divided by the mean denominator.
    """

    told: list[list[Told]]
    parts: list[Parts]


def of_difference(name: str, found: Difference) -> Told:
    """A difference as it is told, compared with zero."""
    return Told(name, found.over, found.lower, found.upper, 0.0, known=found.outcome != "unknown")


class Shape(Protocol):
    """The shape of a study's data."""

    def group(self, seed: int, work: Path) -> Group:
        """Simulate and study some data sets; work: an empty folder."""
