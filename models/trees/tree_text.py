"""A preference tree as plain text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.records.arrays import FloatArray
from models.records.features import Column
from models.trees.structure import Node, describe_split


def tree_to_text(
    nodes: Sequence[Node],
    columns: Sequence[Column],
    leaf_mean: FloatArray,
    leaf_covariance: FloatArray,
    *,
    numbered: bool = False,
) -> str:
    """Indented text, one line per node: the answer that leads there, then the next question or the leaf's utility.

    leaf_mean: (m_l,); leaf_covariance: (m_l, m_l). Rank 1 is the most preferred leaf; equal means share a rank.
    numbered: with the numbers of nodes and leaves, as the functions of `models.trees.editing` take them.

    >>> from models.trees.preference_tree import PreferenceTree
    >>> tree = PreferenceTree().fit([[1.0], [2.0]], [[1, 0]])
    >>> print(tree_to_text(tree.nodes_, tree.columns_, tree.leaf_mean_, tree.leaf_covariance_, numbered=True))
    node 0, x0?  (1 comparison, score +1)
      < 1.5: leaf 0, utility -0.75 ± 0.91, rank 2  (1 item)
      ≥ 1.5: leaf 1, utility +0.75 ± 0.91, rank 1  (1 item)
    """
    sd = np.sqrt(np.clip(np.diagonal(leaf_covariance), 0.0, None))
    answers: dict[int, str] = {}
    lines = []
    for node in nodes:
        answer = f"{answers[node.id]}: " if node.id in answers else ""
        if node.leaf is None:
            split = describe_split(node, columns)
            assert node.left is not None
            assert node.right is not None
            answers[node.left], answers[node.right] = split.left, split.right
            number = f"node {node.id}, " if numbered else ""
            text = f"{number}{split.question}?  ({_count(node.n_comparisons, 'comparison')}, score {node.score:+d})"
        else:
            mean = leaf_mean[node.leaf]
            rank = 1 + int((leaf_mean > mean).sum())
            number = f"leaf {node.leaf}, " if numbered else ""
            text = f"{number}utility {mean:+.2f} ± {sd[node.leaf]:.2f}, rank {rank}  ({_count(node.n_items, 'item')})"
        lines.append("  " * node.depth + answer + text)
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
