"""The section on earlier users' answers: regret of new users who start from these answers, or from nothing."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from models.records.studies.asking_results import (
    FOUND_SHARE,
    HISTORY,
    QUESTION,
    RHO_REGRET,
    TABLE,
    TOP1_ERROR,
    WAY,
    WITH_HISTORY,
    WITHOUT_HISTORY,
    sd_of,
)
from models.records.studies.respondent_results import N_USERS
from reports.figures.courses import Curve, draw_courses
from reports.page import style
from reports.page.blocks import Column, Figure, Picture, Prose, Row, Section, Table
from reports.page.finished_run import FinishedRun
from reports.page.wording import fixed, listed, percent

WAYS: Mapping[str, str] = {WITH_HISTORY: "from earlier users", WITHOUT_HISTORY: "from nothing"}
TABLES: Mapping[str, str] = {"sushi": "set A, ten items", "sushi_b": "set B, ten of a hundred items"}
LABELS: Mapping[str, str] = {RHO_REGRET: "ρ-regret", TOP1_ERROR: "top-1 error", FOUND_SHARE: "favourite found"}
_COLUMNS = (TABLE, WAY, QUESTION, N_USERS, sd_of(RHO_REGRET), *LABELS)
_AT = (0, 5, 9, 20)


def history_section(run: FinishedRun) -> Section:
    """Curves of the regret on each table, and a table of all measures. Raises NotARunError if they are missing."""
    found = run.table(HISTORY, _COLUMNS)
    tables = [name for name in TABLES if name in set(found[TABLE])]
    pictures = [_picture(found[found[TABLE] == name], name) for name in tables]
    cohort = run.record.config.get("cohort")
    return Section(
        "What earlier users’ answers are worth",
        [
            Prose(
                [
                    f"Users come in cohorts of {cohort}. A user tree groups earlier users by their features, so "
                    "that answers within a group agree, and an item tree is grown for each group. A "
                    "new user starts from her group’s item tree: its leaves, and its means as her prior. The others "
                    "start from nothing. All trees ask at most five questions.",
                    _words(found, tables),
                ]
            ),
            Figure(
                pictures,
                "Regret with and without earlier users’ answers.",
                "Means over the users of all cohorts but the first. Bands: one standard deviation over users.",
            ),
            _table(found, tables),
        ],
    )


def _picture(found: pd.DataFrame, name: str) -> Picture:
    curves = []
    for way, label in WAYS.items():
        rows = found[found[WAY] == way].sort_values(QUESTION)
        curves.append(Curve(label, rows[RHO_REGRET].to_numpy(float), rows[sd_of(RHO_REGRET)].to_numpy(float)))
    alt = "; ".join(f"{curve.label}: from {curve.mean[0]:.2f} to {curve.mean[-1]:.2f}" for curve in curves)
    drawing = draw_courses(f"ρ-regret, {TABLES[name].partition(',')[0]}", curves, height=56)
    file = f"history-{name.replace('_', '-')}"
    return Picture(file, style.to_svg(drawing), style.HALF_WIDTH, f"{TABLES[name]}: {alt}")


def _at(found: pd.DataFrame, table: str, way: str, question: int, measure: str) -> float:
    rows = found[(found[TABLE] == table) & (found[WAY] == way) & (found[QUESTION] == question)]
    return float(rows[measure].iloc[0])


def _words(found: pd.DataFrame, tables: list[str]) -> str:
    last = int(found[QUESTION].max())
    sentences = []
    for name in tables:
        before = [_at(found, name, way, 0, RHO_REGRET) for way in WAYS]
        after = [_at(found, name, way, last, RHO_REGRET) for way in WAYS]
        sentences.append(
            f"on {TABLES[name].partition(',')[0]} the regret is {fixed(before[0], 2)} instead of {fixed(before[1], 2)} "
            f"before the first question, and {fixed(after[0], 2)} instead of {fixed(after[1], 2)} after {last}"
        )
    text = "; ".join(sentences)
    found_after = [
        f"{percent(_at(found, name, WITH_HISTORY, last, FOUND_SHARE), 0)} instead of "
        f"{percent(_at(found, name, WITHOUT_HISTORY, last, FOUND_SHARE), 0)} on {TABLES[name].partition(',')[0]}"
        for name in tables
    ]
    return f"{text[0].upper()}{text[1:]}. The share of favourites found after {last} is {listed(found_after)}."


def _table(found: pd.DataFrame, tables: list[str]) -> Table:
    questions = [question for question in _AT if question <= int(found[QUESTION].max())]
    rows = []
    for name in tables:
        heading = TABLES[name][0].upper() + TABLES[name][1:]
        for measure, label in LABELS.items():
            for way, started in WAYS.items():
                cells = [fixed(_at(found, name, way, question, measure), 2) for question in questions]
                first = measure == next(iter(LABELS)) and way == next(iter(WAYS))
                rows.append(Row([label, started, *cells], group=heading if first else ""))
    users = int(found[N_USERS].max())
    return Table(
        f"New users after a number of questions: means over {users:,} users.",
        [
            Column("measure", "left"),
            Column("started", "left"),
            *(Column(str(question), group="Questions asked") for question in questions),
        ],
        rows,
        note="ρ-regret and top-1 error: 0 is best; favourite found: the share of users who are recommended it.",
    )
