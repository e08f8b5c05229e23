"""The record of a run (`run.json`), and the record of a run that failed or was stopped."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from models.records.base import Record
from models.records.manifest import Manifest

FORMAT = 3
"""Format of `run.json` and of the files in `results/`."""
FIRST_FORMAT = 1
"""Format of a `run.json` that has no `format`."""


class StepTime(Record):
    """Seconds that one step of a run took."""

    step: str
    seconds: float


class AnswerTime(Record):
    """Seconds per answer of a language model to one template: mean and standard deviation."""

    template: str
    answers: int
    seconds: float
    sd: float | None = None


class CourseTime(Record):
    """Processor seconds that a model took to ask about a function, for each of `runs` runs that advance together.

    questions, seconds: seconds up to a number of questions. target: a mean regret that all models of the run reach;
    target_questions, target_seconds: where this model first reached it. published_seconds: on the machine of the paper.
    """

    function: str
    model: str
    runs: int
    questions: tuple[int, ...]
    seconds: tuple[float, ...]
    target: float | None = None
    target_questions: int | None = None
    target_seconds: float | None = None
    published_seconds: float | None = None


class RunRecord(Record):
    """Everything needed to repeat a run and to judge it: `run.json`."""

    format: int = Field(default=FORMAT, description="format of this record and of the files in results/")
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
    answers: tuple[AnswerTime, ...] = Field(default=(), description="only for studies that ask a language model")
    courses: tuple[CourseTime, ...] = Field(default=(), description="only for studies that time models")

    @property
    def simulated(self) -> bool:
        """Whether any of the data was simulated."""
        return any(manifest.simulated for manifest in self.data)

    @property
    def unpinned(self) -> bool:
        """Whether any raw file differed from the declared one."""
        return any(manifest.unpinned for manifest in self.data)


class UnfinishedRun(Record):
    """A run without results: what was started, when it ended and why. It holds no data."""

    format: int = Field(default=FORMAT, description="format of this record")
    study: str
    run_id: str
    started: datetime
    config: dict[str, Any]
    outcome: Literal["running", "failed", "stopped", "killed"] = "running"
    ended: datetime | None = Field(default=None, description="None for a killed run: nobody saw it end")
    reason: str | None = Field(default=None, description="class of the error, and its first line if it quotes no data")
