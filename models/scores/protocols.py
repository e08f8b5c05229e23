"""Many protocols of one study: which is nearest to a published pair of accuracies, and what each choice changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from models.records.arrays import FloatArray

REPRODUCED = 0.005
"""A protocol reproduces a published pair of accuracies if neither difference is larger than half a point."""

Level = str | float


class Nearest(NamedTuple):
    """The nearest protocol of a group.

    row: its position; among: size of the group; distance: the larger of its two differences to the published pair.
    """

    row: int
    among: int
    distance: float

    @property
    def reproduces(self) -> bool:
        """Whether the protocol reproduces the published pair."""
        return self.distance <= REPRODUCED


class Effect(NamedTuple):
    """The mean change of each measure when `choice` takes `level`, over pairs of protocols equal in all else."""

    choice: str
    level: Level
    pairs: int
    change: dict[str, float]


def nearest_of_each(
    groups: Sequence[str], train: FloatArray, test: FloatArray, *, published: tuple[float, float]
) -> dict[str, Nearest]:
    """The protocol of each group that is nearest to a published pair, the nearest group first.

    A protocol of unknown accuracy is never the nearest.

    groups: the group of each of n protocols; train, test: (n,) their accuracies; published: on training and test.

    >>> found = nearest_of_each(["a", "b", "a"], np.array([0.9, 0.95, 0.97]), np.array([0.8, 0.7, 0.76]),
    ...                         published=(0.98, 0.80))
    >>> [(name, near.row, near.among, round(near.distance, 2)) for name, near in found.items()]
    [('a', 2, 2, 0.04), ('b', 1, 1, 0.1)]
    """
    distance = np.maximum(np.abs(train - published[0]), np.abs(test - published[1]))
    found: dict[str, Nearest] = {}
    for row in np.argsort(distance, kind="stable").tolist():
        if groups[row] not in found and np.isfinite(distance[row]):
            found[groups[row]] = Nearest(row, list(groups).count(groups[row]), float(distance[row]))
    return found


def effects(
    choices: Mapping[str, Sequence[Level]], reference: Mapping[str, Level], measures: Mapping[str, FloatArray]
) -> list[Effect]:
    """The effect of every level of every choice, compared with the choice's level in `reference`.

    choices: by name the level of each of n protocols; measures: by name (n,) values. A pair of protocols counts if all
    of its measures are known; a level without any pair has no effect.

    >>> choices = {"split": ["pair", "item"], "ratio": [0.25, 0.25]}
    >>> effects(choices, {"split": "pair", "ratio": 0.25}, {"accuracy": np.array([0.75, 0.5])})
    [Effect(choice='split', level='item', pairs=1, change={'accuracy': -0.25})]
    """
    values = np.column_stack(list(measures.values()))
    protocols = [dict(zip(choices, levels, strict=True)) for levels in zip(*choices.values(), strict=True)]
    row_of = {tuple(protocol.values()): row for row, protocol in enumerate(protocols)}
    found = []
    for choice, base in reference.items():
        for level in dict.fromkeys(choices[choice]):
            if level == base:
                continue
            partners = [
                (row, row_of.get(tuple({**protocol, choice: base}.values())))
                for row, protocol in enumerate(protocols)
                if protocol[choice] == level
            ]
            changes = [values[row] - values[partner] for row, partner in partners if partner is not None]
            changes = [change for change in changes if not np.isnan(change).any()]
            if changes:
                mean = np.mean(changes, axis=0).tolist()
                found.append(Effect(choice, level, len(changes), dict(zip(measures, mean, strict=True))))
    return found
