"""A tree saved in a file, with the source of its comparisons, so that it can be shown, edited and fitted again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from data_adapters.table.parquet import read_table
from models.numerics.hashing import hash_texts
from models.records.arrays import FloatArray, IntArray
from models.records.base import Record
from models.records.errors import OutputError, TableError, UsageError
from models.records.whole_file import whole_file
from models.scores.accuracy import Accuracy
from models.scores.holdout import hold_out_pairs
from models.trees.editing import merge, move_threshold, pin_order
from models.trees.preference_tree import PreferenceTree
from tasks.tables.encode import encode


class MadeFrom(Record):
    """The comparisons a tree was fitted to: those of one user (None: all) in a table, without the held-out share."""

    table: Path
    table_name: str
    user: str | None
    test_share: float
    seed: int


class SavedTree:
    """A fitted tree, the source of its comparisons, and these comparisons: training and test."""

    def __init__(self, tree: PreferenceTree, made_from: MadeFrom) -> None:
        self.tree, self.made_from = tree, made_from
        self.items, self.train, self.test = _comparisons(made_from)

    @classmethod
    def fit(cls, made_from: MadeFrom, **parameters: Any) -> SavedTree:
        """Fit a tree with the parameters of `PreferenceTree`. Raises TableError or UsageError."""
        encoded = encode(read_table(made_from.table))
        saved = cls(PreferenceTree(encoded.columns, **parameters), made_from)
        saved.tree.fit(saved.items, saved.train)
        return saved

    @classmethod
    def read(cls, path: Path, *, table: Path | None = None) -> SavedTree:
        """Read a tree from its file. table: folder of its table, if it has moved.

        Raises UsageError if the file holds no tree, and TableError if its table is missing.
        """
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            made_from = MadeFrom(**document["made_from"])
            tree = PreferenceTree.from_dict(document["tree"])
        except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError, ValidationError) as error:
            raise UsageError(f"{path} holds no preference tree. Make one: prefstudy tree fit TABLE_DIR") from error
        return cls(tree, made_from if table is None else made_from.model_copy(update={"table": table}))

    def write(self, path: Path) -> None:
        """Write the tree as JSON, aside and then renamed. Raises OutputError."""
        document = {"made_from": self.made_from.model_dump(mode="json"), "tree": self.tree.to_dict()}
        try:
            with whole_file(path) as aside:
                aside.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise OutputError(
                f"{path} cannot be written: {error.strerror}. Choose another place with --out."
            ) from error

    def accuracies(self) -> dict[str, Accuracy]:
        """The three accuracies on the training comparisons, and on the held-out ones if there are any."""
        parts = {"fitted": self.train, "held out": self.test}
        return {name: self.tree.accuracies(self.items, pairs) for name, pairs in parts.items() if len(pairs)}

    def edited(self, *, thresholds: dict[int, float], merged: list[int], pins: list[tuple[int, int]]) -> SavedTree:
        """Move thresholds, then merge splits, then pin orders of the remaining leaves.

        Raises UsageError for an edit that cannot be made.
        """
        tree = self.tree
        try:
            for node, threshold in thresholds.items():
                tree = move_threshold(tree, node, threshold, self.items, self.train)
            for node in sorted(merged, reverse=True):  # from the last, because merging renumbers the nodes after it
                tree = merge(tree, node, self.items, self.train)
            for better, worse in pins:
                tree = pin_order(tree, better, worse, self.items, self.train)
        except ValueError as error:
            raise UsageError(f"{error}. prefstudy tree show prints the numbers of nodes and leaves.") from error
        return SavedTree(tree, self.made_from)


def _comparisons(made_from: MadeFrom) -> tuple[FloatArray, IntArray, IntArray]:
    """Items (m, d) and the comparisons to fit and to test with."""
    table = read_table(made_from.table)
    if table.name != made_from.table_name:
        raise TableError(
            f"{made_from.table} holds the table {table.name}, but the tree was made from {made_from.table_name}. "
            f"Name the right folder with --table."
        )
    encoded = encode(table)
    pairs = encoded.comparisons
    owner, keys = np.zeros(len(pairs), dtype=np.int64), hash_texts([""])
    if encoded.users is not None and encoded.user_ids is not None:
        owner, keys = encoded.users, hash_texts(encoded.user_ids)
    if made_from.user is not None:
        known = [] if encoded.user_ids is None else encoded.user_ids.tolist()
        if encoded.users is None or made_from.user not in known:
            examples = f" ({', '.join(map(str, known[:3]))}, ...)" if known else ""
            raise UsageError(f"The table {table.name} has no user {made_from.user}: it has {len(known):,}{examples}.")
        mine = np.flatnonzero(encoded.users == known.index(made_from.user))
        pairs, owner = pairs[mine], owner[mine]
    test = hold_out_pairs(pairs, owner, keys, share=made_from.test_share, seed=made_from.seed)
    return encoded.items, pairs[~test], pairs[test]
