"""Models of a run fitted again to resampled data, for the intervals of what explains preferences."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.selection import fit, probability
from models.records.arrays import BoolArray, FloatArray
from models.records.duel_results import KernelModel
from models.scores.duel_splits import Duels, Split
from models.shap.refits import Resampled, item_weights, redrawn

KINDS: tuple[Resampled, ...] = ("matches", "items")
AT_ONCE = 5
"""Refits that one task does."""

Model = GPM | CGPM | UPM


class Portion(NamedTuple):
    """The refits that one task does: of the models of one split, with these numbers."""

    split: int
    numbers: tuple[int, ...]

    def path(self, work: Path) -> Path:
        """The file of its coefficients."""
        return work / f"refits-{self.split}-{self.numbers[0]}.npz"


def portions(splits: int, refits: int) -> list[Portion]:
    """The refits of all splits, `AT_ONCE` at a time."""
    starts = range(0, refits, AT_ONCE)
    return [
        Portion(split, tuple(range(start, min(start + AT_ONCE, refits))))
        for split, start in itertools.product(range(splits), starts)
    ]


@dataclass(frozen=True, eq=False)
class Refits:
    """Models of one split fitted again, by what is drawn again and model, and the draws.

    turned: (b, m) whether the outcome of each duel is the other one. weights: by what is drawn again, (b, m) of duels.
    """

    models: Mapping[Resampled, Mapping[KernelModel, Sequence[Model]]]
    turned: BoolArray
    weights: Mapping[Resampled, FloatArray]


def fit_portion(
    portion: Portion, models: Mapping[KernelModel, Model], duels: Duels, split: Split, *, seed: int, work: Path
) -> Path:
    """Fit the models of a split, the richest first, again to resampled data. Returns the file of their coefficients."""
    chances = chances_of(models, duels)
    rows = split.train
    found: dict[str, FloatArray] = {}
    for number in portion.numbers:
        turned = redrawn(chances, seed=seed, number=number)[0]
        weights = item_weights(duels.names, duels.comparisons, seed=seed, number=number)
        outcomes = turn(duels, turned)
        for name, model in models.items():
            again = fit(clone(model), outcomes, rows)
            resampled = fit(clone(model), duels, rows, weights=weights[rows])
            for kind, fitted in zip(KINDS, (again, resampled), strict=True):
                found |= {_key(kind, name, number, part): getattr(fitted, part) for part in _parts(model)}
    path = portion.path(work)
    np.savez(path, allow_pickle=False, **found)
    return path


def read_refits(
    split: int, refits: int, models: Mapping[KernelModel, Model], duels: Duels, *, seed: int, work: Path
) -> Refits:
    """The refits of one split, from the files of `fit_portion`."""
    again: dict[Resampled, dict[KernelModel, list[Model]]] = {kind: {name: [] for name in models} for kind in KINDS}
    for portion in portions(1, refits):
        with np.load(portion._replace(split=split).path(work), allow_pickle=False) as found:
            for kind, (name, model), number in itertools.product(KINDS, models.items(), portion.numbers):
                fitted = copy.copy(model)
                for part in _parts(model):
                    setattr(fitted, part, found[_key(kind, name, number, part)])
                again[kind][name].append(fitted)
    draws = [redrawn(chances_of(models, duels), seed=seed, number=number) for number in range(refits)]
    resampled = [item_weights(duels.names, duels.comparisons, seed=seed, number=number) for number in range(refits)]
    return Refits(
        models=again,
        turned=np.stack([turned for turned, _ in draws]),
        weights={"matches": np.stack([weights for _, weights in draws]), "items": np.stack(resampled)},
    )


def chances_of(models: Mapping[KernelModel, Model], duels: Duels) -> FloatArray:
    """The probability of each duel's outcome, (m,), by the first of the models, which is the richest."""
    return probability(next(iter(models.values())), duels, np.arange(len(duels.comparisons)))


def turn(duels: Duels, turned: BoolArray) -> Duels:
    """The duels with the outcome of some turned round, (m,)."""
    pairs = np.where(turned[:, None], duels.comparisons[:, ::-1], duels.comparisons)
    return Duels(**{**vars(duels), "comparisons": pairs})


def _parts(model: Model) -> tuple[str, ...]:
    """The fitted attributes in which refits differ."""
    return ("dual_",) if isinstance(model, UPM) else ("dual_", "utility_")


def _key(kind: Resampled, name: KernelModel, number: int, part: str) -> str:
    return f"{kind}-{name}-{number}-{part}"
