"""From rows to tasks: the respondent, the two profiles and the choice."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_adapters.choice.mapping import SIDE, ChoiceMapping, LongLayout, WideLayout
from data_adapters.choice.mapping_file import MappingFile
from data_adapters.source import strict
from models.records.arrays import BoolArray, IntArray
from models.records.errors import RawDataError

LEFT, RIGHT, OPT_OUT, NO_ANSWER, SEVERAL = range(5)
"""Outcomes of a task."""

Texts = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Tasks:
    """The tasks of all respondents, respondent by respondent, each respondent's in their order; n of them.

    respondents: (m,) ids. respondent: (n,) position in them. name: (n,) the task's name, unique for its respondent.
    index: (n,) zero-based position of the task within its respondent.
    rows: (n, 2) the file's rows of the left and the right profile; the same row twice if a task is one row.
    outcome: (n,) LEFT, RIGHT, OPT_OUT, NO_ANSWER or SEVERAL.
    """

    respondents: Texts
    respondent: IntArray
    name: Texts
    index: IntArray
    rows: IntArray
    outcome: IntArray


def read_tasks(table: strict.Columns, source: MappingFile) -> Tasks:
    """The tasks in the rows of a file. Raises RawDataError for rows that form no complete task."""
    require_columns(table, source)
    if not table.rows.fields:
        raise RawDataError(f"{table.rows.name}: expected choices, found none.")
    respondents, respondent = _in_natural_order(table.text(source.mapping.layout.respondent))
    if source.mapping.long is not None:
        return _tasks_of_rows(table, source, source.mapping.long, respondents, respondent)
    assert source.mapping.wide is not None
    return _rows_are_tasks(table, source, source.mapping.wide, respondents, respondent)


def require_columns(table: strict.Columns, source: MappingFile) -> None:
    """Raise RawDataError, naming the mapping's key, if the file lacks a column that the mapping names."""
    for column, key in named_columns(source.mapping).items():
        if column not in table.texts:
            close = difflib.get_close_matches(column, table.texts, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise RawDataError(
                f"{table.rows.name}, header: there is no column {column!r} ({key} of {source.name}).{hint} "
                f"Columns: {', '.join(table.texts)}."
            )


def named_columns(mapping: ChoiceMapping) -> dict[str, str]:
    """Every column that a mapping names, with the mapping's key."""
    layout, part = mapping.layout, "long" if mapping.long is not None else "wide"
    keys = ("respondent", "task", "alternative", "chosen", "choice")
    given = {key: getattr(layout, key, None) for key in keys}
    named = {column: f"{part}.{key}" for key, column in given.items() if column is not None}
    for features, described in (("attributes", mapping.attributes), ("respondents", mapping.respondents)):
        for feature in described:
            for column in feature.columns:
                for side in mapping.wide.sides if mapping.wide is not None else ("",):
                    named[column.replace(SIDE, side)] = f"{features}.{feature.name}"
    return named


def _rows_are_tasks(
    table: strict.Columns, source: MappingFile, layout: WideLayout, respondents: Texts, respondent: IntArray
) -> Tasks:
    meaning = {layout.left: LEFT, layout.right: RIGHT, **dict.fromkeys(layout.no_answer, NO_ANSWER)}
    if layout.opt_out is not None:
        meaning[layout.opt_out] = OPT_OUT
    outcome = coded(table, layout.choice, meaning, f"wide.left, right, opt_out, no_answer of {source.name}")
    rows = np.arange(len(respondent))
    if layout.task is None:
        name, order = None, np.argsort(respondent, kind="stable")
    else:
        names, task = _in_natural_order(table.text(layout.task))
        name, order = names[task], np.lexsort((task, respondent))
        _refuse_repeated_tasks(table, layout.task, respondent[order], task[order], order)
    index = _position_in_group(respondent[order])
    return Tasks(
        respondents=respondents,
        respondent=respondent[order],
        name=_numbered(index) if name is None else name[order],
        index=index,
        rows=np.stack([rows[order], rows[order]], axis=1),
        outcome=outcome[order],
    )


def _tasks_of_rows(
    table: strict.Columns, source: MappingFile, layout: LongLayout, respondents: Texts, respondent: IntArray
) -> Tasks:
    if layout.task is None:
        rows = _consecutive_pairs(table, respondent, layout)
        rows = rows[np.argsort(respondent[rows[:, 0]], kind="stable")]
        index = _position_in_group(respondent[rows[:, 0]])
        name = _numbered(index)
    else:
        names, task = _in_natural_order(table.text(layout.task))
        rows = _rows_of_alternatives(table, source, layout, respondent, task)
        index = _position_in_group(respondent[rows[:, 0]])
        name = names[task[rows[:, 0]]]
    meaning = {**dict.fromkeys(layout.other_values, 0), **dict.fromkeys(layout.chosen_values, 1)}
    chosen = coded(table, layout.chosen, meaning, f"long.chosen_values, other_values of {source.name}")[rows]
    times = chosen.sum(axis=1)
    outcome = np.where(times == 1, chosen.argmax(axis=1), np.where(times == 0, NO_ANSWER, SEVERAL))
    return Tasks(respondents, respondent[rows[:, 0]], name, index, rows[:, :2], outcome)


def _consecutive_pairs(table: strict.Columns, respondent: IntArray, layout: LongLayout) -> IntArray:
    """Rows 0 and 1, 2 and 3 and so on, (n, 2). Both rows of a pair must belong to one respondent."""
    n = len(respondent)
    if n % 2:
        raise table.rows.error(n - 1, "expected a second row of this task, found the end of the file")
    pairs = np.arange(n).reshape(-1, 2)
    same = np.ones(n, np.bool_)
    same[1::2] = respondent[pairs[:, 0]] == respondent[pairs[:, 1]]
    table.require(layout.respondent, same, "the same respondent as in the row before: both are one task")
    return pairs


def _rows_of_alternatives(
    table: strict.Columns, source: MappingFile, layout: LongLayout, respondent: IntArray, task: IntArray
) -> IntArray:
    """The rows of each task's left, right and, if there is one, opt-out alternative: (n, 2) or (n, 3)."""
    assert layout.task is not None
    assert layout.alternative is not None
    names = [name for name in (layout.left, layout.right, layout.opt_out) if name is not None]
    meaning = {name: position for position, name in enumerate(names)}
    alternative = coded(table, layout.alternative, meaning, f"long.left, right, opt_out of {source.name}")
    order = np.lexsort((alternative, task, respondent))
    first = np.r_[True, (np.diff(respondent[order]) != 0) | (np.diff(task[order]) != 0)]
    starts = np.flatnonzero(first)
    size = np.diff(np.r_[starts, len(order)])
    expected = np.arange(len(order)) - np.repeat(starts, size)
    wrong = (alternative[order] != expected) | np.repeat(size != len(names), size)
    if wrong.any():
        at = int(np.searchsorted(starts, np.argmax(wrong), side="right")) - 1
        rows = sorted(order[starts[at] : starts[at] + size[at]].tolist())
        held = ", ".join(table.texts[layout.alternative][row] for row in rows)
        who, which = table.texts[layout.respondent][rows[0]], table.texts[layout.task][rows[0]]
        raise table.rows.error(
            rows[-1],
            f"column {layout.alternative}: expected one row for each of {', '.join(names)} in task {which} of "
            f"respondent {who}, found {held}",
        )
    return order.reshape(-1, len(names))


def _refuse_repeated_tasks(
    table: strict.Columns, column: str, respondent: IntArray, task: IntArray, order: IntArray
) -> None:
    new = np.ones(len(order), np.bool_)
    new[order[1:]] = (np.diff(respondent) != 0) | (np.diff(task) != 0)
    table.require(column, new, "a new task of this respondent")


def coded(
    table: strict.Columns, column: str, meaning: Mapping[str, int], key: str, needed: BoolArray | None = None
) -> IntArray:
    """The codes of a column's values, (n,); -1 for a value without a code.

    key: the mapping's keys that give the values. Raises RawDataError if a value without a code is in a needed row.
    """
    codes = np.array([meaning.get(text, -1) for text in table.texts[column]], dtype=np.int64)
    fine = codes >= 0 if needed is None else (codes >= 0) | ~needed
    table.require(column, fine, f"{' or '.join(map(repr, meaning))} ({key})")
    return codes


def _in_natural_order(texts: Sequence[str]) -> tuple[Texts, IntArray]:
    """The different texts in order (numerical if all are whole numbers), and the position of each text among them."""
    names = sorted(set(texts))
    if all(name.isdecimal() for name in names):
        names.sort(key=int)
    place = {name: position for position, name in enumerate(names)}
    return np.array(names, dtype=object), np.array([place[text] for text in texts], dtype=np.int64)


def _position_in_group(group: IntArray) -> IntArray:
    """Number of equal entries before each entry of a sorted array, (n,)."""
    starts = np.flatnonzero(np.r_[True, np.diff(group) != 0])[: len(group)]
    return np.arange(len(group)) - np.repeat(starts, np.diff(np.r_[starts, len(group)]))


def _numbered(index: IntArray) -> Texts:
    return np.array([str(position + 1) for position in index], dtype=object)
