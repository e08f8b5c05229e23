"""What asking finds: the section of a study that asks its users one question after another."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from reports.figures.courses import Curve, Mark, draw_courses
from reports.page.blocks import Block, Column, Definitions, Figure, Picture, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import fixed, listed, points
from reports.respondents.tree_accuracy import half

WAYS: Mapping[str, str] = {
    "tree_top_leaf": "tree, top-leaf rule",
    "gp_qeubo": "Gaussian process",
    "tree_qeubo": "tree, plain qEUBO",
    "tree_random": "tree, random pairs",
}
"""The curves, in the order of their lines; the first two have bands."""

BANDIT = 9
"""Questions after which a bandit that keeps the winner of ten items has found the favourite (dt-pbo, section 4.2)."""

_COLUMNS = ("way", "question", "users", "rho_regret", "rho_regret_sd", "top1_error", "top1_error_sd", "found_share")

CHOICES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "tree_top_leaf": {
        "never_twice": ("the same pair again", "never"),
        "recommend_random": ("recommended of those tied", "a random one"),
        "recommend_most_wins": ("recommended of those tied", "most wins"),
        "tie_break_random": ("tied splits", "random"),
        "tie_break_widest_gap": ("tied splits", "widest gap"),
        "straddlers_kept": ("straddlers", "kept"),
        "kept_never_twice": ("straddlers; same pair", "kept; never"),
        "categorical": ("minor group", "categories, any"),
        "codes": ("minor group", "code numbers"),
        "one_hot": ("minor group", "a column each"),
        "ratio_low": ("noise ratio", "0.0625"),
        "ratio_high": ("noise ratio", "1"),
    },
    "tree_qeubo": {
        "one_leaf_first": ("question to a single leaf", "the first pair"),
        "plain_never_twice": ("the same pair again", "never"),
    },
    "tree_random": {"random_never_twice": ("the same pair again", "never")},
    "gp_qeubo": {
        "gp_codes": ("minor group", "code numbers"),
        "gp_never_twice": ("the same pair again", "never"),
    },
}
"""The choices that were changed, by the way they were changed in: what the choice is, and what was tried."""


class Courses:
    """What each way of asking found after each question."""

    def __init__(self, run: FinishedRun) -> None:
        self._frame: pd.DataFrame = run.table("active_learning", _COLUMNS).set_index(["way", "question"])
        self.last = int(self._frame.index.get_level_values("question").max())

    def of(self, way: str) -> pd.DataFrame:
        """The rows of a way, by question."""
        return pd.DataFrame(self._frame.xs(way, level="way"))

    def at(self, way: str, question: int, measure: str) -> float:
        """A mean after a question."""
        return float(self.of(way)[measure].loc[question])


def read_courses(run: FinishedRun) -> Courses | None:
    """What asking found in a run; None if its config says that nobody was asked."""
    return Courses(run) if run.record.config.get("active_learning") else None


def asking_sentence(courses: Courses) -> str:
    """What nine questions find, for the page's answer."""
    tree, gp = (100 * courses.at(way, BANDIT, "found_share") for way in ("tree_top_leaf", "gp_qeubo"))
    return (
        f"Asked {BANDIT} questions of the tree’s choosing, {fixed(tree, 0)}% of users are recommended the item they "
        f"like best; with questions chosen by a Gaussian process it is {fixed(gp, 0)}%."
    )


def asking_section(run: FinishedRun, courses: Courses) -> Section:
    """Curves over questions, what is found within nine, and what the paper's open choices do to it."""
    return Section(
        "What asking finds",
        [_reading(run, courses), *_curves(courses, _published(run)), _definitions(), _choices(courses)],
    )


def _curves(courses: Courses, published: float | None) -> list[Block]:
    regrets = [
        _picture(courses, measure, axis)
        for measure, axis in (("rho_regret", "ρ-regret"), ("top1_error", "top-1 error"))
    ]
    bandit = Curve("bandit, keeps the winner", (1 + courses.of("tree_top_leaf").index.to_numpy()[:10]) / 10)
    found = [Curve(label, courses.of(way)["found_share"].to_numpy()) for way, label in WAYS.items()]
    marks = [] if published is None else [Mark(BANDIT, published, "published")]
    again = {
        "tree_top_leaf": "tree, may ask again",
        "gp_never_twice": "Gaussian process",
        "never_twice": "tree",
        "kept_never_twice": "tree, straddlers kept",
    }
    repeats = [Curve(label, courses.of(way)["rho_regret"].to_numpy()) for way, label in again.items()]
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
                    "Share of users who are recommended their favourite: " + _after_nine(courses, "found_share", 2),
                ),
                half(
                    "asked-repeats",
                    draw_courses("ρ-regret", repeats, height=56),
                    "ρ-regret where no pair is asked twice, beside the tree that may ask one again",
                ),
            ],
            "What is found, and what asking a pair only once does.",
            "Left: the share of users whose favourite is the one item recommended. A bandit that keeps the winner of "
            f"each question needs {BANDIT} to be sure of it among ten items. Right: no pair is asked twice, but in the "
            "first curve.",
        ),
    ]


def _picture(courses: Courses, measure: str, axis: str) -> Picture:
    curves = [
        Curve(label, courses.of(way)[measure].to_numpy(), courses.of(way)[f"{measure}_sd"].to_numpy())
        for way, label in WAYS.items()
    ]
    alt = f"{axis} after each question; " + _after_nine(courses, measure, 2)
    return half(f"asked-{measure.replace('_', '-')}", draw_courses(axis, curves, height=56), alt)


def _after_nine(courses: Courses, measure: str, decimals: int) -> str:
    told = (f"{label} {fixed(courses.at(way, BANDIT, measure), decimals)}" for way, label in WAYS.items())
    return f"after {BANDIT} questions: " + "; ".join(told)


def _published(run: FinishedRun) -> float | None:
    """The published share of favourites found; None for simulated data, with which it cannot be compared."""
    told = [row.published for row in run.metrics if row.metric == "found_share" and row.published is not None]
    return told[0] if told and not run.record.simulated else None


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
    for base, choices in CHOICES.items():
        label, last = WAYS[base], ""
        for way, (choice, tried) in choices.items():
            cells = [
                change_of(courses, way, base, measure, question)
                for measure in ("rho_regret", "top1_error", "found_share")
                for question in (BANDIT, courses.last)
            ]
            first = not last
            rows.append(
                Row(
                    ("" if choice == last else choice, tried, *cells),
                    group=_base(courses, base, label) if first else "",
                )
            )
            last = choice
    return Table(
        "What the choices the paper leaves open move: the difference to the way of asking that heads each block, after "
        f"{BANDIT} and after {courses.last} questions. Favourites found in points.",
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
        note="Where the paper says nothing, a pair may be asked again, the first of the tied items is recommended, and "
        "a single leaf is asked about a random pair.",
    )


def _base(courses: Courses, way: str, label: str) -> str:
    """What the way that heads a block finds, in words."""

    def both(measure: str, scale: int, decimals: int) -> str:
        return " / ".join(fixed(scale * courses.at(way, at, measure), decimals) for at in (BANDIT, courses.last))

    told = [f"ρ-regret {both('rho_regret', 1, 2)}", f"top-1 error {both('top1_error', 1, 2)}"]
    told.append(f"found {both('found_share', 100, 0)}%")
    return f"{label[:1].upper()}{label[1:]}: {listed(told)}"


def change_of(courses: Courses, way: str, base: str, measure: str, question: int) -> str:
    """How a mean differs from that of another way, signed; a share in points."""
    difference = courses.at(way, question, measure) - courses.at(base, question, measure)
    if measure == "found_share":
        return points(difference)
    text = f"{difference:+.2f}".replace("-", "−")
    return "0.00" if text[1:] == "0.00" else text


def _reading(run: FinishedRun, courses: Courses) -> Prose:
    """What the curves say, and whether it is what the paper says."""
    rho, found = (
        {way: courses.at(way, BANDIT, measure) for way in (*WAYS, "never_twice")}
        for measure in ("rho_regret", "found_share")
    )
    faster = "tree" if rho["tree_top_leaf"] < rho["gp_qeubo"] else "Gaussian process"
    paper = (
        ""
        if run.record.simulated
        else " The paper reads its Figure 3 as the tree reaching a low ρ-regret faster, and both finding about 70%."
    )
    rule = [
        f"The top-leaf rule {_more(found['tree_top_leaf'] - found['tree_qeubo'], 'finds more', 'finds fewer')} "
        f"favourites than plain qEUBO within {BANDIT} questions "
        f"({_percent(found['tree_top_leaf'])} against {_percent(found['tree_qeubo'])}), and its ρ-regret is "
        f"{_more(rho['tree_top_leaf'] - rho['tree_qeubo'], 'higher', 'lower')} ({fixed(rho['tree_top_leaf'], 2)} "
        f"against {fixed(rho['tree_qeubo'], 2)}): it refines the leaf at the top and leaves what lies below it tied."
    ]
    if rho["tree_random"] < min(rho["tree_top_leaf"], rho["tree_qeubo"]):
        rule.append(
            f"Pairs drawn at random rank the top three better than either ({fixed(rho['tree_random'], 2)}), but find "
            f"the favourite of {_percent(found['tree_random'])} only."
        )
    users, few = (int(courses.of(way)["users"].iloc[0]) for way in ("tree_top_leaf", "gp_qeubo"))
    return Prose(
        [
            f"Every user starts from nothing and says, question after question, which of two items comes first in the "
            f"ranking that user gave. {users:,} users are asked with trees, {few:,} with a Gaussian process, whose "
            f"hyperparameters are fitted again after every answer.",
            f"After {BANDIT} questions the {faster} has the lower ρ-regret (tree {fixed(rho['tree_top_leaf'], 2)}, "
            f"Gaussian process {fixed(rho['gp_qeubo'], 2)}); the tree finds the favourite of "
            f"{_percent(found['tree_top_leaf'])} of the users and the Gaussian process of "
            f"{_percent(found['gp_qeubo'])}.{paper}",
            " ".join(rule),
            f"Algorithm 1 does not say whether a pair may be asked again. Never doing so moves the share found within "
            f"{BANDIT} questions to {_percent(found['never_twice'])} and the ρ-regret after {courses.last} to "
            f"{fixed(courses.at('never_twice', courses.last, 'rho_regret'), 2)}: where answers do not waver, asking "
            "again tells nothing.",
        ]
    )


def _more(difference: float, more: str, fewer: str) -> str:
    return more if difference > 0 else fewer


def _percent(share: float) -> str:
    return f"{fixed(100 * share, 0)}%"
