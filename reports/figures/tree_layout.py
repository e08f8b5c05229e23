"""The layout of a drawn tree, in which no two texts overlap.

Every subtree owns a strip of the width and every depth a band of the height; a text stands inside the strip and the
band of its node, and an edge stays inside its parent's strip. Leaves share one band at the bottom, left to right.
All lengths are points (1/72 inch); x grows to the right, y downwards.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product, takewhile

from models.records.features import Column
from models.trees.structure import Node, SplitText, describe_split
from reports.page.wording import spaced

Measure = Callable[[str, float, int], float]
"""The width in points of a line of text, of a font size and weight."""

ANSWER, QUESTION, DETAIL = (7.5, 400), (8.5, 600), (7.0, 400)
LEADING = 1.22
GUTTER = 5.0  # between neighbouring strips
MAX_ITEM_LINES = 10
_LONGEST = 24
_WRAPS = (
    (24, 24),
    (24, 14),
    (24, 9),
    (14, 14),
    (14, 9),
    (9, 9),
    (14, 6),
    (9, 6),
)  # characters a line, in cards and at ends
_DROPS = (15.0, 12.0, 10.0)  # gap between the cards of one depth and the next; the first that fits is taken
_NARROWEST = 17.0  # smallest width of an end: its mean needs that much
_EASE = 1.5  # width of a drawing relative to what it needs, where the page has room

Line = tuple[str, tuple[float, int]]


@dataclass(frozen=True)
class Tree:
    """The tree to draw: its nodes in pre-order, their columns, and the names of the items in each leaf."""

    nodes: Sequence[Node]
    columns: Sequence[Column]
    leaf_items: Sequence[Sequence[str]]

    def leaves_below(self, at: int) -> tuple[int, ...]:
        """The leaves of the subtree at node `at`, left to right; in pre-order a subtree is a run of nodes."""
        below = takewhile(lambda node: node.depth > self.nodes[at].depth, self.nodes[at + 1 :])
        return tuple(node.leaf for node in (self.nodes[at], *below) if node.leaf is not None)

    def ends(self, cut_at: int) -> int:
        """Number of ends of the drawing if it is cut at a depth."""
        return sum(node.depth == cut_at or (node.depth < cut_at and node.leaf is not None) for node in self.nodes)


@dataclass
class Spot:
    """A node in the drawing: the lines of the answer that leads to it, of its question, and of the detail below.

    An end has no question; it has the leaves it stands for.
    """

    node: Node
    answer: tuple[str, ...]
    question: tuple[str, ...]
    detail: tuple[str, ...]
    texts: tuple[str, str]  # answer and question before wrapping
    items: tuple[str, ...] = ()
    leaves: tuple[int, ...] = ()
    children: list[Spot] = field(default_factory=list)
    own: float = 0.0  # width of its own texts
    need: float = 0.0  # width of its own texts or of its children's strips
    x: float = 0.0
    strip: float = 0.0  # width it was given
    top: float = 0.0

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines of text at the node, from the top: answer, question, detail."""
        parts = ((self.answer, ANSWER), (self.question, QUESTION), (self.detail, DETAIL))
        return tuple((line, how) for lines, how in parts for line in lines)

    @property
    def height(self) -> float:
        """Height of the lines."""
        return sum(size * LEADING for _, (size, _) in self.lines)

    def walk(self) -> Iterator[Spot]:
        """The spot itself and all below, in pre-order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Layout:
    """A placed tree: its spots, its size, the top of the leaves' band, and the depth of the cut (None: not cut)."""

    root: Spot
    ends: tuple[Spot, ...]
    width: float
    height: float
    leaves_top: float
    cut_at: int | None


def place(
    tree: Tree,
    measure: Measure,
    *,
    end_lines: Callable[[tuple[int, ...]], Sequence[str]],
    leaf_band: Callable[[int], float],
    widths: tuple[float, float],
    height: float,
) -> Layout:
    """Place the tree in a width between `widths` and a height of at most `height`.

    Long texts are wrapped more and more tightly. If that is not enough, every subtree below some depth is drawn as one
    end that says how many leaves it stands for. end_lines: the texts under an end besides its items; leaf_band: height
    of the leaves' band for a number of lines of items.

    Raises ValueError if not even one leaf fits.
    """
    least, most = widths
    depth = max(node.depth for node in tree.nodes)
    cuts = [cut_at for cut_at in range(depth, -1, -1) if tree.ends(cut_at) * _NARROWEST <= most]
    for cut_at, wraps in product(cuts, _WRAPS):
        root = _spot(tree, 0, "", cut_at, wraps)
        need = _set_widths(root, measure, end_lines)
        ends = tuple(spot for spot in root.walk() if not spot.children)
        band = leaf_band(max(len(spot.items) for spot in ends))
        leaves_top = _stack(root, height - band)
        if need <= most and leaves_top is not None:
            width = min(most, max(least, need * _EASE))
            _place_strips(root, 0.0, width)
            _unwrap(root, measure)
            _place_strips(root, 0.0, width)
            leaves_top = _stack(root, height - band) or leaves_top
            return Layout(root, ends, width, leaves_top + band, leaves_top, cut_at if cut_at < depth else None)
    raise ValueError(f"a drawing {most:.0f} pt wide and {height:.0f} pt high holds not even one leaf")


def _spot(tree: Tree, at: int, answer: str, cut_at: int, wraps: tuple[int, int]) -> Spot:
    """The spot of node `at` and all below it; wraps: characters per line in cards and at ends."""
    node = tree.nodes[at]
    leaves = tree.leaves_below(at)
    if node.left is None or node.right is None or node.depth >= cut_at:
        wrap = wraps[1]
        below = () if len(leaves) == 1 else (f"… {len(leaves)} leaves",)
        items = _item_lines(tree, leaves, wrap)
        return Spot(node, _wrapped(answer, wrap), (), below, (answer, ""), items, leaves)
    wrap = wraps[0]
    text = SplitText(*map(spaced, describe_split(node, tree.columns)))
    pairs = f"{node.n_comparisons:,} pair{'' if node.n_comparisons == 1 else 's'}"
    children = [
        _spot(tree, node.left, text.left, cut_at, wraps),
        _spot(tree, node.right, text.right, cut_at, wraps),
    ]
    answer_lines, question_lines = _wrapped(answer, wrap), _wrapped(text.question, wrap)
    texts = (answer, text.question)
    return Spot(node, answer_lines, question_lines, (pairs,), texts, leaves=leaves, children=children)


def _item_lines(tree: Tree, leaves: Sequence[int], wrap: int) -> tuple[str, ...]:
    lines = [line for leaf in leaves for name in tree.leaf_items[leaf] for line in _wrapped(spaced(name), wrap)]
    if len(lines) > MAX_ITEM_LINES:
        names = sum(len(tree.leaf_items[leaf]) for leaf in leaves)
        return _wrapped(f"{names} items", wrap)
    return tuple(lines)


def _wrapped(text: str, wrap: int) -> tuple[str, ...]:
    """At most four lines of at most `wrap` characters; only words longer than `_LONGEST` are broken."""
    words = " ".join(" ".join(textwrap.wrap(word, _LONGEST)) for word in text.split())
    return tuple(textwrap.wrap(words, wrap, max_lines=4, placeholder=" …", break_long_words=False))


def _set_widths(spot: Spot, measure: Measure, end_lines: Callable[[tuple[int, ...]], Sequence[str]]) -> float:
    """Set the widths the spots need, and return the root's."""
    texts = list(spot.lines)
    if not spot.children:
        texts += [(text, DETAIL) for text in (*spot.items, *end_lines(spot.leaves))]
    spot.own = max((measure(text, size, weight) for text, (size, weight) in texts), default=0.0) + GUTTER
    spot.need = max(spot.own, sum(_set_widths(child, measure, end_lines) for child in spot.children))
    return spot.need


def _unwrap(root: Spot, measure: Measure) -> None:
    """Wrap the texts of each spot into as few lines as its strip allows; near the root strips are wide."""
    for spot in root.walk():
        for wrap in sorted({wrap for wraps in _WRAPS for wrap in wraps}, reverse=True):
            answer, question = (_wrapped(text, wrap) for text in spot.texts)
            widths = [measure(line, *ANSWER) for line in answer] + [measure(line, *QUESTION) for line in question]
            across = max(widths, default=0.0) + GUTTER
            if across <= spot.strip:
                spot.answer, spot.question, spot.own = answer, question, max(across, spot.own)
                break


def _stack(root: Spot, height: float) -> float | None:
    """Set the top of every spot, by depth, and return the top of the leaves' band; None if it does not fit."""
    depths: dict[int, list[Spot]] = {}
    for spot in root.walk():
        depths.setdefault(spot.node.depth, []).append(spot)
    rows = [max(spot.height for spot in depths[depth]) for depth in sorted(depths)]
    drop = next((drop for drop in _DROPS if sum(rows) + drop * len(rows) <= height), None)
    if drop is None:
        return None
    for depth in sorted(depths):
        for spot in depths[depth]:
            spot.top = sum(rows[:depth]) + drop * depth
    return sum(rows) + drop * len(rows)


def _place_strips(spot: Spot, left: float, width: float) -> None:
    """Give the spot its strip; width that its children do not need is divided evenly over the ends below them."""
    spot.strip = width
    spot.x = left + width / 2
    if not spot.children:
        return
    ends = [sum(not below.children for below in child.walk()) for child in spot.children]
    spare = (width - sum(child.need for child in spot.children)) / sum(ends)
    at = left
    for child, n in zip(spot.children, ends, strict=True):
        _place_strips(child, at, child.need + spare * n)
        at += child.strip
    centre = sum(child.x for child in spot.children) / len(spot.children)
    spot.x = min(max(centre, left + spot.own / 2), left + width - spot.own / 2)
