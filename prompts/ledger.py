"""The ledger: an SQLite file with every answer a model gave to a study. Answers are recorded before they are used.

It holds patients' texts (in the messages), so store it as carefully as the raw data.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from models.records.plain_text import escaped
from models.records.whole_file import whole_file
from prompts.ledger_entry import Entry, Export, LedgerError

FORMAT = 1
BUSY_SECONDS = 60.0
PRIVATE = 0o600
"""Only the owner may read or write: the file holds patients' texts."""


class Summary(NamedTuple):
    """Counts for one model and one template. attempts: answers recorded; refused: those that broke their schema."""

    model: str
    revision: str
    template: str
    requests: int
    attempts: int
    refused: int
    tokens: int
    seconds: float

    @property
    def seconds_per_answer(self) -> float:
        """Mean time of an answer, in seconds."""
        return self.seconds / self.attempts


class Imported(NamedTuple):
    """Number of rows an import added, and of rows the ledger already had."""

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
_SELECT = f"SELECT {', '.join(_COLUMNS)}, checksum FROM entries"


class Ledger:
    """A ledger file. Several processes may use it at once; the first answer recorded for an attempt stays.

    must_exist: open a ledger that is there, to read it only; its folder and disk need not be writable.

    Raises LedgerError if the file is not a ledger, or if `must_exist` and it is missing.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite") as ledger:
    ...     len(ledger), ledger.models(), ledger.verify()
    (0, [], [])
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        try:
            # SQLite takes an empty file as a database.
            if must_exist and not (path.is_file() and path.stat().st_size):
                raise LedgerError(
                    f"{path}: there is no ledger. A run writes one; or bring one in: prefstudy ledger import"
                )
            if must_exist:
                self._connection = self._opened_to_read()
                self._check_format()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(mode=PRIVATE)
                self._connection = _connected(path)
                self._set_up()
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(
                f"{path}: the ledger cannot be opened ({_reason(error)}). Name another: --set ledger=FILE"
            ) from None

    def _opened_to_read(self) -> sqlite3.Connection:
        """A connection that writes nothing, also where the disk is full or nothing may be written."""
        connection = _connected(f"{self.path.absolute().as_uri()}?mode=ro")
        try:
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # SQLite wants to write a file beside the ledger, to share it with processes that write. Without a log of
            # such a process there is nothing to share.
            connection.close()
            log = self.path.with_name(f"{self.path.name}-wal")
            if log.exists() and log.stat().st_size:
                raise
            connection = _connected(f"{self.path.absolute().as_uri()}?mode=ro&immutable=1")
            connection.execute("PRAGMA temp_store = MEMORY")
        return connection

    def _set_up(self) -> None:
        """Create the table in a new file. Raises LedgerError for another format or another kind of database."""
        if self._format == 0:
            with self._transaction():
                if self._format == 0:  # another process may have created it meanwhile
                    [(tables,)] = self._connection.execute("SELECT count(*) FROM sqlite_master")
                    if tables:
                        raise LedgerError(
                            f"{self.path}: this database is not a ledger. Name another: --set ledger=FILE"
                        )
                    self._connection.execute(_TABLE)
                    self._connection.execute(f"PRAGMA user_version = {FORMAT}")
        self._check_format()
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")

    def _check_format(self) -> None:
        if self._format != FORMAT:
            raise LedgerError(
                f"{self.path}: expected a ledger of format {FORMAT}, found {self._format}. Update prefstudy."
            )

    @property
    def _format(self) -> int:
        [(found,)] = self._connection.execute("PRAGMA user_version")
        return int(found)

    def __enter__(self) -> Self:
        """Return the ledger itself; it is closed when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the ledger."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __len__(self) -> int:
        """Number of rows."""
        [(rows,)] = self._rows("SELECT count(*) FROM entries")
        return int(rows)

    def record(self, entries: Iterable[Entry]) -> None:
        """Write rows, all of them or none. A row whose key and attempt are already recorded is not changed."""
        rows = [(*_stored(entry), entry.checksum) for entry in entries]
        marks = ", ".join("?" * (len(_COLUMNS) + 1))
        with self._transaction():
            self._connection.executemany(f"INSERT OR IGNORE INTO entries VALUES ({marks})", rows)

    def recorded(self, keys: Sequence[str]) -> dict[str, list[Entry]]:
        """The rows of each of these requests, in order of attempt. A request without rows is left out.

        Raises LedgerError if one of them was altered after it was written.
        """
        wanted = json.dumps(list(dict.fromkeys(keys)))
        query = f"{_SELECT} WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key, attempt"
        found: dict[str, list[Entry]] = {}
        for row in self._rows(query, (wanted,)):
            found.setdefault(row[0], []).append(self._read(row))
        return found

    def entries(self) -> Iterator[Entry]:
        """All rows, in an order that does not depend on when they were written. Raises LedgerError for altered rows."""
        for row in self._rows(f"{_SELECT} ORDER BY model, revision, template, subject, key, attempt"):
            yield self._read(row)

    def models(self) -> list[tuple[str, str]]:
        """The models that answered, each with its revision."""
        return list(self._rows("SELECT DISTINCT model, revision FROM entries ORDER BY 1, 2"))

    def summary(self) -> list[Summary]:
        """A line for each model and template."""
        query = """
            SELECT model, revision, template, count(DISTINCT key), count(*), sum(problem IS NOT NULL),
                   CAST(total(prompt_tokens + answer_tokens) AS INTEGER), total(seconds)
            FROM entries GROUP BY model, revision, template ORDER BY model, revision, template
        """
        return [Summary(*row) for row in self._rows(query)]

    def verify(self) -> list[str]:
        """One line for each damaged or altered row. No line quotes a message or an answer."""
        problems = [row for (row,) in self._rows("PRAGMA integrity_check") if row != "ok"]
        for row in self._rows(_SELECT):
            try:
                entry = _entry(row)
                if problem := _alteration(entry, row):
                    problems.append(f"{_where(row)}: {problem}")
                elif entry.expected_key != entry.key:
                    problems.append(f"{_where(row)}: the key does not belong to the question")
            except (ValueError, RecursionError):  # from pydantic or JSON; its text would quote the row
                problems.append(f"{_where(row)}: the row is malformed")
        return problems

    def export(self, path: Path) -> int:
        """Write all rows to a file of JSON lines, whole or not at all, and return their number.

        Raises LedgerError if the file cannot be written or is the ledger itself, or if a row was altered: the
        exported file could not show that.
        """
        try:
            is_itself = path.exists() and path.samefile(self.path)
        except OSError as error:
            raise LedgerError(f"{path}: the ledger cannot be written there ({_reason(error)}).") from None
        if is_itself:
            raise LedgerError(f"{path}: this is the ledger itself. Name another file.")
        if problems := self.verify():
            raise LedgerError(
                f"{self.path}: nothing is exported, because rows were altered ({len(problems):,} found). "
                f"See which: prefstudy ledger verify --ledger {self.path}"
            )
        rows = 0
        try:
            with whole_file(path, mode=PRIVATE) as aside, aside.open("w", encoding="utf-8") as file:
                for entry in self.entries():
                    document = {**entry.model_dump(mode="json"), "checksum": entry.checksum}
                    file.write(json.dumps(document, ensure_ascii=False) + "\n")
                    rows += 1
        except OSError as error:
            raise LedgerError(f"{path}: the ledger cannot be written there ({_reason(error)}).") from None
        return rows

    def import_from(self, export: Export) -> Imported:
        """Add the rows of an exported file, all of them or none.

        Raises LedgerError, naming the line, if a row differs from the ledger's own answer to that attempt.
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
        """Commit the whole block or nothing. Raises LedgerError if the file is damaged or locked, or the disk full."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._connection.in_transaction:  # SQLite itself rolls back when the disk is full
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise LedgerError(f"{self.path}: the ledger cannot be written ({_reason(error)}).") from None

    def _rows(self, query: str, values: Sequence[str] = ()) -> Iterator[Any]:
        """The rows of a query. Raises LedgerError if the file is damaged or locked by another process."""
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise LedgerError(
                f"{self.path}: the ledger cannot be read ({_reason(error)}). Name another: --set ledger=FILE"
            ) from None

    def _read(self, row: Sequence[Any]) -> Entry:
        """A row that is used: what it holds, if it is what was written."""
        try:
            entry = _entry(row)
            problem = _alteration(entry, row)
        except ValueError:  # from pydantic; its text would quote the row
            problem = "is malformed"
        if problem is not None:
            raise LedgerError(
                f"{self.path}: the row {_where(row)} {problem.removeprefix('the row ')}. See all: "
                f"prefstudy ledger verify --ledger {self.path}"
            )
        return entry


def _connected(file: Path | str) -> sqlite3.Connection:
    """A connection to a file, or to the URI of one. Bytes that are no text do not raise: the error would quote them."""
    connection = sqlite3.connect(
        file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=isinstance(file, str)
    )
    connection.text_factory = lambda stored: stored.decode("utf-8", "replace")
    return connection


def _reason(error: Exception) -> str:
    """What the system or SQLite says is wrong; neither quotes a row."""
    return escaped(getattr(error, "strerror", None) or str(error))


def _where(row: Sequence[Any]) -> str:
    return escaped(f"{str(row[0])[:12]} attempt {row[1]}")


def _alteration(entry: Entry, row: Sequence[Any]) -> str | None:
    """What is wrong with a row whose checksum is not that of its entry; None if it is as it was written."""
    return None if entry.checksum == row[-1] else "the row was altered after it was written"


def _stored(entry: Entry) -> tuple[Any, ...]:
    return tuple(entry.model_dump(mode="json").values())


def _entry(row: Sequence[Any]) -> Entry:
    """The entry of a row of `_SELECT`, whose checksum is not checked here."""
    return Entry(**dict(zip(_COLUMNS, row[:-1], strict=True)))
