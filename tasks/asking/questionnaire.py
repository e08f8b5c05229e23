"""Questions to one person about the items of a table, and the preference tree of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from data_adapters.table.pairwise_table import PairwiseTable
from models.asking.active_learning import Belief, Strategy, next_pairs, recommend
from models.asking.tree_surrogate import TreeSurrogate
from models.numerics.hashing import mix
from models.records.arrays import FloatArray, IntArray
from models.records.errors import UsageError
from models.records.features import Column
from models.scores.ranks import competition_ranks
from models.trees.leaf_summary import leaf_sd
from models.trees.preference_tree import PreferenceTree
from tasks.tables.encode import encode

MOST_ITEMS = 300
"""Largest number of items; all pairs of them are compared before each question."""


class RankedGroup(NamedTuple):
    """The items of one leaf: their rank (equal utilities share one), the leaf's utility and its standard deviation."""

    rank: int
    utility: float
    sd: float
    items: tuple[str, ...]


class Questionnaire:
    """Questions to one person, each chosen by the tree of the answers so far (qEUBO, top leaf first).

    No pair is asked twice while another pair is left.

    >>> from models.trees.preference_tree import numeric_columns
    >>> questions = Questionnaire(np.array([[0.0], [1.0]]), numeric_columns(["size"]), ["small", "large"])
    >>> pair = questions.next_pair()
    >>> questions.prefer((1, 0))
    >>> [group.items for group in questions.ranking(questions.tree())]
    [('large',), ('small',)]
    """

    def __init__(self, items: FloatArray, columns: Sequence[Column], labels: Sequence[str], *, seed: int = 0) -> None:
        self.items, self.columns, self.labels = items, tuple(columns), tuple(labels)
        self._answers: list[tuple[int, int]] = []
        self._seeds = mix(seed, np.zeros(1, dtype=np.int64))
        self._surrogate = TreeSurrogate(items[None], self.columns, self._seeds)
        self._strategy = Strategy(repeats=False, recommend="most_wins")

    @classmethod
    def about(cls, table: PairwiseTable, *, seed: int) -> Questionnaire:
        """Questions about the items of a table. Raises UsageError if there are too many, or if they have no names."""
        if "label" not in table.items.column_names:
            raise UsageError(f"The items of {table.name} have no names to show. Questions need a column label.")
        if len(table.items) > MOST_ITEMS:
            raise UsageError(f"{table.name} has {len(table.items):,} items; at most {MOST_ITEMS} can be asked about.")
        encoded = encode(table)
        return cls(encoded.items, encoded.columns, table.items["label"].to_pylist(), seed=seed)

    @property
    def n_answers(self) -> int:
        """Number of answered questions."""
        return len(self._answers)

    def next_pair(self) -> tuple[int, int]:
        """The pair of items to ask about next."""
        first, second = next_pairs(self._belief(), self._array(), self._seeds, self._strategy)[0]
        return int(first), int(second)

    def prefer(self, pair: tuple[int, int]) -> None:
        """Record an answer: the first item of the pair is preferred."""
        self._answers.append(pair)

    def take_back(self) -> None:
        """Remove the last answer, if there is one."""
        del self._answers[-1:]

    def tree(self) -> PreferenceTree:
        """The tree of all answers."""
        return PreferenceTree(self.columns).fit(self.items, np.array(self._answers, dtype=np.int64).reshape(-1, 2))

    def recommended(self) -> int:
        """The item asked about that the tree expects to be liked best."""
        return int(recommend(self._belief(), self._array(), self._seeds, self._strategy)[0])

    def ranking(self, tree: PreferenceTree) -> list[RankedGroup]:
        """The items by leaf, the best leaf first; leaves without items are left out."""
        leaf, mean = tree.apply(self.items), tree.leaf_mean_
        sd = leaf_sd(tree.leaf_covariance_)
        rank = competition_ranks(mean[leaf])
        held = sorted(set(leaf.tolist()), key=lambda at: (-mean[at], at))
        return [
            RankedGroup(
                rank=int(rank[leaf == at][0]),
                utility=float(mean[at]),
                sd=float(sd[at]),
                items=tuple(self.labels[item] for item in np.flatnonzero(leaf == at)),
            )
            for at in held
        ]

    def _array(self) -> IntArray:
        return np.array(self._answers, dtype=np.int64).reshape(1, -1, 2)

    def _belief(self) -> Belief:
        return self._surrogate(self._array())
