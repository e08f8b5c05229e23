"""The settings of the search for features, and of the tree over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from models.records.arrays import FloatArray, IntArray
from models.records.base import Record
from models.records.features import Column
from models.trees.growth.options import LEAST_RATIO
from models.trees.growth.splits import TieBreak
from models.trees.preference_tree import PreferenceTree


class LoopSettings(Record):
    """Settings of the search for features."""

    rounds: int = Field(default=12, ge=0, description="largest number of rounds; each proposes one feature")
    pairs: int = Field(default=12, ge=1, description="hard comparisons per round that the model reasons about")
    validation_share: float = Field(default=0.25, gt=0, lt=1, description="share of INBOX_A held out for validation")
    split: Literal["patient", "pair"] = Field(
        default="patient",
        description="what is held out for validation: all pairs of some patients (patient), or single pairs (pair)",
    )
    acceptance: Literal["not_worse", "better"] = Field(
        default="not_worse",
        description="a new feature is kept if validation accuracy does not fall (not_worse), or if it rises (better)",
    )
    pruning: Literal["harmful", "useless", "never"] = Field(
        default="harmful",
        description="features dropped after a round: those whose removal raises validation accuracy (harmful), those "
        "whose removal does not lower it (useless), or none (never)",
    )


class TreeSettings(Record):
    """How the tree over the features is grown."""

    tie_break: TieBreak = Field(
        default="lowest",
        description="which of several splits of equal score is taken: the first feature and lowest threshold (lowest), "
        "the one with the widest gap (widest_gap), or a random one (random)",
    )
    ratio: float = Field(
        default=0.25,
        ge=LEAST_RATIO,
        description="sigma_noise^2 / sigma_prior^2; a larger ratio pulls leaf values towards 0",
    )
    max_categories: int | None = Field(
        default=3,
        ge=1,
        description="a categorical feature is split only where a node has at most this many of its categories",
    )

    def grow(
        self, items: FloatArray, columns: Sequence[Column], comparisons: IntArray, *, max_depth: int | None = None
    ) -> PreferenceTree:
        """The tree of comparisons (n, 2) among items (m, d); items outside the comparisons are ignored."""
        seen, rows = np.unique(comparisons, return_inverse=True)
        tree = PreferenceTree(columns, max_depth=max_depth, **self.model_dump())
        return tree.fit(items[seen], rows.reshape(comparisons.shape))
