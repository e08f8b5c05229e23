"""The ledger: every answer a model ever gave to a study, recorded before it is used; the audit trail, and the memory.

It holds patients' texts, in the messages, so it is to be kept as the raw data is.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import Field

from models.records.base import Record
from models.records.errors import PrefstudyError
from models.records.whole_file import whole_file
from prompts.engine import request_key

FORMAT = 1
BUSY_SECONDS = 60.0
PRIVATE = 0o600
"""Patients' texts are nobody else's to read."""


class LedgerError(PrefstudyError):
    """A ledger cannot be opened, or what is to be imported is not the ledger it says it is."""


class Entry(Record):
    """One row: a request, asked once, and what came back. `problem` says why an answer was refused."""

    key: str = Field(description="sha256 of model, revision, template, messages, schema and sampling")
    attempt: int = Field(ge=1)
    model: str
    revision: str
    template: str = Field(description="name and version")
    subject: str
    messages: str = Field(description="JSON", repr=False)
    answer_schema: str = Field(description="JSON")
    sampling: str = Field(description="JSON; what changes with the attempt follows from its number")
    answer: str = Field(repr=False)
    problem: str | None
    finish_reason: str
    prompt_tokens: int
    answer_tokens: int
    seconds: float
    time: datetime

    @property
    def checksum(self) -> str:
        """The sha256 of the row."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def expected_key(self) -> str:
        """The key that follows from what the row says was asked."""
        asked = (json.loads(text) for text in (self.messages, self.answer_schema, self.sampling))
        return request_key(self.model, self.revision, self.template, *asked)


class Summary(NamedTuple):
    """What one model answered to one template. attempts: times asked; refused: answers that broke their schema."""

    model: str
    revision: str
    template: str
    requests: int
    attempts: int
    refused: int
    tokens: int
    seconds: float


class Export(NamedTuple):
    """The rows of an exported file, a line each; all of them are as they were written."""

    path: Path
    entries: list[Entry]


class Imported(NamedTuple):
    """Rows an import added, and rows that were there already."""

    added: int
    known: int


_COLUMNS = tuple(Entry.model_fields)
_TYPES = {"attempt": "INTEGER", "prompt_tokens": "INTEGER", "answer_tokens": "INTEGER", "seconds": "REAL"}
_TABLE = f"""
CREATE TABLE IF NOT EXISTS entries (
    {", ".join(f"{name} {_TYPES.get(name, 'TEXT')}" for name in _COLUMNS)}, checksum TEXT NOT NULL,
    PRIMARY KEY (key, attempt)
) WITHOUT ROWID
"""
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM entries"


class Ledger:
    """A ledger file. Several processes may use it at once: of two answers to one request the first recorded counts."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        if must_exist and not (path.is_file() and path.stat().st_size):  # SQLite takes an empty file as a database
            raise LedgerError(f"{path}: there is no ledger. A run writes one; or bring one in: prefstudy ledger import")
        try:
            if not must_exist:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(mode=PRIVATE)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._set_up()
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(
                f"{path}: the ledger cannot be opened ({error}). Name another: --set ledger=FILE"
            ) from None

    def _set_up(self) -> None:
        """Make the table where there is none; refuse a ledger of another format, and any other database."""
        if self._format == 0:
            with self._transaction():
                if self._format == 0:  # still: another process may have made it meanwhile
                    [(tables,)] = self._connection.execute("SELECT count(*) FROM sqlite_master")
                    if tables:
                        raise LedgerError(
                            f"{self.path}: this is a database of something else. Name another: --set ledger=FILE"
                        )
                    self._connection.execute(_TABLE)
                    self._connection.execute(f"PRAGMA user_version = {FORMAT}")
        if self._format != FORMAT:
            raise LedgerError(
                f"{self.path}: expected a ledger of format {FORMAT}, found {self._format}. Update prefstudy."
            )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")

    @property
    def _format(self) -> int:
        [(found,)] = self._connection.execute("PRAGMA user_version")
        return int(found)

    def __enter__(self) -> Self:
        """The ledger itself; it is closed when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the ledger."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __len__(self) -> int:
        """How many rows there are."""
        [(rows,)] = self._rows("SELECT count(*) FROM entries")
        return int(rows)

    def record(self, entries: Iterable[Entry]) -> None:
        """Write rows, all of them or none; a row that is there already stays as it is."""
        rows = [(*_stored(entry), entry.checksum) for entry in entries]
        marks = ", ".join("?" * (len(_COLUMNS) + 1))
        with self._transaction():
            self._connection.executemany(f"INSERT OR IGNORE INTO entries VALUES ({marks})", rows)

    def recorded(self, keys: Sequence[str]) -> dict[str, list[Entry]]:
        """The rows of each of these requests that has any, by attempt."""
        wanted = json.dumps(list(dict.fromkeys(keys)))
        query = f"{_SELECT} WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key, attempt"
        found: dict[str, list[Entry]] = {}
        for row in self._rows(query, (wanted,)):
            found.setdefault(row[0], []).append(self._read(row))
        return found

    def entries(self) -> Iterator[Entry]:
        """All rows, in an order that does not depend on when they were written."""
        for row in self._rows(f"{_SELECT} ORDER BY model, revision, template, subject, key, attempt"):
            yield self._read(row)

    def models(self) -> list[tuple[str, str]]:
        """The models that answered, each with its revision."""
        return list(self._rows("SELECT DISTINCT model, revision FROM entries ORDER BY 1, 2"))

    def summary(self) -> list[Summary]:
        """A line for each model and template."""
        query = """
            SELECT model, revision, template, count(DISTINCT key), count(*), sum(problem IS NOT NULL),
                   sum(prompt_tokens + answer_tokens), sum(seconds)
            FROM entries GROUP BY model, revision, template ORDER BY model, revision, template
        """
        return [Summary(*row) for row in self._rows(query)]

    def verify(self) -> list[str]:
        """What is wrong with the ledger, a line each; it never quotes a message or an answer."""
        problems = [row for (row,) in self._rows("PRAGMA integrity_check") if row != "ok"]
        for *row, checksum in self._rows(f"SELECT {', '.join(_COLUMNS)}, checksum FROM entries"):
            where = f"{row[0][:12]} attempt {row[1]}"
            try:
                entry = _entry(row)
                if entry.checksum != checksum:
                    problems.append(f"{where}: the row is not as it was written")
                elif entry.expected_key != entry.key:
                    problems.append(f"{where}: the key is not that of the request")
            except ValueError:  # pydantic's and JSON's errors are ValueErrors, and both would quote the row
                problems.append(f"{where}: the row is malformed")
        return problems

    def export(self, path: Path) -> int:
        """Write all rows to a file of JSON lines, whole or not at all; returns how many.

        Raises LedgerError if the file cannot be written or is the ledger itself, or if a row is not as it was written:
        in the file nobody could tell any more.
        """
        if path.exists() and path.samefile(self.path):
            raise LedgerError(f"{path}: this is the ledger itself. Name another file.")
        if problems := self.verify():
            raise LedgerError(
                f"{self.path}: the ledger is not as it was written, so nothing is exported ({len(problems):,} found). "
                f"What is wrong: prefstudy ledger verify --ledger {self.path}"
            )
        rows = 0
        try:
            with whole_file(path, mode=PRIVATE) as aside, aside.open("w", encoding="utf-8") as file:
                for entry in self.entries():
                    document = {**entry.model_dump(mode="json"), "checksum": entry.checksum}
                    file.write(json.dumps(document, ensure_ascii=False) + "\n")
                    rows += 1
        except OSError as error:
            raise LedgerError(f"{path}: the ledger cannot be written there ({error.strerror or error}).") from None
        return rows

    def import_from(self, export: Export) -> Imported:
        """Add the rows of an exported file, all of them or none.

        Raises LedgerError, naming the line, for a row that is another answer to a request than the one the ledger has.
        """
        path, entries = export
        known = self.recorded([entry.key for entry in entries])
        there = {(entry.key, entry.attempt): entry for rows in known.values() for entry in rows}
        new = []
        for line, entry in enumerate(entries, 1):
            ours = there.get((entry.key, entry.attempt))
            if ours is None:
                new.append(entry)
            elif ours.checksum != entry.checksum:
                raise LedgerError(
                    f"{path}, line {line}: {self.path} has another answer to request {entry.key[:12]}, attempt "
                    f"{entry.attempt}. Import into a ledger of its own."
                )
        self.record(new)
        return Imported(len(new), len(entries) - len(new))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of the block or none. Raises LedgerError if the file is damaged, locked by another or its disk full."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._connection.in_transaction:  # SQLite itself rolls back where the disk is full
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise LedgerError(f"{self.path}: the ledger cannot be written ({error}).") from None

    def _rows(self, query: str, values: Sequence[str] = ()) -> Iterator[Any]:
        """The rows of a query. Raises LedgerError if the file is damaged or locked by another."""
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise LedgerError(
                f"{self.path}: the ledger cannot be read ({error}). Name another: --set ledger=FILE"
            ) from None

    def _read(self, row: Sequence[Any]) -> Entry:
        try:
            return _entry(row)
        except ValueError:  # pydantic's would quote the row
            raise LedgerError(
                f"{self.path}: the row {row[0][:12]} attempt {row[1]} is malformed. All that is wrong: "
                f"prefstudy ledger verify --ledger {self.path}"
            ) from None


def _stored(entry: Entry) -> tuple[Any, ...]:
    return tuple(entry.model_dump(mode="json").values())


def _entry(row: Sequence[Any]) -> Entry:
    return Entry(**dict(zip(_COLUMNS, row, strict=True)))


def read_export(path: Path) -> Export:
    """Read a file of exported rows. Raises LedgerError, naming the line, for one that is malformed or was altered."""
    return Export(path, list(_exported(path)))


def _exported(path: Path) -> Iterator[Entry]:
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(
            f"{path}: the file cannot be read ({getattr(error, 'strerror', None) or 'not text'})."
        ) from None
    for number, line in enumerate(lines, 1):
        try:
            document = json.loads(line)
            checksum = document.pop("checksum")
            entry = Entry.model_validate(document)
            intact = entry.checksum == checksum and entry.expected_key == entry.key
        except (ValueError, KeyError, AttributeError, TypeError):  # pydantic's is a ValueError, and would quote
            raise LedgerError(f"{path}, line {number}: expected a row of an exported ledger.") from None
        if not intact:
            raise LedgerError(f"{path}, line {number}: the row is not as it was written.")
        yield entry
