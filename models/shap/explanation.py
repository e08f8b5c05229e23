"""Explanations of preferences: settings, results, and players, which are features or groups of features."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
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
"""The player that holds all remaining columns, where only some are of interest."""
SETTINGS: dict[str, list[Any]] = {
    "reference": [StrOptions(set(get_args(Reference)))],
    "regularisation": [Interval(Real, 0, None, closed="neither")],
    "budget": [Interval(Real, 0, None, closed="left")],
    "seed": [Interval(Integral, 0, None, closed="left")],
    "jobs": [Interval(Integral, 1, None, closed="left"), None],
}
"""Constraints on `ShapSettings`."""


@dataclass(frozen=True, kw_only=True)
class ShapSettings:
    """How preferences are explained.

    reference: the distribution of the unknown features: conditional on the known ones (observational), or marginal
        (interventional). regularisation: lambda of the observational reference.
    budget: number of coalitions times the cubed number of reference points. All 2^d coalitions are used if they fit;
        otherwise they are sampled with this seed.
    jobs: number of threads that work on coalitions, one per core if None. The results do not depend on it.
    Raises ValueError for an invalid value.

    >>> ShapSettings(reference="marginal")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sklearn...InvalidParameterError: The 'reference' parameter of ShapSettings must be a str among ...
    """

    reference: Reference = "observational"
    regularisation: float = 1e-3
    budget: float = 4e12
    seed: int = 0
    jobs: int | None = None

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        validate_parameter_constraints(SETTINGS, vars(self), caller_name=type(self).__name__)

    @property
    def smoothing(self) -> float | None:
        """Lambda of the observational reference; None for the interventional one, which needs none."""
        return self.regularisation if self.reference == "observational" else None


@dataclass(frozen=True, eq=False)
class PreferenceExplanation:
    """Shapley values of d players for each of m preferences.

    values: (m, d), each row sums to full - empty. standard_error: (m, d) if coalitions were sampled, else None.
    empty, full: (m,) nu of the empty coalition and of all players. score: (m,) the model's own preference.
    data: (m, d) the value of each player; in duels, first item minus second; NaN if it has none.
    coalitions: number of coalitions evaluated.
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
        """(m,) nu of all players minus the model's own preference: the effect of regularisation."""
        return self.full - self.score

    @property
    def explanation(self) -> Explanation:
        """The explanation as an object of the shap library, for any of its plots."""
        try:
            from shap import Explanation  # noqa: PLC0415 - importing it takes seconds, and only plots need it
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("This needs the shap library: pip install -e '.[shap]'") from error
        return Explanation(
            values=self.values,
            base_values=self.empty,
            data=self.data,
            feature_names=list(self.players),
            error_std=self.standard_error,
        )


@dataclass(frozen=True, eq=False)
class Game:
    """The games of m preferences: nu_S = value(gamma_S), where gamma_S comes from `embedding`.

    value: maps gamma (., r) to (m,), and the kernel itself to the model's own preference. data: (m, d) of each player.
    """

    embedding: Embedding
    value: Callable[[FloatArray], FloatArray]
    data: FloatArray

    def nu(self, coalition: BoolArray) -> FloatArray:
        """The value function of a coalition (d,), (m,)."""
        return self.value(self.embedding.gamma(coalition))


def explain(game: Game, players: Sequence[str], settings: ShapSettings) -> PreferenceExplanation:
    """The Shapley values of the games.

    A player whose kernel is 1 everywhere has no effect; it is left out and gets zero (Algorithm 1, line 1).
    """
    embedding, value = game.embedding, game.value
    varying = [at for at, kernel in enumerate(embedding.kernels) if (kernel != 1.0).any()] or [0]
    reduced = replace(embedding, kernels=embedding.kernels[varying]) if len(varying) < len(players) else embedding

    def nu(coalition: BoolArray) -> tuple[FloatArray, FloatArray]:
        inside, outside = reduced(coalition)
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
        score=value(embedding.unsmoothed()),
        data=game.data,
        coalitions=shapley.coalitions,
    )


def several(values: Sequence[Callable[[FloatArray], FloatArray]]) -> Callable[[FloatArray], FloatArray]:
    """The games of several models as one game: the values of the first model, then of the second, and so on.

    >>> several([lambda gamma: gamma, lambda gamma: 2 * gamma])(np.array([1.0, 3.0]))
    array([1., 3., 2., 6.])
    """
    return lambda gamma: np.concatenate([value(gamma) for value in values])


def apart(explained: PreferenceExplanation, n: int) -> list[PreferenceExplanation]:
    """The explanations of n games that `several` put together, one for each model."""
    errors = [None] * n if explained.standard_error is None else np.split(explained.standard_error, n)
    parts = (np.split(each, n) for each in (explained.values, explained.empty, explained.full, explained.score))
    return [
        replace(explained, values=values, standard_error=error, empty=empty, full=full, score=score, data=data)
        for values, empty, full, score, error, data in zip(*parts, errors, np.split(explained.data, n), strict=True)
    ]


def _spread(values: FloatArray, varying: Sequence[int], n_players: int) -> FloatArray:
    spread = np.zeros((len(values), n_players))
    spread[:, varying] = values
    return spread


def coalition_of(coalition: Sequence[str] | ArrayLike, players: Sequence[str]) -> BoolArray:
    """A coalition as booleans (d,): from the names of its players, or from such booleans.

    Raises ValueError for an unknown player, or another shape.

    >>> coalition_of(["age"], ["speed", "age"])
    array([False,  True])
    """
    members = np.asarray(coalition)
    if members.dtype == np.bool_ and members.shape == (len(players),):
        return members
    if members.ndim != 1 or not (members.dtype.kind == "U" or members.size == 0):
        raise ValueError(f"coalition must hold names of players or {len(players)} booleans, found {coalition!r}")
    if unknown := [str(name) for name in members if name not in players]:
        raise ValueError(f"no player {', '.join(unknown)} among {', '.join(players)}")
    return np.isin(np.array(players), members) if members.size else np.zeros(len(players), dtype=np.bool_)


def players_of(columns: Sequence[Column], players: Players | None) -> dict[str, tuple[int, ...]]:
    """Players with their columns; one player per feature if None.

    Raises ValueError without columns, and unless every column belongs to exactly one player.

    >>> columns = [Column(name=f"type={level}", feature="type", kind="binary") for level in ("fire", "water")]
    >>> players_of([Column(name="speed", feature="speed", kind="numeric"), *columns], None)
    {'speed': (0,), 'type': (1, 2)}
    """
    if not columns:
        raise ValueError("there are no features to explain a preference by")
    if players is None:
        features = dict.fromkeys(column.feature for column in columns)
        return {name: tuple(at for at, column in enumerate(columns) if column.feature == name) for name in features}
    numbers = [at for group in players.values() for at in group]
    taken = sorted(numbers) if all(isinstance(at, Integral) for at in numbers) else numbers
    if taken is numbers or taken != list(range(len(columns))):
        raise ValueError(f"each of the {len(columns)} columns must belong to exactly one player; found {taken}")
    return {name: tuple(group) for name, group in players.items()}


def player_data(items: FloatArray, columns: Sequence[Column], players: Players) -> FloatArray:
    """(m, d) the value of each player that is a single column of ordered values; NaN for other players.

    >>> columns = [Column(name=name, feature=name, kind="numeric") for name in ("speed", "height", "weight")]
    >>> player_data(np.array([[9.0, 2.0, 80.0]]), columns, {"speed": [0], "body": [1, 2]})
    array([[ 9., nan]])
    """
    data = np.full((len(items), len(players)), np.nan)
    for at, group in enumerate(players.values()):
        if len(group) == 1 and columns[group[0]].kind is not FeatureKind.CATEGORICAL:
            data[:, at] = items[:, group[0]]
    return data
