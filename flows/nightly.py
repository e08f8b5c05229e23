"""When and where a study runs every night."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from models.records.base import Record


class Nightly(Record):
    """The nightly deployment of a study. The defaults hold for every study whose module has no `NIGHTLY` of its own."""

    pool: str = Field(default="prefstudy", description="work pool whose workers take the run")
    cron: str = Field(default="0 3 * * *", description="when it runs (UTC)")
    config: dict[str, Any] = Field(default={}, description="settings of the study that differ from its defaults")
    tags: tuple[str, ...] = Field(default=(), description="tags beside `study` and the study's name")
    note: str = Field(default="", description="comment above the entry in prefect.yaml")
