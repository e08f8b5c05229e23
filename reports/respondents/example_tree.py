"""A tree of a run: read from JSON, drawn, and put in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from models.records.arrays import FloatArray
from models.records.features import Column
from models.records.studies.respondent_results import EXAMPLE_TREE
from models.scores.ranks import competition_ranks
from models.trees.leaf_summary import extreme_leaf, leaf_sd
from models.trees.structure import Node, way_to
from reports.figures.tree import TreeDrawing, draw_tree
from reports.page import style
from reports.page.blocks import Block, Figure, Picture, Prose
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.wording import fixed, listed, spaced

_LARGE_TREE = 78.0  # mm, the height of the large tree


class FittedTree(BaseModel):
    """A tree of L leaves with its nodes in pre-order; means and covariance are the leaves' utilities."""

    model_config = ConfigDict(frozen=True)

    columns: tuple[Column, ...]
    nodes: tuple[Node, ...]
    leaf_mean: tuple[float, ...]
    leaf_covariance: tuple[tuple[float, ...], ...]
    leaf_items: tuple[tuple[str, ...], ...]

    @model_validator(mode="after")
    def _leaves_agree(self) -> FittedTree:
        counts = {len(self.leaf_mean), len(self.leaf_covariance), len(self.leaf_items), *map(len, self.leaf_covariance)}
        if counts != {sum(node.leaf is not None for node in self.nodes)}:
            raise ValueError("nodes, leaf_mean, leaf_covariance and leaf_items do not have the same leaves")
        return self

    @property
    def leaf_sd(self) -> FloatArray:
        """Standard deviation of each leaf’s utility, (L,)."""
        return leaf_sd(self.leaf_covariance)

    @property
    def depth(self) -> int:
        """Depth of the deepest leaf."""
        return max(node.depth for node in self.nodes)

    @property
    def empty_leaves(self) -> int:
        """Leaves that hold no item."""
        return sum(not items for items in self.leaf_items)

    def extreme_leaf(self, *, best: bool) -> int:
        """The leaf liked best (or least) among those that hold items."""
        return extreme_leaf(self.leaf_mean, [len(items) for items in self.leaf_items], best=best)

    def extremes_in_words(self, *, both: bool = True) -> str:
        """`Liked best: ... Liked least: ...`, or that one leaf holds all items, which are then not told apart.

        Of leaves with the same utility, all are named. both: whether the leaves liked least are named too.
        """
        held = [leaf for leaf, items in enumerate(self.leaf_items) if items] or list(range(len(self.leaf_mean)))
        ranks = competition_ranks(np.array(self.leaf_mean)[held])
        if len(set(ranks.tolist())) == 1:
            return "The tree does not tell the items apart."
        ends = {"Liked best": ranks.min()} | ({"Liked least": ranks.max()} if both else {})
        return " ".join(
            f"{words}: {'; '.join(self.describe_leaf(held[at]) for at in np.flatnonzero(ranks == end).tolist())}."
            for words, end in ends.items()
        )

    def describe_leaf(self, leaf: int) -> str:
        """`roe, egg (oiliness < 2.25, style other; utility 1.20 ± 0.41)`."""
        utility = f"utility {fixed(self.leaf_mean[leaf], 2)} ± {fixed(float(self.leaf_sd[leaf]), 2)}"
        way = [f"{spaced(question)} {spaced(answer)}" for question, answer in self.way(leaf)]
        where = f"{', '.join(way)}; {utility}" if way else utility
        return f"{listed(list(map(spaced, self.leaf_items[leaf])))} ({where})"

    def way(self, leaf: int) -> tuple[tuple[str, str], ...]:
        """The questions that lead to a leaf, each with the answer."""
        return way_to(self.nodes, self.columns, leaf)

    def counting(self, noun: str) -> FittedTree:
        """The tree whose leaves show the number of their items, not the names: `1 profile`, `12 profiles`."""
        leaves = [node.n_items for node in self.nodes if node.leaf is not None]
        names = [(f"{n:,} {noun}{'s' if n > 1 else ''}",) if n else () for n in leaves]
        return self.model_copy(update={"leaf_items": tuple(names)})

    @property
    def bare(self) -> FittedTree:
        """The tree whose leaves do not show their items."""
        return self.model_copy(update={"leaf_items": ((),) * len(self.leaf_mean)})

    def draw(self, *, height: float | None = None) -> TreeDrawing:
        """The tree as a picture, at most `height` mm high if given."""
        drawn = (self.nodes, self.columns, np.asarray(self.leaf_mean), self.leaf_sd, self.leaf_items)
        return draw_tree(*drawn) if height is None else draw_tree(*drawn, height=height)

    def draw_at_most(self, height: float) -> TreeDrawing:
        """The tree as a picture of at most `height` mm; if it is cut, its ends list no items."""
        drawn = self.draw(height=height)
        return self.bare.draw(height=height) if drawn.cut_at is not None else drawn


class ExampleTree(BaseModel):
    """A user, that user's ranking with the best item first, and the tree of each variant."""

    model_config = ConfigDict(frozen=True)

    user_id: str
    ranking: tuple[str, ...]
    trees: dict[str, FittedTree]


def read_tree(run: FinishedRun, name: str) -> FittedTree:
    """Read the tree in `results/<name>.json`; its leaves hold no items if the file lists none. Raises NotARunError."""
    document = run.json(name)
    try:
        return FittedTree.model_validate({"leaf_items": [[] for _ in document["leaf_mean"]], **document})
    except (ValidationError, KeyError, TypeError) as problem:
        path = run.path / "results" / f"{name}.json"
        raise NotARunError(f"{path} holds no tree: {problem}. Run the study again.") from problem


def read_example(run: FinishedRun, variants: Sequence[str]) -> ExampleTree:
    """Read `results/example_tree.json`. Raises NotARunError if it breaks its schema or lacks one of `variants`."""
    path = run.path / "results" / f"{EXAMPLE_TREE}.json"
    example = run.document(EXAMPLE_TREE, ExampleTree)
    if missing := [variant for variant in variants if variant not in example.trees]:
        raise NotARunError(f"{path} has no tree {', '.join(missing)}; found {', '.join(example.trees)}.")
    return example


def example_blocks(example: ExampleTree, *, small: str, large: str) -> list[Block]:
    """The user's ranking, and the trees of two variants: a small one to read, and a large one."""
    readable, unreadable = example.trees[small], example.trees[large]
    extremes = readable.extremes_in_words()
    whole, part = readable.draw(), unreadable.draw_at_most(_LARGE_TREE)
    return [
        Prose([f"User {example.user_id} ranked, best first: {', '.join(map(spaced, example.ranking))}."]),
        Figure(
            [tree_picture("tree", whole, f"Preference tree of user {example.user_id}. {extremes}")],
            f"What user {example.user_id} likes, in {len(readable.leaf_mean)} leaves ({spaced(small)}).",
            f"{extremes}{reading(whole, of='items')}",
        ),
        Figure(
            [tree_picture("tree-large", part, f"The same user's tree, {spaced(large)}.")],
            f"The same user’s tree, {spaced(large)}: {len(unreadable.leaf_mean)} leaves, up to {unreadable.depth} "
            "questions.",
            f"{unreadable.empty_leaves} of its leaves hold none of the {len(example.ranking)} items."
            + cut_in_words(part),
        ),
    ]


def reading(drawing: TreeDrawing, *, of: str, utility: str = "utility") -> str:
    """Sentences, with a space before them, on how to read a drawing; of: noun for the items in the leaves."""
    shapes = (
        f" Each shape is the Gaussian of a leaf’s {utility}, with its mean and one standard deviation to either side."
        if drawing.gaussians
        else ""
    )
    return f"{shapes} Edges are as wide as their share of the {of}; the way to the top leaf is coloured."


def cut_in_words(drawing: TreeDrawing) -> str:
    """A sentence, with a space before it, on the part that is not drawn; empty if the whole tree is drawn."""
    if drawing.cut_at is None:
        return ""
    first = {0: "None of its questions is", 1: "Only the first question is"}
    drawn = first.get(drawing.cut_at, f"Only the first {drawing.cut_at} questions of each path are")
    return f" {drawn} drawn; a bar spans the means of the leaves left out."


def tree_picture(name: str, drawing: TreeDrawing, alt: str) -> Picture:
    """A drawn tree as a picture of the page."""
    return Picture(name, style.to_svg(drawing.figure), drawing.width, alt)
