"""The base of all records."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of the records: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
