"""The result of an adapter's `read`: the columns of one pairwise table, and an account of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.records.manifest import DroppedRows

Columns = Mapping[str, Any]
"""Column name to values: a NumPy or Arrow array or a list with one value per row; NaN and None are missing."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One pairwise table as read, before it gets its types.

    items: `item_id` and the declared features and texts. users, contexts: `user_id` or `context_id`, and the features.
    comparisons: `comparison_id, left_id, right_id, left_wins`, where known `user_id, context_id, task_index`, and the
    declared features. Binary values are bools, labels strings, multi_hot values lists of strings.
    rows_read: rows of each raw file, header lines not counted; FILE$TABLE where a file holds several tables.
    """

    name: str
    items: Columns
    comparisons: Columns
    users: Columns | None = None
    contexts: Columns | None = None
    rows_read: dict[str, int]
    dropped: tuple[DroppedRows, ...] = ()
    quirks: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, Columns]:
        """The tables there are, by name."""
        parts = {"items": self.items, "comparisons": self.comparisons, "users": self.users, "contexts": self.contexts}
        return {name: columns for name, columns in parts.items() if columns is not None}
