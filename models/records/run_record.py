"""The record of a run: `run.json`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from models.records.base import Record
from models.records.manifest import Manifest


class StepTime(Record):
    """How long one step of a run took."""

    step: str
    seconds: float


class AnswerTime(Record):
    """How long answers of a language model took: mean and standard deviation over those to one template."""

    template: str
    answers: int
    seconds: float
    sd: float | None = None


class RunRecord(Record):
    """Everything needed to run a study again, and to judge it: `run.json`."""

    study: str
    run_id: str
    started: datetime
    config: dict[str, Any]
    seed: int
    data: tuple[Manifest, ...]
    git_commit: str | None
    git_dirty: bool | None
    packages: dict[str, str]
    python: str
    machine: dict[str, Any]
    seconds: tuple[StepTime, ...] = ()
    answers: tuple[AnswerTime, ...] = Field(default=(), description="only of studies that ask a language model")

    @property
    def simulated(self) -> bool:
        """Whether any of the data was simulated."""
        return any(manifest.simulated for manifest in self.data)

    @property
    def unpinned(self) -> bool:
        """Whether any raw file was not the declared one."""
        return any(manifest.unpinned for manifest in self.data)
