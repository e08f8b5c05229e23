"""A choice experiment as a pairwise table: an item for each distinct profile, a comparison for each choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_adapters.choice.mapping import SIDE, FeatureColumn
from data_adapters.choice.mapping_file import MappingFile
from data_adapters.choice.raw_table import read_raw_table
from data_adapters.choice.tasks import (
    LEFT,
    NO_ANSWER,
    OPT_OUT,
    SEVERAL,
    Tasks,
    is_profile,
    read_respondents,
    read_tasks,
    require_columns,
)
from data_adapters.choice.values import FeatureReader
from data_adapters.source import strict
from data_adapters.source.faults import Faults
from data_adapters.source.reading import Reading
from models.records.arrays import BoolArray, IntArray
from models.records.manifest import DroppedRows

Values = dict[str, tuple[NDArray[Any], NDArray[Any]]]
WHY_DROPPED = {OPT_OUT: "the opt-out was chosen", NO_ANSWER: "nothing was chosen", SEVERAL: "more than one was chosen"}
BAD_TASK = "a row of the task is missing or comes twice"
SAME_PROFILE = "both profiles are the same"
NO_COMPARISON = "no comparison is left"
ONLY_DROPPED = "shown only in tasks that were dropped"


def read_choices(path: Path, name: str, source: MappingFile) -> Reading:
    """Read the file that a mapping describes into the table `name`.

    Profiles with the same features are one item, whoever saw them. Raises RawDataError naming file, row, column, value,
    what was expected and the mapping's key.
    """
    table = read_raw_table(path, source.mapping.file, source.name)
    require_columns(table, source)
    table.rows.require_some("choices")
    tasks, values, people = _read_all(table, source)
    profiles, profile = _profiles(values, tasks)
    why = _reasons(source, tasks, profile)
    kept = why == ""
    shown, item = _renumbered(profile[kept])
    asked, user = np.unique(tasks.respondent[kept], return_inverse=True)
    ids = _item_ids(len(shown))
    return Reading(
        name=name,
        items={"item_id": ids, "label": [id_.replace("-", " ") for id_ in ids], **_of_rows(profiles, shown)},
        comparisons={
            "comparison_id": [
                f"{tasks.respondents[who]}-{task}"
                for who, task in zip(tasks.respondent[kept], tasks.name[kept], strict=True)
            ],
            "left_id": ids[item[:, 0]],
            "right_id": ids[item[:, 1]],
            "left_wins": tasks.outcome[kept] == LEFT,
            "user_id": tasks.respondents[asked][user],
            "task_index": tasks.index[kept],
        },
        users={"user_id": tasks.respondents[asked], **_of_rows(people, asked)},
        rows_read={path.name: len(table.rows.fields)},
        dropped=_dropped(source, tasks, why, n_profiles=len(profiles[next(iter(profiles))]), n_items=len(shown)),
        quirks=_quirks(table, source, tasks),
    )


def _read_all(table: strict.Columns, source: MappingFile) -> tuple[Tasks, Values, dict[str, NDArray[Any]]]:
    """The tasks, the attributes of every row, and the respondents' features. Raises RawDataError with all faults."""
    faults = Faults()
    ids = faults.attempt(read_respondents, table, source)
    tasks = None if ids is None else faults.attempt(read_tasks, table, source, *ids)
    needed = is_profile(table, source)
    if tasks is not None:
        needed = np.zeros(len(table.rows.fields), np.bool_)
        needed[tasks.rows] = True
    values = faults.attempt(_values, table, source, needed)
    people = None if ids is None else faults.attempt(_respondents, table, source, *ids)
    faults.raise_any()
    assert tasks is not None
    assert values is not None
    assert people is not None
    return tasks, values, people


def _values(table: strict.Columns, source: MappingFile, needed: BoolArray) -> Values:
    """Each attribute of every row, (rows,), of the left and of the right profile; None in rows that are not needed."""
    sides = source.mapping.wide.sides if source.mapping.wide is not None else ("", "")
    reader = FeatureReader(table, source, "attributes")
    faults = Faults()
    found = {
        attribute.name: [faults.attempt(partial(reader.read, attribute, needed, side=side)) for side in sides]
        for attribute in source.mapping.attributes
    }
    faults.raise_any()
    return {name: (left, right) for name, (left, right) in found.items() if left is not None and right is not None}


def _profiles(values: Values, tasks: Tasks) -> tuple[dict[str, NDArray[Any]], IntArray]:
    """The features of the different profiles, and the profile that each task showed left and right, (n, 2)."""
    shown = {
        name: np.concatenate([of_side[tasks.rows[:, column]] for column, of_side in enumerate(sides)])
        for name, sides in values.items()
    }
    codes = np.stack([_codes(of_all) for of_all in shown.values()], axis=1)
    _, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return _of_rows(shown, first), which.reshape(2, len(tasks.outcome)).T


def _codes(values: NDArray[Any]) -> IntArray:
    place = {value: position for position, value in enumerate(dict.fromkeys(values.tolist()))}
    return np.array([place[value] for value in values.tolist()], dtype=np.int64)


def _renumbered(profile: IntArray) -> tuple[IntArray, IntArray]:
    """The profiles that occur, in the order of first occurrence, and each task's positions among them, (n, 2)."""
    found, first, which = np.unique(profile.ravel(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    return found[order], np.argsort(order)[which].reshape(profile.shape)


def _item_ids(n: int) -> NDArray[Any]:
    return np.array([f"profile-{number}" for number in range(1, n + 1)], dtype=object)


def _of_rows(columns: dict[str, NDArray[Any]], rows: IntArray) -> dict[str, NDArray[Any]]:
    return {name: values[rows] for name, values in columns.items()}


def _respondents(
    table: strict.Columns, source: MappingFile, respondents: NDArray[Any], who: IntArray
) -> dict[str, NDArray[Any]]:
    """The features of the respondents (m,), (m,) each. They must be the same in all rows of a respondent, `who`."""
    mapping = source.mapping
    _, first = np.unique(who, return_index=True)
    assert len(first) == len(respondents)
    everywhere = np.ones(len(who), np.bool_)
    found: dict[str, NDArray[Any]] = {}
    reader = FeatureReader(table, source, "respondents")
    faults = Faults()
    for feature in mapping.respondents:
        values = faults.attempt(reader.read, feature, everywhere)
        if values is not None:
            faults.attempt(_require_same, reader, feature, values, first[who])
            found[feature.name] = values[first]
    faults.raise_any()
    return found


def _require_same(reader: FeatureReader, feature: FeatureColumn, values: NDArray[Any], earlier: IntArray) -> None:
    """Raise RawDataError unless each value (n,) is that of an earlier row (n,) of the same respondent."""
    same: BoolArray = np.equal(values, values[earlier]).astype(np.bool_)
    rows = reader.table.rows
    where = f"{rows.unit} {rows.lines[earlier[np.argmin(same)]]}"
    expected = f"the same as in the respondent's {where} ({reader.key(feature)})"
    reader.table.require(feature.columns[0], same, expected)


def _reasons(source: MappingFile, tasks: Tasks, profile: IntArray) -> NDArray[Any]:
    """The reason why each task is dropped, (n,) texts; empty for a task that is kept."""
    why = np.array([WHY_DROPPED.get(outcome, "") for outcome in tasks.outcome.tolist()], dtype=object)
    why[(why == "") & (profile[:, 0] == profile[:, 1])] = SAME_PROFILE
    why[_excluded(source, tasks)[tasks.respondent]] = _exclusion(source)
    return why


def _excluded(source: MappingFile, tasks: Tasks) -> BoolArray:
    """Whether each respondent opted out too often, (m,)."""
    most = source.mapping.most_opt_outs
    n = len(tasks.respondents)
    asked = np.bincount(tasks.respondent, minlength=n)
    opted_out = np.bincount(tasks.respondent[tasks.outcome == OPT_OUT], minlength=n)
    return np.zeros(n, np.bool_) if most is None else opted_out > most * asked


def _exclusion(source: MappingFile) -> str:
    return f"the respondent opted out in more than {source.mapping.most_opt_outs or 0:.0%} of the tasks"


def _dropped(
    source: MappingFile, tasks: Tasks, why: NDArray[Any], *, n_profiles: int, n_items: int
) -> tuple[DroppedRows, ...]:
    excluded = int(_excluded(source, tasks).sum())
    left = len(np.unique(tasks.respondent[why == ""]))
    tasks_dropped = Counter(reason for reason in why.tolist() if reason)
    found = [
        ("comparisons", BAD_TASK, tasks.bad),
        *(("comparisons", reason, rows) for reason, rows in sorted(tasks_dropped.items())),
        ("users", _exclusion(source), excluded),
        ("users", NO_COMPARISON, len(tasks.respondents) - excluded - left),
        ("items", ONLY_DROPPED, n_profiles - n_items),
    ]
    return tuple(DroppedRows(table=table, reason=reason, rows=rows) for table, reason, rows in found if rows)


def _quirks(table: strict.Columns, source: MappingFile, tasks: Tasks) -> tuple[str, ...]:
    features = [*source.mapping.attributes, *source.mapping.respondents]
    unchecked = (
        (f"{table.rows.name}: the mapping gives no sha256, and a byte changed in the file may go unnoticed",)
        if source.mapping.file.format == "parquet" and source.mapping.file.sha256 is None
        else ()
    )
    return (*unchecked, *(quirk for feature in features for quirk in _merged(table, source, feature)))


def _merged(table: strict.Columns, source: MappingFile, feature: FeatureColumn) -> Sequence[str]:
    """A line for each label that the mapping gives to several values of a column."""
    if feature.levels is None or feature.column is None:
        return ()
    sides = source.mapping.wide.sides if source.mapping.wide is not None else ("",)
    columns = list(dict.fromkeys(feature.column.replace(SIDE, side) for side in sides))
    times = Counter(text for column in columns for text in table.texts[column])
    values = {label: [value for value, of in feature.levels.items() if of == label] for label in feature.labels}
    return [
        f"{table.rows.name}, column {' and '.join(columns)}: "
        f"{', '.join(f'{value!r} ({times[value]:,} times)' for value in merged)} are one level, {label!r}"
        for label, merged in values.items()
        if sum(times[value] > 0 for value in merged) > 1
    ]
