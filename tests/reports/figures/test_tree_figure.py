from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from models.records.features import Column, FeatureKind
from models.trees.structure import Node
from reports.figures.tree import TreeDrawing, draw_tree
from reports.page.style import PAGE_WIDTH, to_svg
from reports.respondents.example_tree import reading

A4_TEXT_HEIGHT = 252.0  # mm
words = st.text("abcdefgiklmnorstuw WM_-", min_size=1, max_size=22)


@st.composite
def drawn_trees(draw: st.DrawFn, most_leaves: int) -> tuple[list[Node], list[Column], list[list[str]]]:
    """Strategy for trees of any shape and names, as arguments of draw_tree: nodes, columns, items of each leaf."""
    levels = tuple(draw(st.lists(words, min_size=4, max_size=4, unique=True)))
    columns = [
        Column(name=draw(words), feature="a", kind=FeatureKind.NUMERIC, unit=draw(st.sampled_from([None, "mmol/L"]))),
        Column(name=draw(words), feature="b", kind=FeatureKind.CATEGORICAL, levels=levels),
    ]
    nodes: list[Node] = []
    leaves = itertools.count()

    def add(n_leaves: int, parent: int | None, depth: int) -> int:
        at = len(nodes)
        common: dict[str, Any] = {"id": at, "parent": parent, "depth": depth, "n_comparisons": 10, "n_items": n_leaves}
        if n_leaves == 1:
            nodes.append(Node(**common, leaf=next(leaves)))
            return at
        nodes.append(Node(**common))
        left_leaves = draw(st.integers(1, n_leaves - 1))
        left, right = add(left_leaves, at, depth + 1), add(n_leaves - left_leaves, at, depth + 1)
        column = draw(st.integers(0, 1))
        split: dict[str, Any] = {"threshold": draw(st.floats(-1e4, 1e4))}
        if column == 1:
            split = {"left_levels": draw(st.sampled_from([(0,), (1, 2), (0, 1, 3)]))}
        nodes[at] = Node(**common, column=column, left=left, right=right, **split)
        return at

    total = draw(st.integers(1, most_leaves))
    add(total, None, 0)
    items = [draw(st.lists(words, max_size=4)) for _ in range(total)]
    return nodes, columns, items


def drawn(tree: tuple[list[Node], list[Column], list[list[str]]]) -> TreeDrawing:
    nodes, columns, items = tree
    rng = np.random.default_rng(len(nodes))
    return draw_tree(nodes, columns, rng.normal(0, 3, len(items)), rng.uniform(0, 2, len(items)), items)


def texts(drawing: TreeDrawing) -> list[Text]:
    return [text for text in drawing.figure.axes[0].texts if text.get_text()]


def assert_legible(drawing: TreeDrawing) -> None:
    canvas = FigureCanvasAgg(drawing.figure)
    renderer = canvas.get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer).padded(-0.5)) for text in texts(drawing)]
    page = drawing.figure.bbox.padded(1.0)
    outside = [name for name, box in boxes if not (page.contains(*box.min) and page.contains(*box.max))]
    assert not outside
    met = [(a, b) for (a, one), (b, two) in itertools.combinations(boxes, 2) if one.overlaps(two)]
    assert not met
    assert min(float(text.get_fontsize()) for text in texts(drawing)) >= 7.0
    width, height = drawing.figure.get_size_inches() * 25.4
    assert width <= PAGE_WIDTH + 1e-6
    assert height <= A4_TEXT_HEIGHT


@given(drawn_trees(most_leaves=12))
@settings(max_examples=40, deadline=None)
def test_no_text_of_a_small_tree_meets_another_leaves_the_page_or_is_under_seven_points(tree: Any) -> None:
    assert_legible(drawn(tree))


@given(drawn_trees(most_leaves=60))
@settings(max_examples=12, deadline=None)
def test_no_text_of_a_large_tree_meets_another_leaves_the_page_or_is_under_seven_points(tree: Any) -> None:
    assert_legible(drawn(tree))


@given(drawn_trees(most_leaves=60))
@settings(max_examples=12, deadline=None)
def test_what_is_cut_is_counted_so_that_no_leaf_is_lost(tree: Any) -> None:
    drawing = drawn(tree)
    shown = [text.get_text() for text in texts(drawing)]
    cut = [int(found[1]) for text in shown if (found := re.fullmatch(r"… (\d+) leaves", text))]
    whole = sum(re.fullmatch(r"± \d+\.\d\d", text) is not None for text in shown)
    assert whole + sum(cut) == len(tree[2])
    assert bool(cut) == (drawing.cut_at is not None)


@pytest.mark.parametrize("shape", ["chain", "balanced"])
def test_twelve_leaves_with_ordinary_names_are_drawn_whole(
    shape: str, grow: Callable[..., list[Node]], bushy: Callable[..., Any], columns: tuple[Column, ...]
) -> None:
    split: Any = 1
    if shape == "chain":
        for step in range(11):
            split = (step % 4, (1, 3) if step % 4 == 1 else 0.5 + step, split, 1)
    else:
        split = (2, 1.5, bushy(2), (3, 0.5, bushy(2), bushy(2)))
    nodes = grow(split)
    drawing = draw_tree(nodes, columns, np.arange(12.0), np.ones(12), [["salmon roe"]] * 12)
    assert drawing.cut_at is None
    assert_legible(drawing)


def test_no_word_of_a_crowded_tree_is_broken(
    grow: Callable[..., list[Node]], bushy: Callable[..., Any], columns: tuple[Column, ...]
) -> None:
    named = [column.model_copy(update={"name": "sensitivity information"}) for column in columns]
    drawing = draw_tree(grow(bushy(4)), named, np.arange(16.0), np.ones(16), [["profiles"]] * 16)
    shown = {word for text in texts(drawing) for word in text.get_text().split()}
    assert {"sensitivity", "information", "profiles"} <= shown
    assert not shown & {"sensitivi", "informati", "ty", "on"}
    assert_legible(drawing)


def test_a_text_takes_no_more_lines_than_its_place_asks_for(
    grow: Callable[..., list[Node]], bushy: Callable[..., Any], columns: tuple[Column, ...]
) -> None:
    named = [column.model_copy(update={"name": "share of cancers found"}) for column in columns]
    drawing = draw_tree(grow(bushy(4)), named, np.arange(16.0), np.ones(16), [[]] * 16)
    shown = [text.get_text() for text in texts(drawing)]
    assert "share of cancers found" in shown  # at the root, where there is room
    assert "share of" in shown  # above the leaves, where there is none


def test_how_a_drawing_is_read_tells_of_shapes_only_where_it_has_some(
    grow: Callable[..., list[Node]], bushy: Callable[..., Any], columns: tuple[Column, ...]
) -> None:
    whole = draw_tree(grow(bushy(2)), columns, np.arange(4.0), np.ones(4), [[]] * 4)
    cut = draw_tree(grow(bushy(5)), columns, np.arange(32.0), np.ones(32), [[]] * 32, height=80.0)
    assert (whole.gaussians, whole.cut_at) == (4, None)
    assert (cut.gaussians, cut.cut_at is None) == (0, False)
    assert "Gaussian of a leaf" in reading(whole, of="items")
    assert "Gaussian" not in reading(cut, of="items")


def test_leaves_carry_their_competition_rank_from_the_most_preferred(
    grow: Callable[..., list[Node]], columns: tuple[Column, ...]
) -> None:
    nodes = grow((2, 1.5, (3, 1.0, 1, 1), (3, 2.0, 1, 1)))
    drawing = draw_tree(nodes, columns, np.array([0.5, 2.0, -3.0, 0.5]), np.ones(4), [["a"], ["b"], ["c"], ["d"]])
    ranks = {text.get_position()[0]: text.get_text() for text in texts(drawing) if text.get_fontsize() == 8.5}
    across = [ranks[x] for x in sorted(ranks) if ranks[x].isdigit()]
    assert across == ["2", "1", "4", "2"]


def test_a_split_says_its_question_and_both_answers(
    grow: Callable[..., list[Node]], columns: tuple[Column, ...]
) -> None:
    nodes = grow((1, (7, 9), 4, 6))
    drawing = draw_tree(nodes, columns, np.array([1.0, -1.0]), np.ones(2), [[], []])
    shown = [text.get_text() for text in texts(drawing)]
    assert {"minor group", "roe, egg", "any other", "36 pairs"} <= set(shown)


def test_leaves_that_do_not_fit_the_nodes_are_refused(
    grow: Callable[..., list[Node]], columns: tuple[Column, ...]
) -> None:
    with pytest.raises(ValueError, match="the nodes have 2 leaves, but there are 3 means"):
        draw_tree(grow((2, 1.5, 4, 6)), columns, np.zeros(3), np.ones(3), [[]] * 3)


def test_the_same_tree_gives_the_same_bytes(grow: Callable[..., list[Node]], columns: tuple[Column, ...]) -> None:
    one, two = (
        to_svg(draw_tree(grow((2, 1.5, 4, 6)), columns, np.array([1.0, -1.0]), np.ones(2), [["a"], ["b"]]).figure)
        for _ in range(2)
    )
    assert one == two
    assert "Source Sans Pro" in one
