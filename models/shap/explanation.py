"""What an explanation of preferences says, and of which players: features, or groups of them explained as one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from models.records.arrays import BoolArray, FloatArray
from models.records.features import Column, FeatureKind
from models.shap.mean_embedding import Embedding, Reference
from models.shap.shapley import shapley_values

if TYPE_CHECKING:
    from shap import Explanation

Players = Mapping[str, Sequence[int]]
"""The columns of each player."""

REST = "all else"
"""The player of the columns that are nobody else's, where only some are of interest."""


@dataclass(frozen=True, kw_only=True)
class ShapSettings:
    """What an explanation rests on.

    reference: what stands for the features that are not known: what is observed with those that are, or what there is
    whatever they are (the marginal distribution). regularisation: lambda of the observational one.
    budget: coalitions times the cubed number of reference points; above it coalitions are sampled, by the seed.
    jobs: threads in which coalitions are asked, the linear algebra of each in one: it changes no digit. None: one a
        core.
    """

    reference: Reference = "observational"
    regularisation: float = 1e-3
    budget: float = 4e12
    seed: int = 0
    jobs: int | None = None

    @property
    def smoothing(self) -> float | None:
        """lambda; None where nothing is estimated that needs it."""
        return self.regularisation if self.reference == "observational" else None


@dataclass(frozen=True, eq=False)
class PreferenceExplanation:
    """How d players share out each of m preferences.

    values: (m, d), a row sums to full - empty; standard_error: (m, d) where they were sampled, else None.
    empty, full: (m,) nu of no feature and of all. score: (m,) the model's own preference.
    data: (m, d) what is explained of each player: in duels, the first's value less the second's; NaN where it has none.
    coalitions: how many were asked.
    """

    players: tuple[str, ...]
    values: FloatArray
    standard_error: FloatArray | None
    empty: FloatArray
    full: FloatArray
    score: FloatArray
    data: FloatArray
    coalitions: int

    @property
    def gap(self) -> FloatArray:
        """(m,) nu of all features less the model's own preference: what the values do not explain of it, negated."""
        return self.full - self.score

    @property
    def explanation(self) -> Explanation:
        """As the shap library has it, for any of its plots."""
        try:
            from shap import Explanation  # noqa: PLC0415 - it takes seconds, and the numbers need none of it
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("This needs the shap library: pip install -e '.[shap]'") from error
        return Explanation(
            values=self.values,
            base_values=self.empty,
            data=self.data,
            feature_names=list(self.players),
            error_std=self.standard_error,
        )


def share_out(
    value: Callable[[FloatArray], FloatArray],
    embedding: Embedding,
    *,
    players: Sequence[str],
    data: FloatArray,
    settings: ShapSettings,
) -> PreferenceExplanation:
    """The Shapley values of the game nu_S = value(gamma_S), where value(k) is the model's own preference, (m,).

    Players whose kernel is 1 everywhere can move nothing, and take no part (Algorithm 1, line 1).
    """
    varying = [at for at, kernel in enumerate(embedding.kernels) if (kernel != 1.0).any()] or [0]
    game = replace(embedding, kernels=embedding.kernels[varying]) if len(varying) < len(players) else embedding

    def nu(coalition: BoolArray) -> tuple[FloatArray, FloatArray]:
        inside, outside = game(coalition)
        return value(inside), value(outside)

    affordable = settings.budget / len(embedding.reference) ** 3
    with ThreadPoolExecutor(settings.jobs or os.cpu_count()) as threads, threadpool_limits(1, "blas"):
        shapley = shapley_values(nu, len(varying), affordable=affordable, seed=settings.seed, ask=threads.map)
    error = None if shapley.standard_error is None else _spread(shapley.standard_error, varying, len(players))
    return PreferenceExplanation(
        players=tuple(players),
        values=_spread(shapley.values, varying, len(players)),
        standard_error=error,
        empty=shapley.empty,
        full=shapley.full,
        score=value(embedding.of_everything()),
        data=data,
        coalitions=shapley.coalitions,
    )


def _spread(values: FloatArray, varying: Sequence[int], n_players: int) -> FloatArray:
    spread = np.zeros((len(values), n_players))
    spread[:, varying] = values
    return spread


def players_of(columns: Sequence[Column], players: Players | None) -> dict[str, tuple[int, ...]]:
    """Players with their columns; a player a feature if None.

    Raises ValueError unless every column belongs to one player.
    """
    if players is None:
        features = dict.fromkeys(column.feature for column in columns)
        return {name: tuple(at for at, column in enumerate(columns) if column.feature == name) for name in features}
    taken = sorted(at for group in players.values() for at in group)
    if taken != list(range(len(columns))):
        raise ValueError(f"players must share out the {len(columns)} columns, one player a column; found {taken}")
    return {name: tuple(group) for name, group in players.items()}


def player_data(items: FloatArray, columns: Sequence[Column], players: Players) -> FloatArray:
    """(m, d) the value of each player that is a single column of ordered values; NaN for any other."""
    data = np.full((len(items), len(players)), np.nan)
    for at, group in enumerate(players.values()):
        if len(group) == 1 and columns[group[0]].kind is not FeatureKind.CATEGORICAL:
            data[:, at] = items[:, group[0]]
    return data
