"""The features that trees ask about, whether trees depend on sensitive ones, and a gallery of single trees."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure as Drawing
from pydantic import TypeAdapter, ValidationError

from models.records.studies.respondent_results import (
    ASKED,
    ASKED_FEATURES,
    FEATURE,
    FIRST,
    GALLERY,
    N_USERS,
    POSSIBLE,
    SENSITIVE_FEATURES,
    SUPPORT,
    USER_ID,
    SensitiveFeature,
)
from reports.page import style
from reports.page.blocks import Block, Column, Figure, Picture, Prose, Row, Table
from reports.page.finished_run import FinishedRun, NotARunError
from reports.page.wording import listed, percent, share, spaced
from reports.respondents.example_tree import FittedTree, cut_in_words, tree_picture

_ASKED = (FEATURE, ASKED, FIRST, POSSIBLE, SUPPORT, N_USERS)
_LINE = 3.4  # mm, a feature's line of the drawing
_TREE = 106.0  # mm, the height of a tree of the gallery: two stand on a page
_LABELS = 42.0  # mm left of the axis
_TIES = {
    "random": "Of splits that agree equally well with a tree’s choices, one is drawn at random.",
    "widest_gap": "Of splits that agree equally well with a tree’s choices, the one with the widest gap is taken.",
    "lowest": "Of splits that agree equally well with a tree’s choices, the one on the first feature of the table is "
    "taken, so these shares follow the order of its columns.",
}


def asked_blocks(run: FinishedRun, *, who: str = "user") -> list[Block]:
    """Which features the trees ask about, and whether they depend on sensitive ones.

    Raises NotARunError if `asked_features.parquet` or `sensitive_features.json` is missing or broken.
    """
    asked = run.table(ASKED_FEATURES, _ASKED).sort_values(ASKED, ascending=False, kind="stable")
    never = [spaced(name) for name in asked[FEATURE][asked[POSSIBLE] == 0]]
    asked = asked[asked[POSSIBLE] > 0]
    names = [spaced(name) for name in asked[FEATURE]]
    shares, firsts = asked[ASKED].tolist(), asked[FIRST].tolist()
    picture = Picture(
        "asked-features",
        style.to_svg(_draw(names, shares, firsts)),
        style.PAGE_WIDTH,
        "; ".join(
            f"{name}: asked by {percent(asks, 0)} of the trees" for name, asks in zip(names, shares, strict=True)
        ),
    )
    figure = Figure(
        [picture],
        f"What {int(asked['users'].iloc[0]):,} {who}s’ trees ask about.",
        f"Bars: share of the {who}s whose tree asks about a feature anywhere; dark part: as its first question. "
        f"{_TIES[str(run.record.config.get('tie_break'))]}"
        + (f" No tree could ask about {listed(never)}: too many levels for one question." if never else ""),
    )
    sensitive: list[SensitiveFeature] = run.document(SENSITIVE_FEATURES, list[SensitiveFeature])
    support = _support(asked, who)
    return [Prose([_dependence(sensitive, who)]), figure, *support] if sensitive else [figure, *support]


def _support(asked: pd.DataFrame, who: str) -> list[Block]:
    """How often a first question is asked again when the choices are drawn anew; nothing if that is not known."""
    known = asked[asked[SUPPORT].notna()]
    if known.empty:
        return []
    rows = [Row([spaced(row[FEATURE]), share(row[FIRST]), share(row[SUPPORT])]) for _, row in known.iterrows()]
    return [
        Table(
            "How far first questions can be relied on.",
            [Column("first question about", "left"), Column(f"share of {who}s"), Column("support")],
            rows,
            note=f"Support: share of bootstraps of a {who}’s choices whose first question is about the same feature, "
            f"mean over (at most 100 of) the {who}s whose tree asks about it first.",
        )
    ]


def _dependence(sensitive: Sequence[SensitiveFeature], who: str) -> str:
    """Whether the users' trees, and the tree for all, depend on sensitive features."""
    shares = [
        f"{spaced(each.feature)} {'(no tree could)' if each.asked is None else share(each.asked)}" for each in sensitive
    ]
    says = (
        f"Does a tree depend on a sensitive attribute ({listed([spaced(each.feature) for each in sensitive])})? "
        f"Share of the {who}s’ trees that ask about it: {listed(shares)}."
    )
    if any(each.in_pooled_tree is None for each in sensitive):
        return says
    held = [spaced(each.feature) for each in sensitive if each.in_pooled_tree]
    return says + (
        f" The tree for all depends on {listed(held)}." if held else " The tree for all depends on none of them."
    )


def _draw(names: Sequence[str], shares: Sequence[float], firsts: Sequence[float]) -> Drawing:
    height = 13 + _LINE * len(names)
    width = style.PAGE_WIDTH
    with style.house_style():
        figure = style.new_figure(width, height)
        axes = figure.add_axes((_LABELS / width, 10 / height, 1 - (_LABELS + 8) / width, 1 - 12 / height))
        lines = range(len(names))
        axes.barh(lines, [100 * share for share in shares], height=0.62, color=style.ACCENT_TINT)
        axes.barh(lines, [100 * share for share in firsts], height=0.62, color=style.ACCENT)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        axes.set_yticks(list(lines), names)
        axes.tick_params(axis="y", length=0, labelcolor=style.INK)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        axes.set_xlabel("share of trees, %")
    return figure


def gallery_blocks(run: FinishedRun, *, who: str = "user", counting: str | None = None) -> list[Block]:
    """One picture for each of some users' trees, from the smallest to the largest.

    counting: noun for the items, if leaves show their number instead of their names. Raises NotARunError.
    """
    path = run.path / "results" / f"{GALLERY}.json"
    try:
        entries = run.json(GALLERY)["trees"]
        trees = TypeAdapter(list[FittedTree]).validate_python([entry["tree"] for entry in entries])
        users = [str(entry[USER_ID]) for entry in entries]
    except (ValidationError, KeyError, TypeError) as problem:
        raise NotARunError(f"{path} holds no trees: {problem}. Run the study again.") from problem
    blocks: list[Block] = [
        Prose(
            [
                f"From the smallest tree to the largest: in even steps along all {who}s whose tree asks anything, "
                f"sorted by its size."
            ]
        )
    ]
    for number, (user, tree) in enumerate(zip(users, trees, strict=True), start=1):
        shown = tree if counting is None else tree.counting(counting)
        drawn = shown.draw_at_most(_TREE)
        leaves = len(tree.leaf_mean)
        blocks.append(
            Figure(
                [tree_picture(f"tree-{number}", drawn, f"Preference tree of {who} {user}, {leaves} leaves.")],
                f"{who.capitalize()} {user}, {leaves} {'leaf' if leaves == 1 else 'leaves'}.",
                f"{shown.extremes_in_words(both=False)}{cut_in_words(drawn)}",
            )
        )
    return blocks
