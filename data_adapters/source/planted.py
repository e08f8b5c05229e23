"""The preference that a simulator plants, for recovery tests and for readers of simulated reports."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field

from models.records.base import Record


class Rule(Record):
    """One question of a planted preference; items that answer it with yes are preferred.

    The question is `feature < cut` or `feature >= cut`; without a cut, the lower or the higher value is preferred.
    """

    feature: str
    prefers: Literal["low", "high"]
    cut: float | None = None


Hidden = dict[str, int | str]
"""Facts of one item that a simulator knows and no raw file states."""


class Preference(Record):
    """The preference that a simulator planted, for recovery tests and for the reader of a simulated report.

    types: the rules of each taste type; earlier rules decide first.
    type_of: the taste type of each user, or of each context where the data has no users.
    noise: the share of comparisons (or of neighbours in a ranking, or of labels) that contradict the rules.
    hidden: for each item, facts that the rules use and that no column states, only a text.
    """

    words: str
    types: dict[str, tuple[Rule, ...]]
    type_of: dict[str, str]
    noise: float
    hidden: dict[str, Hidden] = Field(default_factory=dict)


class Simulate(Protocol):
    """A function that simulates the raw files of an adapter."""

    def __call__(self, folder: Path, *, seed: int, users: int | None) -> Preference:
        """Write the raw files in upstream's format into an empty folder; `users` None: as many as published."""
