"""PMR-Synth: messages of patients with their records, in two inboxes ranked by urgency; one pairwise table per inbox.

No error quotes a text: it names the file, the row and the part of the text, never its content.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa

from data_adapters.codebooks.pmr import (
    ACTIVE,
    AGE,
    BULLET,
    COLUMNS,
    DEMOGRAPHICS,
    ENCOUNTERS,
    ENDED,
    GENDER,
    GENDERS,
    INBOX_FILES,
    MEDICATIONS,
    MESSAGE,
    OLDER,
    OLDEST,
    PAPERS_PAIRS,
    PAST_YEAR,
    PROBLEMS,
    RECORD_HEADING,
    SEPARATOR,
    TEXT_DIGESTS,
)
from data_adapters.files.parquet_file import read_parquet_file
from data_adapters.simulators.pmr import simulate
from data_adapters.source.adapter import Adapter
from data_adapters.source.description import Counts, Dataset, RawFile, binary, numeric
from data_adapters.source.faults import first_of, read_all
from data_adapters.source.raw_folder import RawFolder
from data_adapters.source.reading import Columns, Reading
from data_adapters.source.spelling import IN_PROSE
from data_adapters.table.side import coin_of
from models.records.arrays import IntArray
from models.records.errors import RawDataError
from models.records.manifest import DroppedRows, Licence
from models.records.plain_text import escaped, unprintable

REVISION = "31d7eafc34f3ce1b1edd5684fc909f9c5c821067"
ADDRESS = f"https://huggingface.co/datasets/PortalPal-AI/PMR-Synth-Inboxes/resolve/{REVISION}/data"

PMR = Dataset(
    name="pmr",
    title="Messages of patients, in two inboxes ranked by urgency",
    citation="Gatto, Seegmiller, Burdick et al. (2026), PMR-Bench, arXiv 2601.13178",
    licence=Licence(
        name="CC BY-NC 4.0",
        terms="Free to use, change and pass on for purposes that are not commercial, if the authors are named.",
        url="https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    raw=(
        RawFile(
            name=INBOX_FILES["a"],
            sha256="eefef8fb4b8f28fe7903cadfbef29eef0bf37ea5e15b36b666c998ef3842e362",
            bytes=30_194,
            url=f"{ADDRESS}/{INBOX_FILES['a']}",
        ),
        RawFile(
            name=INBOX_FILES["b"],
            sha256="db2db6aa3fd367da32567653dc828c05a910ebbc1c1e7b536f64f71e658fcc48",
            bytes=31_626,
            url=f"{ADDRESS}/{INBOX_FILES['b']}",
        ),
    ),
    side="random",
    item_texts={
        "problems": "active problems of the record, one a line",
        "diagnoses_past_year": "diagnoses of the past year, one a line",
        "diagnoses_older": "older diagnoses, one a line",
        "medications": "medicines taken when the message was written, one a line",
        "medications_ended": "medicines that ended in the 30 days before the message, one a line",
        "message": "what the patient wrote",
    },
    items=(
        numeric("age", "age of the patient", unit="years", minimum=0, maximum=OLDEST),
        binary("gender", "gender of the patient", false=GENDERS[0], true=GENDERS[1]),
        numeric("active_problems", "how many active problems the record lists", minimum=0),
        numeric("recent_diagnoses", "how many diagnoses of the past year it lists", minimum=0),
        numeric("older_diagnoses", "how many older diagnoses it lists", minimum=0),
        numeric("active_medications", "how many medicines taken at the time it lists", minimum=0),
        numeric("relevancy", "how much the record matters for the message, as annotated by the authors", minimum=0),
    ),
    published={"pmr_inbox_a": Counts(items=30), "pmr_inbox_b": Counts(items=30)},
)


MOST_ROWS, MOST_LEVELS = 100_000, 1_000_000
UNCHECKED = "the sha256 is not the declared one, and a changed level or byte may go unnoticed"


@dataclass(frozen=True)
class Inbox:
    """The rows of one file that have a text. rows: (n,) their numbers in the file, from 1; n_read: all its rows."""

    file: str
    n_read: int
    rows: list[int]
    texts: list[str]
    levels: IntArray
    relevancy: IntArray


@dataclass(frozen=True)
class Patient:
    """The parts of one text."""

    age: int
    gender: str
    problems: tuple[str, ...]
    past_year: tuple[str, ...]
    older: tuple[str, ...]
    active: tuple[str, ...]
    ended: tuple[str, ...]
    message: str


class LayoutError(ValueError):
    """A text has another layout than PMR-Synth's. The message names the place and what was expected, never the text."""


def read(raw: RawFolder) -> tuple[Reading, ...]:
    """Both inboxes: any two messages on different levels are a comparison. Raises RawDataError."""
    inboxes = {letter: _read_inbox(raw.file(file)) for letter, file in INBOX_FILES.items()}
    _require_distinct(list(inboxes.values()))
    return tuple(_reading(letter, inbox, raw) for letter, inbox in inboxes.items())


def _reading(letter: str, inbox: Inbox, raw: RawFolder) -> Reading:
    item_ids = [f"{letter}-{row:02d}" for row in inbox.rows]
    low, high = np.triu_indices(len(item_ids), k=1)
    untied = inbox.levels[low] != inbox.levels[high]
    comparisons = _comparisons(item_ids, inbox.levels, low[untied], high[untied])
    levels, times = np.unique(inbox.levels, return_counts=True)
    on_levels = ", ".join(f"{count} on level {level}" for level, count in zip(levels, times, strict=True))
    return Reading(
        name=f"pmr_inbox_{letter}",
        items={"item_id": item_ids, **_items(inbox)},
        comparisons=comparisons,
        rows_read={inbox.file: inbox.n_read},
        dropped=(
            DroppedRows(table="items", reason="rows without a text", rows=inbox.n_read - len(inbox.rows)),
            DroppedRows(table="comparisons", reason="both messages on the same level", rows=int((~untied).sum())),
        ),
        quirks=(
            f"{inbox.file} column level: {untied.sum()} of {len(untied)} pairs are not tied, where dt-pbo (section "
            f"4.2) counts {PAPERS_PAIRS}; 1 is the most urgent, and there are {on_levels}",
            *(() if raw.simulated else (_verified(inbox),)),
            *((f"{inbox.file}: {UNCHECKED}",) if raw.unpinned else ()),
        ),
    )


def _comparisons(item_ids: Sequence[str], levels: IntArray, low: IntArray, high: IntArray) -> Columns:
    ids = np.array(item_ids, dtype=object)
    comparison_id = pa.array([f"{ids[i]}_{ids[j]}" for i, j in zip(low, high, strict=True)], pa.string())
    low_left = coin_of(comparison_id)
    return {
        "comparison_id": comparison_id,
        "left_id": np.where(low_left, ids[low], ids[high]),
        "right_id": np.where(low_left, ids[high], ids[low]),
        "left_wins": (levels[low] < levels[high]) == low_left,
    }


def _verified(inbox: Inbox) -> str:
    foreign = [row for row, text in zip(inbox.rows, inbox.texts, strict=True) if _digest(text) not in TEXT_DIGESTS]
    if not foreign:
        return f"{inbox.file} column text: all {len(inbox.rows)} are published texts, by their digests"
    rows = ", ".join(map(str, foreign))
    return f"{inbox.file} column text: {len(foreign)} of {len(inbox.rows)} are not published texts (rows {rows})"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def _items(inbox: Inbox) -> Columns:
    patients = read_all({str(at): partial(_patient_at, inbox, at) for at in range(len(inbox.texts))}).values()
    lists = {
        "problems": [patient.problems for patient in patients],
        "diagnoses_past_year": [patient.past_year for patient in patients],
        "diagnoses_older": [patient.older for patient in patients],
        "medications": [patient.active for patient in patients],
        "medications_ended": [patient.ended for patient in patients],
    }
    counted = {
        "active_problems": "problems",
        "recent_diagnoses": "diagnoses_past_year",
        "older_diagnoses": "diagnoses_older",
        "active_medications": "medications",
    }
    return {
        **{name: ["\n".join(entries) for entries in column] for name, column in lists.items()},
        "message": [patient.message for patient in patients],
        "age": [patient.age for patient in patients],
        "gender": [patient.gender == GENDERS[1] for patient in patients],
        **{feature: [len(entries) for entries in lists[name]] for feature, name in counted.items()},
        "relevancy": inbox.relevancy,
    }


# ------------------------------------------------------------------------------------------- the file


def _read_inbox(path: Path) -> Inbox:
    table = read_parquet_file(path, most_rows=MOST_ROWS)
    if sorted(table.column_names) != sorted(COLUMNS):
        found = escaped(", ".join(table.column_names))
        raise RawDataError(f"{path.name}: expected the columns {', '.join(COLUMNS)}, found {found}.")
    if not pa.types.is_string(table.schema.field("text").type):
        raise RawDataError(f"{path.name}, column text: expected strings, found {table.schema.field('text').type}.")
    texts = table["text"].to_pylist()
    rows = [row for row, text in enumerate(texts, 1) if text is not None and text.strip()]
    columns = read_all({
        **{f"text {row}": partial(_check_text, path.name, row, texts[row - 1]) for row in rows},
        "levels": partial(_whole_numbers, path.name, table, "level", rows, minimum=1),
        "relevancy": partial(_whole_numbers, path.name, table, "relevancy", rows, minimum=0),
    })  # fmt: skip
    return Inbox(
        file=path.name,
        n_read=len(texts),
        rows=rows,
        texts=[texts[row - 1] for row in rows],
        levels=columns["levels"],
        relevancy=columns["relevancy"],
    )


def _check_text(file: str, row: int, text: str) -> None:
    bad = unprintable(text, IN_PROSE)
    if bad is not None:
        raise RawDataError(f"{file}, row {row}: column text: expected no control characters, found {escaped(bad)}.")


def _whole_numbers(file: str, table: pa.Table, column: str, rows: Sequence[int], *, minimum: int) -> IntArray:
    found = table.schema.field(column).type
    if not pa.types.is_integer(found):
        raise RawDataError(f"{file}, column {column}: expected whole numbers, found {found}.")
    values = table[column].to_pylist()
    wrong = [row for row in rows if values[row - 1] is None or not minimum <= values[row - 1] <= MOST_LEVELS]
    if wrong:
        others = [f"row {row} {values[row - 1]}" for row in wrong[1:]]
        raise RawDataError(
            f"{file}, row {wrong[0]}: column {column}: expected a whole number, {minimum} or more, found "
            f"{first_of(str(values[wrong[0] - 1]), others)}."
        )
    return np.array([values[row - 1] for row in rows], dtype=np.int64)


def _require_distinct(inboxes: Sequence[Inbox]) -> None:
    first: dict[str, str] = {}
    for inbox in inboxes:
        for row, text in zip(inbox.rows, inbox.texts, strict=True):
            here = f"{inbox.file}, row {row}"
            if first.setdefault(text, here) != here:
                raise RawDataError(f"{here}: column text: expected a new text ({first[text]} has this one).")


# ------------------------------------------------------------------------------------------- the text


def _patient_at(inbox: Inbox, position: int) -> Patient:
    try:
        return _parse(inbox.texts[position])
    except LayoutError as problem:
        raise RawDataError(f"{inbox.file}, row {inbox.rows[position]}: column text: {problem}.") from None


def _parse(text: str) -> Patient:
    """The parts of a text. Raises LayoutError for a part that is missing, out of order or of another layout."""
    record, heading, message = text.partition(MESSAGE)
    if not heading or not message.strip():
        raise LayoutError(f"expected {MESSAGE!r} and the message")
    start, demographics, problems, encounters, medications = _parts(
        record, (DEMOGRAPHICS, PROBLEMS, ENCOUNTERS, MEDICATIONS)
    )
    if start.strip() != RECORD_HEADING:
        raise LayoutError(f"expected {RECORD_HEADING!r} and nothing else before {DEMOGRAPHICS!r}")
    before, past_year, older = _parts(encounters, (PAST_YEAR, OLDER))
    if before.strip():
        raise LayoutError(f"expected {PAST_YEAR!r} at once after {ENCOUNTERS!r}")
    age, gender = _demographics(demographics)
    active, ended = _medications(medications)
    return Patient(
        age=age,
        gender=gender,
        problems=_entries(problems),
        past_year=_entries(past_year),
        older=_entries(older),
        active=active,
        ended=ended,
        message=message.strip(),
    )


def _parts(text: str, headings: Sequence[str]) -> list[str]:
    """The text before the first heading, and the text below each heading."""
    parts = []
    for heading in headings:
        before, found, text = text.partition(heading)
        if not found or heading in text:
            raise LayoutError(f"expected {heading!r} once, after the part before it")
        parts.append(before)
    return [*parts, text]


def _demographics(part: str) -> tuple[int, str]:
    age = re.fullmatch(rf"\s*{AGE}\s*(\d{{1,3}})(?: years?(?: old)?)?\s*{GENDER}\s*(\w+)\s*", part)
    if age is None or int(age[1]) > OLDEST or age[2].lower() not in GENDERS:
        raise LayoutError(
            f"expected below {DEMOGRAPHICS!r} the lines {AGE!r}, a whole number up to {OLDEST}, and {GENDER!r}, "
            f"{' or '.join(GENDERS)}"
        )
    return int(age[1]), age[2].lower()


def _entries(part: str) -> tuple[str, ...]:
    """The entries of a list, on one line or several."""
    return tuple(entry for entry in map(str.strip, re.split(rf"(?:^|\s){SEPARATOR.strip()}\s", part)) if entry)


def _medications(part: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Current medicines, and medicines that ended recently."""
    lists: dict[str, list[str]] = {ACTIVE: [], ENDED: []}
    heading = None
    for line in filter(None, map(str.strip, part.splitlines())):
        if line in lists:
            heading = line
        elif heading is not None and line.startswith(BULLET):
            lists[heading].append(line.removeprefix(BULLET).strip())
        else:
            raise LayoutError(
                f"expected below {MEDICATIONS!r} nothing but {ACTIVE!r}, {ENDED!r} and lines that start with {BULLET!r}"
            )
    return tuple(lists[ACTIVE]), tuple(lists[ENDED])


ADAPTER = Adapter(dataset=PMR, version="1", read=read, simulate=simulate)
