"""The section on asking users one question after another: the course of each measure, and each way of asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from models.records.studies.asking_results import (
    ASK_AGAIN,
    BANDIT,
    BASE,
    CATEGORICAL,
    CHANGED_FROM,
    CHANGES,
    CODES,
    COMPARED,
    COURSES,
    FOREST_ASK_AGAIN,
    FOREST_QEUBO,
    FOUND_SHARE,
    GP_ASK_AGAIN,
    GP_CODES,
    GP_QEUBO,
    KEPT_ASK_AGAIN,
    MEASURE,
    MEASURES,
    ONE_HOT,
    ONE_LEAF_FIRST,
    PLAIN_ASK_AGAIN,
    QUESTION,
    RANDOM_ASK_AGAIN,
    RATIO_HIGH,
    RATIO_LOW,
    RECOMMEND_MOST_WINS,
    RECOMMEND_RANDOM,
    RHO_REGRET,
    STRADDLERS_KEPT,
    TIE_BREAK_RANDOM,
    TIE_BREAK_WIDEST_GAP,
    TOP1_ERROR,
    TREE_QEUBO,
    TREE_RANDOM,
    TREE_TOP_LEAF,
    WAY,
    AskingCompared,
    sd_of,
)
from models.records.studies.respondent_results import N_USERS
from models.scores.comparing import Difference
from reports.asking.paired import Paired, compared_by, signed
from reports.figures.courses import Curve, Mark, draw_courses
from reports.page.blocks import Block, Column, Definitions, Figure, Picture, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import fixed, listed, percent
from reports.respondents.tree_accuracy import half

WAYS: Mapping[str, str] = {
    TREE_TOP_LEAF: "tree, top-leaf rule",
    GP_QEUBO: "Gaussian process",
    FOREST_QEUBO: "forest",
    TREE_QEUBO: "tree, plain qEUBO",
    TREE_RANDOM: "tree, random pairs",
}
"""The curves, in the order of their lines; the first two have bands."""

NAMES: Mapping[str, str] = {
    TREE_TOP_LEAF: "the tree with the top-leaf rule",
    GP_QEUBO: "the Gaussian process",
    FOREST_QEUBO: "the forest",
    TREE_QEUBO: "the tree with plain qEUBO",
    TREE_RANDOM: "the tree asked random pairs",
    ASK_AGAIN: "the tree that may ask a pair again",
    GP_ASK_AGAIN: "the process that may ask a pair again",
}
"""The ways of asking, as nouns of a sentence."""

_COLUMNS = (WAY, QUESTION, N_USERS, *MEASURES, sd_of(RHO_REGRET), sd_of(TOP1_ERROR))

CHOICES: Mapping[str, tuple[str, str]] = {
    ASK_AGAIN: ("the same pair again", "allowed"),
    RECOMMEND_RANDOM: ("recommended among ties", "a random one"),
    RECOMMEND_MOST_WINS: ("recommended among ties", "most wins"),
    TIE_BREAK_RANDOM: ("tied splits", "random"),
    TIE_BREAK_WIDEST_GAP: ("tied splits", "widest gap"),
    STRADDLERS_KEPT: ("straddlers", "kept"),
    KEPT_ASK_AGAIN: ("straddlers; same pair", "kept; allowed"),
    CATEGORICAL: ("minor group", "categories, any"),
    CODES: ("minor group", "code numbers"),
    ONE_HOT: ("minor group", "a column each"),
    RATIO_LOW: ("noise ratio", "0.0625"),
    RATIO_HIGH: ("noise ratio", "1"),
    ONE_LEAF_FIRST: ("question to a single leaf", "the first pair"),
    PLAIN_ASK_AGAIN: ("the same pair again", "allowed"),
    RANDOM_ASK_AGAIN: ("the same pair again", "allowed"),
    GP_CODES: ("minor group", "code numbers"),
    GP_ASK_AGAIN: ("the same pair again", "allowed"),
    FOREST_ASK_AGAIN: ("the same pair again", "allowed"),
}
"""For each changed way of asking, the choice, and what was tried instead of the paper's."""


class Courses:
    """The means of each way of asking after each question, and their comparison."""

    def __init__(self, run: FinishedRun) -> None:
        courses = run.table(COURSES, _COLUMNS)
        self._courses = {way: rows.set_index(QUESTION).sort_index() for way, rows in courses.groupby(WAY)}
        self._changes = Paired(run, CHANGES, (WAY, BASE, QUESTION, MEASURE))
        self.compared: AskingCompared = run.document(COMPARED, AskingCompared)
        self.last = int(courses[QUESTION].max())

    def of(self, way: str) -> pd.DataFrame:
        """The rows of a way of asking, by question."""
        return self._courses[way]

    def at(self, way: str, question: int, measure: str) -> float:
        """The mean of a measure after a number of questions."""
        return float(self.of(way)[measure].loc[question])

    def change(self, way: str, base: str, question: int, measure: str) -> Difference:
        """How much a measure of one way of asking exceeds that of another, paired over users."""
        return self._changes.at(way, base, question, measure)


def read_courses(run: FinishedRun) -> Courses | None:
    """The courses of a run; None if its config says that nobody was asked."""
    return Courses(run) if run.record.config.get("active_learning") else None


def asking_sentence(courses: Courses) -> str:
    """Sentences on the share of favourites found after nine questions."""
    tree, gp = (percent(courses.at(way, BANDIT, FOUND_SHARE), 0) for way in (TREE_TOP_LEAF, GP_QEUBO))
    users, few = (int(courses.of(way)[N_USERS].iloc[0]) for way in (TREE_TOP_LEAF, GP_QEUBO))
    return (
        f"Asked {BANDIT} questions of the tree’s choosing, {tree} of {users:,} users are recommended the item they "
        f"like best; asked those of a Gaussian process, {gp} of {few:,}. {_between(courses, TREE_TOP_LEAF, GP_QEUBO)}"
    )


def _between(courses: Courses, way: str, base: str, measure: str = FOUND_SHARE) -> str:
    """What the difference between two ways of asking shows after nine questions."""
    return compared_by(measure, NAMES[way], NAMES[base], courses.change(way, base, BANDIT, measure))


def asking_section(run: FinishedRun, courses: Courses) -> Section:
    """Curves over questions, what is found within nine, and what the paper's open choices do to it."""
    return Section(
        "What asking finds",
        [_interpretation(run, courses), *_curves(courses, _published(run)), _definitions(), _choices(courses)],
    )


def _curves(courses: Courses, published: float | None) -> list[Block]:
    regrets = [
        _picture(courses, measure, axis) for measure, axis in ((RHO_REGRET, "ρ-regret"), (TOP1_ERROR, "top-1 error"))
    ]
    bandit = Curve("bandit, keeps the winner", np.asarray(courses.compared.bandit))
    found = [Curve(label, courses.of(way)[FOUND_SHARE].to_numpy()) for way, label in WAYS.items()]
    marks = [] if published is None else [Mark(BANDIT, published, "published")]
    again = {
        ASK_AGAIN: "tree, may ask again",
        GP_ASK_AGAIN: "process, may ask again",
        TREE_TOP_LEAF: "tree",
        STRADDLERS_KEPT: "tree, straddlers kept",
    }
    repeats = [Curve(label, courses.of(way)[RHO_REGRET].to_numpy()) for way, label in again.items()]
    return [
        Figure(
            regrets,
            "How far the predicted ranking is from the user’s own.",
            "Means over users. Bands: one standard deviation over users to either side, of the tree with the top-leaf "
            "rule (tinted) and of the Gaussian process (grey).",
        ),
        Figure(
            [
                half(
                    "asked-found",
                    draw_courses("favourite recommended", found, height=56, share=True, marks=marks, reference=bandit),
                    "Share of users who are recommended their favourite: " + _after_nine(courses, FOUND_SHARE, 2),
                ),
                half(
                    "asked-repeats",
                    draw_courses("ρ-regret", repeats, height=56),
                    "ρ-regret where a pair may be asked again, and where none is",
                ),
            ],
            "What is found, and what asking a pair again does.",
            "Left: the share of users whose favourite is the one item recommended. A bandit that keeps the winner of "
            f"each question needs {BANDIT} to be sure of it among ten items. Right: in the first two curves a pair "
            "may be asked again.",
        ),
    ]


def _picture(courses: Courses, measure: str, axis: str) -> Picture:
    curves = [
        Curve(label, courses.of(way)[measure].to_numpy(), courses.of(way)[sd_of(measure)].to_numpy())
        for way, label in WAYS.items()
    ]
    alt = f"{axis} after each question; " + _after_nine(courses, measure, 2)
    return half(f"asked-{measure.replace('_', '-')}", draw_courses(axis, curves, height=56), alt)


def _after_nine(courses: Courses, measure: str, decimals: int) -> str:
    means = (f"{label} {fixed(courses.at(way, BANDIT, measure), decimals)}" for way, label in WAYS.items())
    return f"after {BANDIT} questions: " + "; ".join(means)


def _forest(courses: Courses) -> str:
    """How the forest differs from the tree and from the Gaussian process after all questions."""
    return " ".join(
        compared_by(
            measure, NAMES[FOREST_QEUBO], NAMES[base], courses.change(FOREST_QEUBO, base, courses.last, measure)
        )
        for base in (TREE_TOP_LEAF, GP_QEUBO)
        for measure in (RHO_REGRET, FOUND_SHARE)
    )


def _published(run: FinishedRun) -> float | None:
    """The published share of favourites found; None for simulated data, which it says nothing about."""
    values = [row.published for row in run.metrics if row.metric == FOUND_SHARE and row.published is not None]
    return values[0] if values and not run.record.simulated else None


def _definitions() -> Definitions:
    return Definitions(
        [
            (
                "ρ-regret",
                "items that wrongly leave or enter the predicted top three, weighted by how far off they are: 4.57 at "
                "most where nothing is tied, 6 where ties crowd the top, 4 where everything is tied.",
            ),
            ("Top-1 error", "how many items are predicted at or above the user’s favourite."),
            ("Top-leaf rule", "while the leaf of the greatest mean holds two items, ask about two of them."),
            ("qEUBO", "the expected utility of the better of two items; the pair of the greatest is asked."),
        ],
        boxed=True,
    )


def _choices(courses: Courses) -> Table:
    rows = []
    for base, ways in CHANGED_FROM.items():
        label, last = WAYS[base], ""
        for way in ways:
            choice, tried = CHOICES[way]
            cells = [
                signed(measure, courses.change(way, base, question, measure))
                for measure in MEASURES
                for question in (BANDIT, courses.last)
            ]
            first = not last
            rows.append(
                Row(
                    ("" if choice == last else choice, tried, *cells),
                    group=_base_heading(courses, base, label) if first else "",
                )
            )
            last = choice
    return Table(
        "How each choice that the paper leaves open changes the results: the difference to the way of asking above "
        f"each block, after {BANDIT} and after {courses.last} questions. Favourites found in points.",
        [
            Column("choice", "left"),
            Column("tried", "left"),
            *(
                Column(str(question), group=group)
                for group in ("ρ-regret", "Top-1 error", "Found")
                for question in (BANDIT, courses.last)
            ),
        ],
        rows,
        note="†: the 95% interval over other users excludes zero; of twenty choices that change nothing, "
        "one is marked by chance. "
        "Where the paper says nothing, no pair is asked twice, the first of the tied items is recommended, and a "
        "single leaf is asked about a random pair.",
    )


def _base_heading(courses: Courses, way: str, label: str) -> str:
    """The means of the way of asking above a block, in words."""

    def both(measure: str, words: Callable[[float, int], str], decimals: int) -> str:
        return " / ".join(words(courses.at(way, at, measure), decimals) for at in (BANDIT, courses.last))

    means = [f"ρ-regret {both(RHO_REGRET, fixed, 2)}", f"top-1 error {both(TOP1_ERROR, fixed, 2)}"]
    means.append(f"found {both(FOUND_SHARE, percent, 0)}")
    return f"{label[:1].upper()}{label[1:]}: {listed(means)}"


def _interpretation(run: FinishedRun, courses: Courses) -> Prose:
    """What the curves show, beside the paper's reading of its own."""
    paper = (
        ""
        if run.record.simulated
        else " The paper reads its Figure 3 as the tree reaching a low ρ-regret faster, and both finding about 70%."
    )
    users, few = (int(courses.of(way)[N_USERS].iloc[0]) for way in (TREE_TOP_LEAF, GP_QEUBO))

    def both(way: str, base: str) -> str:
        return " ".join(_between(courses, way, base, measure) for measure in (RHO_REGRET, FOUND_SHARE))

    again = [
        compared_by(measure, NAMES[way], NAMES[base], courses.change(way, base, courses.last, measure))
        for way, base in ((ASK_AGAIN, TREE_TOP_LEAF), (GP_ASK_AGAIN, GP_QEUBO))
        for measure in (RHO_REGRET, FOUND_SHARE)
    ]
    return Prose(
        [
            f"Every user starts from nothing and says, question after question, which of two items comes first in the "
            f"ranking that user gave. No pair is asked twice. {users:,} users are asked with trees, the first {few:,} "
            f"of them with a Gaussian process too, whose hyperparameters are fitted again after every answer.",
            f"After {BANDIT} questions, over the users that both asked: {both(TREE_TOP_LEAF, GP_QEUBO)}{paper}",
            f"The top-leaf rule asks about the leaf at the top, and leaves what lies below it tied. After {BANDIT} "
            f"questions: {both(TREE_TOP_LEAF, TREE_QEUBO)} {both(TREE_RANDOM, TREE_TOP_LEAF)}",
            f"A forest, the mean over trees of bootstrapped answers, is not in the paper. After {courses.last} "
            f"questions: {_forest(courses)}",
            f"Algorithm 1 does not say whether a pair may be asked again. After {courses.last} questions: "
            f"{' '.join(again)}",
        ]
    )
