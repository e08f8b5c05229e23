"""Models of duels, and how their settings are chosen: on validation duels, or in inner folds of the training duels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Annotated

import numpy as np
from pydantic import Field

from models.kernels.dual_model import LEAST_PENALTY
from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.gpm_search import search
from models.records.arrays import FloatArray, IntArray
from models.records.base import Record
from models.records.duel_results import ALL_FEATURES, CONTEXTUAL, PLAIN, DuelModel, MedianSettings
from models.scores.discrimination import log_loss
from models.scores.duel_splits import Duels, Split
from models.trees.preference_tree import PreferenceTree

Model = GPM | CGPM | UPM | PreferenceTree

UTILITY = 10.0
"""Weight of a utility in inner folds, and where the search for it starts."""
LITTLE_UTILITY = 0.1
"""Weight where a second search starts, from the settings of the same model without a utility."""
START_PENALTY = 1e-4

Positive = Annotated[float, Field(gt=0)]


class Tuning(Record):
    """How lengthscales, penalty and depth are chosen. Test duels take no part."""

    rank: int | None = Field(
        default=400,
        ge=1,
        description="largest number of landmarks that carry the kernel of the items, in the search too; all items if "
        "not set",
    )
    steps: int = Field(
        default=24,
        ge=1,
        description="largest number of steps of the search for lengthscales and penalty; each takes one or a few fits. "
        "Models with contexts get half as many, as their fits cost most",
    )
    inner_folds: int = Field(
        default=5, ge=2, description="folds of the training duels, used if there is no validation part"
    )
    lengthscales: tuple[Positive, ...] = Field(
        default=(1.0, 2.0, 4.0), min_length=1,
        description="lengthscales to try in inner folds, in standard deviations, the same for all features",
    )  # fmt: skip
    penalties: tuple[Annotated[float, Field(ge=LEAST_PENALTY)], ...] = Field(
        default=(1e-4, 1e-3, 1e-2), min_length=1, description="penalties to try in inner folds"
    )
    depths: tuple[Annotated[int, Field(ge=1)] | None, ...] = Field(
        default=(2, 3, 4, 6, 8, 12, 16), min_length=1,
        description="depth limits to try for the preference tree",
    )  # fmt: skip


class Chosen(Record):
    """The settings chosen for a model, and their loss per validation duel in nats."""

    model: DuelModel
    validation_loss: float
    lengthscales: Mapping[str, float] | float | None = None
    context_lengthscales: Mapping[str, float] | float | None = None
    penalty: float | None = None
    utility: float = 0.0
    rank: int | None = None
    max_depth: int | None = None

    def unfitted(self, duels: Duels) -> Model:
        """An unfitted model with the chosen settings. Raises ValueError if a kernel model has no penalty."""
        if self.model == "preference_tree":
            return PreferenceTree(duels.columns, max_depth=self.max_depth, max_categories=None)
        if self.penalty is None:
            raise ValueError(f"no penalty was chosen for {self.model}")
        if self.model in CONTEXTUAL:
            return CGPM(
                duels.columns, duels.context_columns, lengthscales=self.lengthscales, utility=self.utility,
                context_lengthscales=self.context_lengthscales, penalty=self.penalty, rank=self.rank,
            )  # fmt: skip
        if self.model == "upm":
            return UPM(duels.columns, lengthscales=self.lengthscales, penalty=self.penalty, rank=self.rank)
        return GPM(
            duels.columns, lengthscales=self.lengthscales, penalty=self.penalty, utility=self.utility, rank=self.rank
        )


def fit(model: Model, duels: Duels, rows: IntArray, *, weights: FloatArray | None = None) -> Model:
    """Fit a model to the duels in rows (k,). weights: (k,) of these duels, for a kernel model.

    >>> import numpy as np
    >>> duels = Duels(
    ...     items=np.arange(3.0)[:, None], columns=(), comparisons=np.array([[1, 0], [2, 1]]),
    ...     left_wins=np.ones(2, dtype=bool), keys=np.arange(2, dtype=np.uint64), contexts=np.zeros((1, 0)),
    ...     context_columns=(), context_of=np.zeros(2, dtype=np.int64),
    ... )
    >>> fit(UPM(), duels, np.array([0, 1])).predict(duels.items).argmax()
    np.int64(2)
    """
    if isinstance(model, CGPM):
        return model.fit(duels.items, duels.comparisons[rows], duels.contexts, duels.context_of[rows], weights=weights)
    if isinstance(model, GPM | UPM):
        return model.fit(duels.items, duels.comparisons[rows], weights=weights)
    return model.fit(duels.items, duels.comparisons[rows])


def preference(model: Model, duels: Duels, rows: IntArray) -> FloatArray:
    """The preference for the winner over the loser of the duels in rows (k,): (k,)."""
    if isinstance(model, CGPM):
        return model.decision_function(duels.items, duels.comparisons[rows], duels.contexts, duels.context_of[rows])
    return model.decision_function(duels.items, duels.comparisons[rows])


def probability(model: Model, duels: Duels, rows: IntArray) -> FloatArray:
    """The probability that the winner wins, of the duels in rows (k,): (k,)."""
    if isinstance(model, CGPM):
        return model.predict_proba(duels.items, duels.comparisons[rows], duels.contexts, duels.context_of[rows])
    return model.predict_proba(duels.items, duels.comparisons[rows])


def choose(
    kind: DuelModel,
    duels: Duels,
    split: Split,
    tuning: Tuning,
    *,
    seed: int,
    plain: Chosen | None = None,
    parts: Sequence[tuple[IntArray, IntArray]] | None = None,
) -> Chosen:
    """Choose the settings of a model.

    With validation rows: a kernel model by gradient search, a tree by trying each depth. Without: by trying a grid in
    inner folds of the training rows, which the seed draws. plain: settings of the same model without a utility, from
    which a second search starts. parts: rows to fit and rows to try instead of the inner folds.

    >>> import numpy as np
    >>> from models.records.features import Column, FeatureKind
    >>> speed = Column(name="speed", feature="speed", kind=FeatureKind.NUMERIC)
    >>> pairs = np.array([[high, low] for high in range(6) for low in range(high)])
    >>> duels = Duels(
    ...     items=np.arange(6.0)[:, None], columns=(speed,), comparisons=pairs, left_wins=np.ones(15, dtype=bool),
    ...     keys=np.arange(15, dtype=np.uint64), contexts=np.zeros((1, 0)), context_columns=(),
    ...     context_of=np.zeros(15, dtype=np.int64),
    ... )
    >>> split = Split(np.arange(0, 12), np.arange(12, 14), np.array([14]), np.array([True]))
    >>> choose("preference_tree", duels, split, Tuning(depths=(1, 3)), seed=0).max_depth
    3
    """
    if len(split.validation) and kind != "preference_tree":
        return _by_gradient(kind, duels, split, tuning, plain)
    if len(split.validation):
        parts = [(split.train, split.validation)]
    elif parts is None:
        parts = list(inner_folds(split.train, tuning.inner_folds, seed))
    tried = []
    for candidate in _candidates(kind, tuning):
        asked = [(fit(candidate.unfitted(duels), duels, train), rows) for train, rows in parts]
        loss = log_loss(np.concatenate([probability(model, duels, rows) for model, rows in asked]))
        tried.append(candidate.model_copy(update={"validation_loss": loss}))
    return min(tried, key=lambda each: each.validation_loss)


def median_settings(kind: DuelModel, chosen: Sequence[Chosen]) -> MedianSettings:
    """The median of each setting chosen for a model over splits.

    The median of a lengthscale is over the splits that have it. Of an even number of depths, the upper middle one.

    >>> both = [Chosen(model="gpm", validation_loss=0.5, lengthscales=2.0, penalty=p) for p in (0.5, 1.5)]
    >>> median_settings("gpm", both).penalty
    1.0
    """
    of_kind = [each for each in chosen if each.model == kind]
    if not of_kind:
        raise ValueError(f"nothing was chosen for {kind}")
    is_tree = kind == "preference_tree"
    depths = sorted((each.max_depth for each in of_kind), key=lambda depth: np.inf if depth is None else depth)
    return MedianSettings(
        model=kind,
        lengthscales=_median_scales([each.lengthscales for each in of_kind]),
        context_lengthscales=_median_scales([each.context_lengthscales for each in of_kind]),
        penalty=None if is_tree else median(each.penalty for each in of_kind if each.penalty is not None),
        utility=median(each.utility for each in of_kind) if kind in PLAIN else None,
        max_depth=depths[len(depths) // 2] if is_tree else None,
    )


def _median_scales(scales: Sequence[Mapping[str, float] | float | None]) -> dict[str, float]:
    by_feature = [
        each if isinstance(each, Mapping) else {} if each is None else {ALL_FEATURES: each} for each in scales
    ]
    features = dict.fromkeys(feature for each in by_feature for feature in each)
    return {feature: median(each[feature] for each in by_feature if feature in each) for feature in features}


def _by_gradient(kind: DuelModel, duels: Duels, split: Split, tuning: Tuning, plain: Chosen | None) -> Chosen:
    """The best of a search from the defaults and, if the plain model has a lower loss, one from its settings."""
    utility = UTILITY if kind in PLAIN else 0.0
    start = Chosen(model=kind, validation_loss=np.inf, penalty=START_PENALTY, utility=utility, rank=tuning.rank)
    found = _searched(start, duels, split, tuning)
    if plain is None or plain.validation_loss > found.validation_loss:
        return found
    start = plain.model_copy(update={"model": kind, "utility": LITTLE_UTILITY})
    return min(found, _searched(start, duels, split, tuning), key=lambda each: each.validation_loss)


def _searched(start: Chosen, duels: Duels, split: Split, tuning: Tuning) -> Chosen:
    """The settings that a gradient search finds from a start."""
    kind = start.model
    rows = np.concatenate([split.train, split.validation])
    validates = np.arange(len(rows)) >= len(split.train)
    contexts = (duels.contexts, duels.context_of[rows]) if kind in CONTEXTUAL else ()
    found = search(
        start.unfitted(duels),
        duels.items,
        duels.comparisons[rows],
        validates,
        *contexts,
        rank=tuning.rank,
        max_steps=(tuning.steps + 1) // 2 if kind in CONTEXTUAL else tuning.steps,
    )
    return Chosen(
        model=kind,
        validation_loss=found.best.loss,
        lengthscales=found.model.lengthscales,
        context_lengthscales=getattr(found.model, "context_lengthscales", None),
        penalty=found.model.penalty,
        utility=getattr(found.model, "utility", 0.0),
        rank=tuning.rank,
    )


def _candidates(kind: DuelModel, tuning: Tuning) -> Iterator[Chosen]:
    """The settings to try in inner folds."""
    if kind == "preference_tree":
        for depth in tuning.depths:
            yield Chosen(model=kind, validation_loss=np.inf, max_depth=depth)
        return
    weight = UTILITY if kind in PLAIN else 0.0
    for scale, penalty in itertools.product(tuning.lengthscales, tuning.penalties):
        yield Chosen(model=kind, validation_loss=np.inf, lengthscales=scale, penalty=penalty, utility=weight)


def inner_folds(rows: IntArray, n_folds: int, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows to fit and rows to try, by fold. Both copies of a doubled duel are in the same fold.

    >>> [(len(fitted), len(tried)) for fitted, tried in inner_folds(np.arange(9), 3, seed=0)]
    [(6, 3), (6, 3), (6, 3)]
    """
    distinct = np.unique(rows)
    lot = np.random.default_rng(seed).permutation(len(distinct)) % n_folds
    fold = lot[np.searchsorted(distinct, rows)]
    for at in range(n_folds):
        yield rows[fold != at], rows[fold == at]
