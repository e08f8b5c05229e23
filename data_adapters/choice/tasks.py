"""From rows to tasks: the respondent, the two profiles and the choice."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_adapters.choice.mapping import SIDE, ChoiceMapping, LongLayout
from data_adapters.choice.mapping_file import MappingFile
from data_adapters.source import strict
from data_adapters.source.faults import Faults, first_of
from data_adapters.source.spelling import quoted
from models.records.arrays import BoolArray, IntArray
from models.records.errors import RawDataError
from models.records.plain_text import escaped

LEFT, RIGHT, OPT_OUT, NO_ANSWER, SEVERAL = range(5)
"""Outcomes of a task."""

Texts = NDArray[Any]

NUMBERED = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True, eq=False)
class Tasks:
    """The tasks of all respondents, respondent by respondent, each respondent's in their order; n of them.

    respondents: (m,) ids. respondent: (n,) position in them. name: (n,) the task's name, unique for its respondent.
    index: (n,) zero-based position of the task within its respondent.
    rows: (n, 2) the file's rows of the left and the right profile; the same row twice if a task is one row.
    outcome: (n,) LEFT, RIGHT, OPT_OUT, NO_ANSWER or SEVERAL. bad: number of tasks left out because of their rows.
    """

    respondents: Texts
    respondent: IntArray
    name: Texts
    index: IntArray
    rows: IntArray
    outcome: IntArray
    bad: int


@dataclass(frozen=True, eq=False)
class Grouped:
    """The rows of n tasks: the rows of each task (n, k), the names of the tasks (n,) if they have any, and bad ones."""

    rows: IntArray
    name: Texts | None
    bad: int


def read_respondents(table: strict.Columns, source: MappingFile) -> tuple[Texts, IntArray]:
    """The ids of the respondents in their order, (m,), and the position of each row's respondent among them."""
    return _in_natural_order(table.names(source.mapping.layout.respondent))


def read_tasks(table: strict.Columns, source: MappingFile, respondents: Texts, respondent: IntArray) -> Tasks:
    """The tasks in the rows of a file.

    Raises RawDataError for values that the mapping does not know, and unless they are dropped, for bad tasks.
    """
    faults = Faults()
    outcome = faults.attempt(_outcomes if source.mapping.wide is not None else _chosen, table, source)
    tasks = faults.attempt(_task_names, table, source)
    alternative = faults.attempt(_alternatives, table, source)
    faults.raise_any()
    assert outcome is not None
    if source.mapping.wide is not None:
        grouped = _single_rows(table, source, respondent, tasks)
    elif tasks is None:
        grouped = _consecutive_pairs(table, source, respondent)
    elif alternative is None:
        grouped = _consecutive_rows_of_tasks(table, source, respondent, *tasks)
    else:
        grouped = _rows_of_alternatives(table, source, respondent, *tasks, alternative)
    rows = grouped.rows
    if not len(rows):
        raise RawDataError(f"{table.rows.name}: expected tasks, found none of which all rows are there.")
    who = respondent[rows[:, 0]]
    index = _position_in_group(who)
    if source.mapping.wide is not None:
        ends = outcome[rows[:, 0]]
    else:
        chosen = outcome[rows]
        times = chosen.sum(axis=1)
        ends = np.where(times == 1, chosen.argmax(axis=1), np.where(times == 0, NO_ANSWER, SEVERAL))
    name = _numbered(index) if grouped.name is None else grouped.name
    return Tasks(respondents, who, name, index, rows[:, :2], ends, grouped.bad)


def require_columns(table: strict.Columns, source: MappingFile) -> None:
    """Raise RawDataError, naming the mapping's keys, if the file lacks columns that the mapping names."""
    lacking = {column: key for column, key in named_columns(source.mapping).items() if column not in table.texts}
    if not lacking:
        return
    faults = []
    for column, key in lacking.items():
        close = difflib.get_close_matches(column, table.texts, n=1)
        hint = f" Did you mean {escaped(close[0])}?" if close else ""
        faults.append(f"{table.rows.name}, header: there is no column {column!r} ({key} of {source.name}).{hint}")
    faults[-1] += f" Columns: {escaped(', '.join(table.texts))}."
    raise RawDataError("\n".join(faults))


def is_profile(table: strict.Columns, source: MappingFile) -> BoolArray:
    """Whether each row holds a profile, (n,): all rows except those of an opt-out."""
    layout = source.mapping.long
    if layout is None or layout.alternative is None or layout.opt_out is None:
        return np.ones(len(table.rows.fields), np.bool_)
    return np.array([text != layout.opt_out for text in table.texts[layout.alternative]], dtype=np.bool_)


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


def _outcomes(table: strict.Columns, source: MappingFile) -> IntArray:
    """LEFT, RIGHT, OPT_OUT or NO_ANSWER of each row, (n,)."""
    layout = source.mapping.wide
    assert layout is not None
    meaning = {layout.left: LEFT, layout.right: RIGHT, **dict.fromkeys(layout.no_answer, NO_ANSWER)}
    if layout.opt_out is not None:
        meaning[layout.opt_out] = OPT_OUT
    return coded(table, layout.choice, meaning, f"wide.left, right, opt_out, no_answer of {source.name}")


def _chosen(table: strict.Columns, source: MappingFile) -> IntArray:
    """1 for each row that was chosen and 0 for the others, (n,)."""
    layout = source.mapping.long
    assert layout is not None
    meaning = {**dict.fromkeys(layout.other_values, 0), **dict.fromkeys(layout.chosen_values, 1)}
    return coded(table, layout.chosen, meaning, f"long.chosen_values, other_values of {source.name}")


def _alternatives(table: strict.Columns, source: MappingFile) -> IntArray | None:
    """0, 1 or 2 for the left, right or opt-out alternative of each row, (n,)."""
    layout = source.mapping.long
    if layout is None or layout.alternative is None:
        return None
    meaning = {name: position for position, name in enumerate(_alternative_names(layout))}
    return coded(table, layout.alternative, meaning, f"long.left, right, opt_out of {source.name}")


def _alternative_names(layout: LongLayout) -> list[str]:
    return [name for name in (layout.left, layout.right, layout.opt_out) if name is not None]


def _task_names(table: strict.Columns, source: MappingFile) -> tuple[Texts, IntArray] | None:
    """The names of the tasks in their order, (k,), and each row's position among them; None without a task column.

    Numbers are ordered by value, other names by their words and numbers. A column that has both,
    or one number in two spellings, raises RawDataError: the order of the tasks would be a guess.
    """
    column = source.mapping.layout.task
    if column is None:
        return None
    texts = table.names(column)
    key = f"{'wide' if source.mapping.wide is not None else 'long'}.task of {source.name}"
    numbers = np.array([NUMBERED.fullmatch(text) is not None for text in texts], dtype=np.bool_)
    if numbers.any() and not numbers.all():
        if 2 * numbers.sum() >= len(numbers):
            table.require(column, numbers, f"a number as in the other rows ({key})")
        table.require(column, ~numbers, f"a name as in the other rows, not a number ({key})")
    if not numbers.all():
        return _in_natural_order(texts)
    first: dict[Decimal, str] = {}
    same = [first.setdefault(Decimal(text), text) == text for text in texts]
    table.require(column, np.array(same, dtype=np.bool_), f"one spelling of each number ({key})")
    return _positions(sorted(set(texts), key=Decimal), texts)


def _single_rows(
    table: strict.Columns, source: MappingFile, respondent: IntArray, tasks: tuple[Texts, IntArray] | None
) -> Grouped:
    """Each row as a task, by respondent and task; without names, in the order of the rows."""
    rows = np.arange(len(respondent))
    if tasks is None:
        order = np.argsort(respondent, kind="stable")
        return Grouped(np.stack([rows[order], rows[order]], axis=1), None, 0)
    names, task = tasks
    order = np.lexsort((task, respondent))
    starts, size = _groups(respondent[order], task[order])
    repeated = np.repeat(size > 1, size)
    if repeated.any() and source.mapping.bad_tasks == "refuse":
        later = np.ones(len(order), np.bool_)
        later[np.setdiff1d(order, order[starts])] = False
        table.require(str(source.mapping.layout.task), later, "a new task of this respondent")
    order = order[~repeated]
    return Grouped(np.stack([rows[order], rows[order]], axis=1), names[task[order]], int(repeated.sum()))


def _consecutive_pairs(table: strict.Columns, source: MappingFile, respondent: IntArray) -> Grouped:
    """The rows of each respondent, two by two as they follow one another, (n, 2)."""
    starts, size = _groups(respondent)
    odd = size % 2 == 1
    if odd.any() and source.mapping.bad_tasks == "refuse":
        column = source.mapping.layout.respondent
        ends = [int(row) for row in (starts + size - 1)[odd]]
        found = [f"an odd number of rows of respondent {quoted(table.texts[column][row])}" for row in ends]
        others = table.rows.others(ends, found)
        raise table.rows.error(ends[0], f"expected a second row of this task, found {first_of(found[0], others)}")
    kept = np.flatnonzero(~np.repeat(odd, size)).reshape(-1, 2)
    order = np.argsort(respondent[kept[:, 0]], kind="stable")
    return Grouped(kept[order], None, int((size[odd] + 1).sum() // 2))


def _consecutive_rows_of_tasks(
    table: strict.Columns, source: MappingFile, respondent: IntArray, names: Texts, task: IntArray
) -> Grouped:
    """The two rows of each task, which follow one another, (n, 2)."""
    starts, size = _groups(respondent, task)
    keys = np.stack([respondent[starts], task[starts]], axis=1)
    _, which, runs = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    good = (size == 2) & (runs[which.ravel()] == 1)
    _refuse_bad_tasks(table, source, starts, size, good, "two consecutive rows")
    rows = starts[good][:, None] + np.arange(2)
    order = np.lexsort((task[rows[:, 0]], respondent[rows[:, 0]]))
    return Grouped(rows[order], names[task[rows[order, 0]]], int((~good).sum()))


def _rows_of_alternatives(
    table: strict.Columns,
    source: MappingFile,
    respondent: IntArray,
    names: Texts,
    task: IntArray,
    alternative: IntArray,
) -> Grouped:
    """The rows of each task's left, right and, if there is one, opt-out alternative: (n, 2) or (n, 3)."""
    assert source.mapping.long is not None
    wanted = _alternative_names(source.mapping.long)
    order = np.lexsort((alternative, task, respondent))
    starts, size = _groups(respondent[order], task[order])
    expected = np.arange(len(order)) - np.repeat(starts, size)
    wrong = (alternative[order] != expected) | np.repeat(size != len(wanted), size)
    good = ~np.logical_or.reduceat(wrong, starts)
    _refuse_bad_tasks(table, source, starts, size, good, f"one row for each of {', '.join(wanted)}", order)
    rows = order[~np.repeat(~good, size)].reshape(-1, len(wanted))
    return Grouped(rows, names[task[rows[:, 0]]], int((~good).sum()))


def _refuse_bad_tasks(
    table: strict.Columns,
    source: MappingFile,
    starts: IntArray,
    size: IntArray,
    good: BoolArray,
    expected: str,
    order: IntArray | None = None,
) -> None:
    """Raise RawDataError naming the tasks that are not good, unless the mapping drops them.

    starts, size, good: of each task, (n,), in rows that are in `order`, or in that of the file.
    """
    layout = source.mapping.long
    assert layout is not None
    if good.all() or source.mapping.bad_tasks == "drop":
        return
    last, which, held = [], [], []
    for at in np.flatnonzero(~good).tolist():
        rows = np.arange(starts[at], starts[at] + size[at])
        rows = np.sort(rows if order is None else order[rows])
        column, task, person = layout.alternative, table.texts[str(layout.task)], table.texts[layout.respondent]
        last.append(int(rows[-1]))
        which.append(escaped(f"task {task[rows[0]]} of respondent {person[rows[0]]}"))
        held.append(f"{size[at]} of them" if column is None else ", ".join(table.texts[column][row] for row in rows))
    others = table.rows.others(last, [f"{had} in {where}" for had, where in zip(held, which, strict=True)])
    column = layout.alternative or str(layout.task)
    found = first_of(held[0], others)
    raise table.rows.error(last[0], f"column {column}: expected {expected} in {which[0]}, found {found}")


def coded(
    table: strict.Columns, column: str, meaning: Mapping[str, int], key: str, needed: BoolArray | None = None
) -> IntArray:
    """The codes of a column's values, (n,); -1 for a value without a code.

    key: the mapping's keys that give the values. Raises RawDataError if a value without a code is in a needed row.
    """
    codes = np.array([meaning.get(text, -1) for text in table.texts[column]], dtype=np.int64)
    fine = codes >= 0 if needed is None else (codes >= 0) | ~needed
    table.require(column, fine, f"{' or '.join(map(quoted, meaning))} ({key})", known=meaning)
    return codes


def _groups(*keys: IntArray) -> tuple[IntArray, IntArray]:
    """The first position and the size of each run of entries that are the same in all keys."""
    new = np.zeros(len(keys[0]), np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= np.diff(key) != 0
    starts = np.flatnonzero(new)
    return starts, np.diff(np.r_[starts, len(new)])


def _in_natural_order(texts: Sequence[str]) -> tuple[Texts, IntArray]:
    """The different texts in order, numbers within them by value, and the position of each text among them."""
    return _positions(sorted(set(texts), key=_natural), texts)


def _natural(text: str) -> tuple[list[tuple[bool, int, str]], str]:
    """Words and numbers of a text; a longer number is greater. The text itself decides between 1 and 01."""
    parts = [(part.isdecimal(), part.lstrip("0") if part.isdecimal() else part) for part in DIGITS.split(text) if part]
    return [(not is_number, len(part) if is_number else 0, part) for is_number, part in parts], text


def _positions(names: Sequence[str], texts: Sequence[str]) -> tuple[Texts, IntArray]:
    place = {name: position for position, name in enumerate(names)}
    return np.array(names, dtype=object), np.array([place[text] for text in texts], dtype=np.int64)


def _position_in_group(group: IntArray) -> IntArray:
    """Number of equal entries before each entry of a sorted array, (n,)."""
    starts, size = _groups(group)
    return np.arange(len(group)) - np.repeat(starts, size)


def _numbered(index: IntArray) -> Texts:
    return np.array([str(position + 1) for position in index], dtype=object)
