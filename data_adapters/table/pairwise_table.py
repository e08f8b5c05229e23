"""The pairwise table: items, comparisons, where known users and contexts, and the manifest."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from data_adapters.table.schema import features_in, texts_in
from models.records.features import LABEL, Feature
from models.records.manifest import Manifest


@dataclass(frozen=True, eq=False)
class PairwiseTable:
    """A checked pairwise table (DESIGN: the data). The Arrow field's metadata describe each feature.

    items: item_id, texts, features. comparisons: comparison_id, left_id, right_id, left_wins, where known user_id,
    context_id, task_index, then flags and per-side features. users, contexts: None where the data has none.
    """

    items: pa.Table
    comparisons: pa.Table
    users: pa.Table | None
    contexts: pa.Table | None
    manifest: Manifest

    @property
    def name(self) -> str:
        """The name of the table and of its folder."""
        return self.manifest.name

    @property
    def parts(self) -> dict[str, pa.Table]:
        """The parts that exist, by name."""
        parts = {"items": self.items, "comparisons": self.comparisons, "users": self.users, "contexts": self.contexts}
        return {name: table for name, table in parts.items() if table is not None}

    @property
    def private(self) -> bool:
        """Whether the items have texts beside their labels, such as patients' messages."""
        return bool(texts_in(self.items.schema) - {LABEL})

    @property
    def item_features(self) -> tuple[Feature, ...]:
        """The features of the items."""
        return features_in(self.items.schema)

    @property
    def user_features(self) -> tuple[Feature, ...]:
        """The features of the users; none where the data has no users."""
        return () if self.users is None else features_in(self.users.schema)

    @property
    def context_features(self) -> tuple[Feature, ...]:
        """The features of the contexts; none where the data has no contexts."""
        return () if self.contexts is None else features_in(self.contexts.schema)

    @property
    def comparison_features(self) -> tuple[Feature, ...]:
        """The flags and per-side features of the comparisons."""
        return features_in(self.comparisons.schema)
