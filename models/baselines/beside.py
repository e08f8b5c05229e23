"""A study's own model beside a plain one."""

from __future__ import annotations

from pydantic import Field

from models.records.base import Record
from models.scores.comparing import Difference


class Beside(Record):
    """The best of a study's models beside the best of the plain models, on the same test data.

    Best: of the highest score; the names are those of `metrics.json`.
    """

    variant: str
    model: str
    plain: str
    difference: Difference = Field(description="score of `model` minus that of `plain`")
