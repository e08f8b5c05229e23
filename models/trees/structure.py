"""The structure of a fitted preference tree: its nodes, its splits in words, and the paths to its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from models.records.arrays import BoolArray, FloatArray, IntArray
from models.records.base import Record
from models.records.features import Column, FeatureKind


class Node(Record):
    """One node; a leaf has `leaf` (its number, left to right) and no split.

    n_comparisons counts the pairs with both items in the node's region; if straddlers are kept, the pairs that chose
    its split. score is the signed sum of Z over them (dt-pbo Eq. 5): positive if the winners tend to fall right.
    """

    id: int
    parent: int | None
    depth: int
    n_comparisons: int
    n_items: int
    score: int = 0
    column: int | None = None
    threshold: float | None = None
    left_levels: tuple[int, ...] | None = None
    missing_left: bool = True
    left: int | None = None
    right: int | None = None
    leaf: int | None = None


ANY_OTHER = "any other"
"""The answer that leads right at a split on several categories, short enough for a drawing."""


class SplitText(NamedTuple):
    """The question of a split, and the answers that lead left and right."""

    question: str
    left: str
    right: str


def describe_split(node: Node, columns: Sequence[Column]) -> SplitText:
    """Describe a split in words: `oiliness: < 2.25 / ≥ 2.25`, `minor group: roe, egg / any other`.

    Raises ValueError for a leaf.

    >>> from models.numerics.validation import check_columns
    >>> split = Node(id=0, parent=None, depth=0, n_comparisons=4, n_items=3, column=0, threshold=2.25)
    >>> describe_split(split, check_columns(None, 1))
    SplitText(question='x0', left='< 2.25', right='≥ 2.25')
    """
    if node.column is None:
        raise ValueError(f"node {node.id} is a leaf")
    column = columns[node.column]
    if node.left_levels is not None:
        left = ", ".join(_level(column, code) for code in node.left_levels)
        return SplitText(column.name, left, f"not {left}" if len(node.left_levels) == 1 else ANY_OTHER)
    threshold = float(node.threshold if node.threshold is not None else np.nan)
    if column.kind is FeatureKind.BINARY:
        return SplitText(column.name, _level(column, 0), _level(column, 1))
    if column.kind is FeatureKind.ORDINAL and column.levels:
        label = _level(column, int(np.ceil(threshold)))
        return SplitText(column.name, f"below {label}", f"{label} or above")
    unit = f" {column.unit}" if column.unit else ""
    return SplitText(column.name, f"< {threshold:.4g}{unit}", f"≥ {threshold:.4g}{unit}")


def _level(column: Column, code: int) -> str:
    return column.levels[code] if column.levels and 0 <= code < len(column.levels) else str(code)


def goes_left(node: Node, values: FloatArray) -> BoolArray:
    """Whether each of `values` (n,) of the node's column falls left: below the threshold, or among the left levels.

    NaN falls on the side the split chose for missing values; a category never seen in the node falls right.

    >>> split = Node(id=0, parent=None, depth=0, n_comparisons=4, n_items=3, column=0, threshold=2.0)
    >>> goes_left(split, np.array([1.0, 3.0, np.nan]))
    array([ True, False,  True])
    """
    missing = np.isnan(values)
    if node.left_levels is not None:
        left = np.isin(values, np.asarray(node.left_levels, dtype=np.float64))
    else:
        left = values < (node.threshold if node.threshold is not None else np.nan)
    return np.where(missing, node.missing_left, left)


def leaf_of(nodes: Sequence[Node], items: FloatArray) -> IntArray:
    """Leaf number of each item, (m, d) -> (m,).

    >>> from models.trees.preference_tree import PreferenceTree
    >>> tree = PreferenceTree().fit([[1.0], [2.0], [3.0]], [[1, 0], [2, 1]])
    >>> leaf_of(tree.nodes_, np.array([[0.5], [9.0]]))
    array([0, 2])
    """
    leaf = np.empty(len(items), dtype=np.int64)
    waiting = [(0, np.arange(len(items)))]
    while waiting:
        position, rows = waiting.pop()
        node = nodes[position]
        if node.column is None or node.left is None or node.right is None:
            leaf[rows] = -1 if node.leaf is None else node.leaf
            continue
        left = goes_left(node, items[rows, node.column])
        waiting += [(node.left, rows[left]), (node.right, rows[~left])]
    return leaf


def path_to(nodes: Sequence[Node], leaf: int) -> tuple[int, ...]:
    """The node ids from the root to a leaf number. Raises KeyError if there is no such leaf.

    >>> from models.trees.preference_tree import PreferenceTree
    >>> tree = PreferenceTree().fit([[1.0], [2.0], [3.0]], [[1, 0], [2, 1]])
    >>> path_to(tree.nodes_, 0)
    (0, 1)
    """
    found = [node for node in nodes if node.leaf == leaf]
    if not found:
        raise KeyError(leaf)
    path: list[int] = []
    at: int | None = found[0].id
    while at is not None:
        path.append(at)
        at = nodes[at].parent
    return tuple(reversed(path))


def way_to(nodes: Sequence[Node], columns: Sequence[Column], leaf: int) -> tuple[tuple[str, str], ...]:
    """The questions from the root to a leaf number, each with the answer that leads there.

    Raises KeyError if there is no such leaf.

    >>> from models.trees.preference_tree import PreferenceTree
    >>> tree = PreferenceTree().fit([[1.0], [2.0], [3.0]], [[1, 0], [2, 1]])
    >>> way_to(tree.nodes_, tree.columns_, 1)
    (('x0', '≥ 1.5'), ('x0', '< 2.5'))

    Several categories are joined by or: `roe or egg`, and on the other side `other than roe or egg`.
    """
    steps = []
    for node, child in pairwise(nodes[at] for at in path_to(nodes, leaf)):
        split = describe_split(node, columns)
        left, right = split.left, split.right
        if node.column is not None and node.left_levels is not None and len(node.left_levels) > 1:
            left = " or ".join(_level(columns[node.column], code) for code in node.left_levels)
            right = f"other than {left}"
        steps.append((split.question, left if child.id == node.left else right))
    return tuple(steps)
