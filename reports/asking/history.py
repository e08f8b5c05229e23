"""The section on earlier users' answers: regret of new users who start from these answers, or from nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import pandas as pd

from models.records.studies.asking_results import (
    ASKED_AGAIN,
    FOUND_SHARE,
    HISTORY,
    HISTORY_DIFFERENCES,
    MEASURE,
    QUESTION,
    RHO_REGRET,
    TABLE,
    TIED_FAVOURITE,
    TOP1_ERROR,
    WAY,
    WITH_HISTORY,
    WITHOUT_HISTORY,
    sd_of,
)
from models.records.studies.respondent_results import N_USERS
from reports.asking.paired import Paired, compared_by, signed
from reports.figures.courses import Curve, draw_courses
from reports.page import style
from reports.page.blocks import Block, Column, Figure, Picture, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import fixed, percent

WAYS: Mapping[str, str] = {WITH_HISTORY: "from earlier users", WITHOUT_HISTORY: "from nothing"}
TABLES: Mapping[str, str] = {"sushi": "set A, ten items", "sushi_b": "set B, ten of a hundred items"}
LABELS: Mapping[str, str] = {RHO_REGRET: "ρ-regret", TOP1_ERROR: "top-1 error", FOUND_SHARE: "favourite found, %"}
AGAIN: Mapping[bool, str] = {False: "no pair asked twice", True: "a pair may be asked again"}
_COLUMNS = (TABLE, ASKED_AGAIN, WAY, QUESTION, N_USERS, sd_of(RHO_REGRET), TIED_FAVOURITE, *LABELS)
_AT = (0, 5, 9, 20)


class Histories:
    """The courses on each table under both rules of asking again, and their differences."""

    def __init__(self, run: FinishedRun) -> None:
        """Read the results. Raises NotARunError if they are missing or malformed."""
        courses = run.table(HISTORY, _COLUMNS)
        self._courses: dict[tuple[Hashable, ...], pd.DataFrame] = {
            key: rows.set_index(QUESTION).sort_index() for key, rows in courses.groupby([TABLE, ASKED_AGAIN, WAY])
        }
        self.differences = Paired(run, HISTORY_DIFFERENCES, (TABLE, ASKED_AGAIN, QUESTION, MEASURE))
        self.tables: Sequence[str] = [name for name in TABLES if (courses[TABLE] == name).any()]
        self.last = int(courses[QUESTION].max())
        self.users = int(courses[N_USERS].max())

    def of(self, table: str, way: str, *, again: bool) -> pd.DataFrame:
        """The rows of one course, by question."""
        return self._courses[table, again, way]

    def at(self, table: str, way: str, question: int, measure: str, *, again: bool) -> float:
        """The mean of a measure after a number of questions."""
        return float(self.of(table, way, again=again)[measure].loc[question])


def history_section(run: FinishedRun) -> Section:
    """Curves of the regret on each table, what they show, and tables of all measures.

    Raises NotARunError if the results are missing or malformed.
    """
    found = Histories(run)
    cohort = run.record.config.get("cohort")
    blocks: list[Block] = [
        Prose(
            [
                f"Users come in cohorts of {cohort}. A user tree groups earlier users by their features, so that "
                "answers within a group agree, and an item tree is grown for each group. A new user starts from her "
                "group’s item tree: its leaves, and its means as her prior. The others start from nothing. All trees "
                "ask at most five questions.",
                *_words(found, again=False),
                _cause(found),
                *_words(found, again=True),
                *([] if run.record.simulated else [_paper(found)]),
            ]
        ),
        Figure(
            [_picture(found, name) for name in found.tables],
            f"Regret with and without earlier users’ answers, {AGAIN[False]}.",
            "Means over the users of all cohorts but the first. Bands: one standard deviation over users.",
        ),
        _means(found),
        _differences(found),
    ]
    return Section("What earlier users’ answers are worth", blocks)


def _name(table: str) -> str:
    return TABLES[table].partition(",")[0]


def _picture(found: Histories, name: str) -> Picture:
    curves = []
    for way, label in WAYS.items():
        rows = found.of(name, way, again=False)
        curves.append(Curve(label, rows[RHO_REGRET].to_numpy(float), rows[sd_of(RHO_REGRET)].to_numpy(float)))
    alt = "; ".join(f"{curve.label}: from {curve.mean[0]:.2f} to {curve.mean[-1]:.2f}" for curve in curves)
    drawing = draw_courses(f"ρ-regret, {_name(name)}", curves, height=56)
    file = f"history-{name.replace('_', '-')}"
    return Picture(file, style.to_svg(drawing), style.HALF_WIDTH, f"{TABLES[name]}: {alt}")


def _words(found: Histories, *, again: bool) -> Iterator[str]:
    """What the differences in regret and in favourites found show, before the first question and after the last."""
    for table in found.tables:
        sentences = [
            f"{_when(question)}: {_between(found, table, question, measure, again=again)}"
            for question in (0, found.last)
            for measure in (RHO_REGRET, FOUND_SHARE)
        ]
        yield f"{TABLES[table][0].upper()}{_name(table)[1:]}, {AGAIN[again]}. {' '.join(sentences)}"


def _when(question: int) -> str:
    return f"After {question} questions" if question else "Before the first question"


def _between(found: Histories, table: str, question: int, measure: str, *, again: bool) -> str:
    difference = found.differences.at(table, again, question, measure)
    sentence = compared_by(measure, "a start from earlier users", "a start from nothing", difference)
    return sentence[0].lower() + sentence[1:]


def _cause(found: Histories) -> str:
    tied = [
        f"on {_name(table)} this holds for the favourite of "
        f"{percent(found.at(table, WITH_HISTORY, found.last, TIED_FAVOURITE, again=False), 0)} of the users who start "
        f"from earlier ones, and of "
        f"{percent(found.at(table, WITHOUT_HISTORY, found.last, TIED_FAVOURITE, again=False), 0)} of those who start "
        "from nothing"
        for table in found.tables
    ]
    return (
        "The leaves of a group’s tree stay as they are: two items in one leaf are predicted level, whatever the user "
        f"answers. After {found.last} questions {'; '.join(tied)}. A tree of her own is grown again after every "
        "answer. Where a pair may be asked again, questions go to pairs already answered, which tells nothing new as "
        "long as answers do not waver; so by default no pair is asked twice."
    )


def _paper(found: Histories) -> str:
    """The paper's claims about its Figure 17, and what the differences show of the first under both rules."""
    half = max(1, found.last // 4)
    tested = [
        f"{AGAIN[again]}, on {_name(table)} after {half} questions, "
        f"{_between(found, table, half, RHO_REGRET, again=again)}"
        for again in AGAIN
        for table in found.tables
    ]
    return (
        "The paper reads its Figure 17 as a regret that falls faster with earlier users on set A, in about the same "
        "time to zero, and as one that does not reach zero on set B; it does not say whether pairs may be asked twice. "
        f"Tested under both rules: {' '.join(tested)}"
    )


def _questions(found: Histories) -> list[int]:
    return [question for question in _AT if question <= found.last]


def _means(found: Histories) -> Table:
    rows = []
    for table in found.tables:
        for again, rule in AGAIN.items():
            heading = f"{TABLES[table][0].upper()}{TABLES[table][1:]}; {rule}"
            for measure, label in LABELS.items():
                for way, started in WAYS.items():
                    means = (found.at(table, way, question, measure, again=again) for question in _questions(found))
                    cells = [fixed(100 * mean, 1) if measure == FOUND_SHARE else fixed(mean, 2) for mean in means]
                    rows.append(Row([label, started, *cells], group=heading))
                    heading = ""
    return Table(
        f"New users after a number of questions: means over {found.users:,} users.",
        [
            Column("measure", "left"),
            Column("started", "left"),
            *(Column(str(question), group="Questions asked") for question in _questions(found)),
        ],
        rows,
        note="ρ-regret and top-1 error: 0 is best; favourite found: users who are recommended it.",
    )


def _differences(found: Histories) -> Table:
    rows = []
    for table in found.tables:
        for again, rule in AGAIN.items():
            heading = f"{TABLES[table][0].upper()}{TABLES[table][1:]}; {rule}"
            for measure, label in LABELS.items():
                differences = (found.differences.at(table, again, at, measure) for at in _questions(found))
                rows.append(Row([label, *(signed(measure, each) for each in differences)], group=heading))
                heading = ""
    return Table(
        "From earlier users minus from nothing, the same users, after a number of questions. Favourites in points.",
        [
            Column("measure", "left"),
            *(Column(str(question), group="Questions asked") for question in _questions(found)),
        ],
        rows,
        note="†: the 95% interval, over other users who come after these, excludes zero.",
    )
