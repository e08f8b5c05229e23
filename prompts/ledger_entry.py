"""One row of a ledger, and the files of JSON lines in which rows are exported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, ConfigDict, Field

from models.records.base import Record
from models.records.errors import PrefstudyError
from models.records.plain_text import unprintable
from prompts.engine import request_key

LARGEST = 2**53
"""Limit of the numbers in a row."""


class LedgerError(PrefstudyError):
    """A ledger cannot be opened, read or written, or a file to import is malformed or was altered."""


def _printable(text: str) -> str:
    if unprintable(text):
        raise ValueError("a name holds no control characters")
    return text


_Name = Annotated[str, AfterValidator(_printable)]


class Entry(Record):
    """One row: a request and the answer to one attempt. `problem` says why the answer was refused, if it was."""

    model_config = ConfigDict(allow_inf_nan=False, hide_input_in_errors=True)

    key: str = Field(description="sha256 of model, revision, template, messages, schema and sampling")
    attempt: int = Field(ge=1, lt=LARGEST)
    model: _Name
    revision: _Name
    template: _Name = Field(description="name and version")
    subject: _Name
    messages: str = Field(description="JSON", repr=False)
    answer_schema: str = Field(description="JSON")
    sampling: str = Field(description="JSON, of the first attempt; later ones follow from their number")
    answer: str = Field(repr=False)
    problem: str | None
    finish_reason: str
    prompt_tokens: int = Field(ge=0, lt=LARGEST)
    answer_tokens: int = Field(ge=0, lt=LARGEST)
    seconds: float
    time: datetime

    @property
    def checksum(self) -> str:
        """Sha256 of the row."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def expected_key(self) -> str:
        """The key computed from the question in the row. It differs from `key` if either was altered."""
        asked = (json.loads(text) for text in (self.messages, self.answer_schema, self.sampling))
        return request_key(self.model, self.revision, self.template, *asked)


class Export(NamedTuple):
    """The rows of an exported file, one for each line, all verified."""

    path: Path
    entries: list[Entry]


def read_export(path: Path) -> Export:
    """Read and verify a file of exported rows. Raises LedgerError, naming the line that is malformed or was altered."""
    return Export(path, list(_exported(path)))


def _exported(path: Path) -> Iterator[Entry]:
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(
            f"{path}: the file cannot be read ({getattr(error, 'strerror', None) or 'not text'})."
        ) from None
    lines = content.removesuffix("\n").split("\n") if content else []  # an empty ledger has an empty export
    for number, line in enumerate(lines, 1):
        try:
            document = json.loads(line)
            checksum = document.pop("checksum")
            entry = Entry.model_validate(document)
            intact = entry.checksum == checksum and entry.expected_key == entry.key
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):  # pydantic's text would quote the row
            raise LedgerError(f"{path}, line {number}: expected a row of an exported ledger.") from None
        if not intact:
            raise LedgerError(f"{path}, line {number}: the row was altered after it was exported.")
        yield entry
