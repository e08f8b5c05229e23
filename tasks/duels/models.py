"""The models of duels: how each is fitted, asked and chosen on duels kept for validation, or by inner folds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from models.kernels.gpm import CGPM, GPM, UPM
from models.kernels.gpm_search import search
from models.records.arrays import FloatArray, IntArray
from models.records.base import Record
from models.scores.discrimination import log_loss
from models.trees.preference_tree import PreferenceTree
from tasks.duels.splits import Duels, Split

DuelModel = Literal["gpm", "gpm_u", "c_gpm", "c_gpm_u", "upm", "preference_tree"]
"""gpm_u and c_gpm_u: gpm and c_gpm with a utility of their own beside the general preference."""
CONTEXTUAL: frozenset[DuelModel] = frozenset({"c_gpm", "c_gpm_u"})
Model = GPM | CGPM | UPM | PreferenceTree


UTILITY, LITTLE_UTILITY = 10.0, 0.1
"""The weight of a utility in inner folds, and where the search for it begins otherwise; beside a plain model's rest."""
PLAIN: Mapping[DuelModel, DuelModel] = {"gpm_u": "gpm", "c_gpm_u": "c_gpm"}


Positive = Annotated[float, Field(gt=0)]


class Tuning(Record):
    """How lengthscales, penalty and depth are chosen; test duels never have a say in it."""

    rank: int | None = Field(
        default=400,
        ge=1,
        description="landmarks at most that carry the items' kernel, in the search too; exact if not set",
    )
    steps: int = Field(
        default=24,
        ge=1,
        description="steps at most of the search for lengthscales and penalty, of a fit or a few "
        "each; of a model that knows contexts, whose fits cost most, half as many",
    )
    inner_folds: int = Field(
        default=5, ge=2, description="folds of the training duels where none are kept for validation"
    )
    lengthscales: tuple[Positive, ...] = Field(
        default=(1.0, 2.0, 4.0), min_length=1,
        description="tried in inner folds, in standard deviations, for all features alike",
    )  # fmt: skip
    penalties: tuple[Positive, ...] = Field(
        default=(1e-4, 1e-3, 1e-2), min_length=1, description="tried in inner folds"
    )
    depths: tuple[Annotated[int, Field(ge=1)] | None, ...] = Field(
        default=(2, 3, 4, 6, 8, 12, 16), min_length=1,
        description="depths at most that are tried for the preference tree",
    )  # fmt: skip


class Chosen(Record):
    """What was chosen of a model, and the loss it had on the duels that chose: of a duel, in nats."""

    model: DuelModel
    validation_loss: float
    lengthscales: Mapping[str, float] | float | None = None
    context_lengthscales: Mapping[str, float] | float | None = None
    penalty: float | None = None
    utility: float = 0.0
    rank: int | None = None
    max_depth: int | None = None

    def unfitted(self, duels: Duels) -> Model:
        """The model as it was chosen, to be fitted to some of the duels."""
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


def fit(model: Model, duels: Duels, rows: IntArray) -> Model:
    """Fit a model to some of the duels."""
    if isinstance(model, CGPM):
        return model.fit(duels.items, duels.comparisons[rows], duels.contexts, duels.context_of[rows])
    return model.fit(duels.items, duels.comparisons[rows])


def preference(model: Model, duels: Duels, rows: IntArray) -> FloatArray:
    """The preference for the winner over the loser of some of the duels, (rows,)."""
    if isinstance(model, CGPM):
        return model.decision_function(duels.items, duels.comparisons[rows], duels.contexts, duels.context_of[rows])
    return model.decision_function(duels.items, duels.comparisons[rows])


def probability(model: Model, duels: Duels, rows: IntArray) -> FloatArray:
    """The probability given to what happened in some of the duels, (rows,)."""
    if isinstance(model, CGPM):
        return model.predict_proba(duels.items, duels.comparisons[rows], duels.contexts, duels.context_of[rows])
    return model.predict_proba(duels.items, duels.comparisons[rows])


def choose(
    kind: DuelModel, duels: Duels, split: Split, tuning: Tuning, *, seed: int, plain: Chosen | None = None
) -> Chosen:
    """Choose a model on the validation duels of a split: by gradient, a tree's depth by trying.

    Without validation duels by trying a grid in inner folds of the training duels. plain: what was chosen of the model
    without a utility, where a model with one is also looked for.
    """
    if len(split.validation) and kind != "preference_tree":
        return _by_gradient(kind, duels, split, tuning, plain)
    if len(split.validation):
        parts = [(split.train, split.validation)]
    else:
        parts = list(_inner_folds(split.train, tuning.inner_folds, seed))
    tried = []
    for candidate in _candidates(kind, tuning):
        asked = [(fit(candidate.unfitted(duels), duels, train), rows) for train, rows in parts]
        loss = log_loss(np.concatenate([probability(model, duels, rows) for model, rows in asked]))
        tried.append(candidate.model_copy(update={"validation_loss": loss}))
    return min(tried, key=lambda each: each.validation_loss)


def _by_gradient(kind: DuelModel, duels: Duels, split: Split, tuning: Tuning, plain: Chosen | None) -> Chosen:
    """From the defaults on; a model with a utility also from a plain one that does better."""
    utility = UTILITY if kind in PLAIN else 0.0
    start = Chosen(model=kind, validation_loss=np.inf, penalty=1e-4, utility=utility, rank=tuning.rank)
    found = _led_from(start, duels, split, tuning)
    if plain is None or plain.validation_loss > found.validation_loss:
        return found
    start = plain.model_copy(update={"model": kind, "utility": LITTLE_UTILITY})
    return min(found, _led_from(start, duels, split, tuning), key=lambda each: each.validation_loss)


def _led_from(start: Chosen, duels: Duels, split: Split, tuning: Tuning) -> Chosen:
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
    if kind == "preference_tree":
        for depth in tuning.depths:
            yield Chosen(model=kind, validation_loss=np.inf, max_depth=depth)
        return
    weight = UTILITY if kind in PLAIN else 0.0
    for scale, penalty in itertools.product(tuning.lengthscales, tuning.penalties):
        yield Chosen(model=kind, validation_loss=np.inf, lengthscales=scale, penalty=penalty, utility=weight)


def _inner_folds(rows: IntArray, n_folds: int, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Training duels and those they are tried on. A duel that is there twice is on one side of it both times."""
    distinct = np.unique(rows)
    lot = np.random.default_rng(seed).permutation(len(distinct)) % n_folds
    fold = lot[np.searchsorted(distinct, rows)]
    for at in range(n_folds):
        yield rows[fold != at], rows[fold == at]
