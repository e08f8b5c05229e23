"""Paths through a tree in words: they can be read without the drawing, on which the other categories stand."""

from __future__ import annotations

from models.records.features import Column, FeatureKind
from models.trees.structure import Node, describe_split, way_to

AREA = Column(name="area", feature="area", kind=FeatureKind.CATEGORICAL, levels=("north", "south", "east", "west"))


def tree_on(levels: tuple[int, ...]) -> tuple[Node, ...]:
    counts = {"n_comparisons": 4, "n_items": 3}
    return (
        Node(id=0, parent=None, depth=0, column=0, left_levels=levels, left=1, right=2, **counts),
        Node(id=1, parent=0, depth=1, leaf=0, **counts),
        Node(id=2, parent=0, depth=1, leaf=1, **counts),
    )


def test_a_path_names_the_categories_on_both_sides() -> None:
    nodes = tree_on((0, 2))
    assert way_to(nodes, (AREA,), 0) == (("area", "north or east"),)
    assert way_to(nodes, (AREA,), 1) == (("area", "other than north or east"),)
    assert describe_split(nodes[0], (AREA,)).right == "any other"


def test_one_category_is_named_or_denied() -> None:
    assert [way_to(tree_on((3,)), (AREA,), leaf)[0][1] for leaf in (0, 1)] == ["west", "not west"]
